"""A kube-apiserver with the base applied, one without streaming lists, and one with nothing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.deploy.ground import DEPLOY, Ground
from conformance.kubernetes.cluster import Cluster, Etcd

OLD_API = ("--feature-gates=WatchList=false",)


@pytest.fixture(scope="session")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    if os.geteuid():
        pytest.fail("deploy-check makes mount namespaces: run it as root")
    etcd = Etcd(tmp_path_factory.mktemp("etcd"))
    yield etcd
    etcd.stop()


@contextmanager
def running(folder: Path, etcd: Etcd, prefix: str, streams: bool = True) -> Iterator[Ground]:
    cluster = Cluster(folder, etcd, prefix, flags=() if streams else OLD_API)
    try:
        yield Ground.of(cluster, streams)
    finally:
        cluster.stop()


def apply_base(ground: Ground) -> Ground:
    """As people do it."""
    asyncio.run(ground.kubectl.run("apply", "-k", str(DEPLOY / "base")))
    return ground


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory, etcd: Etcd) -> Iterator[Ground]:
    with running(tmp_path_factory.mktemp("new"), etcd, "new") as ground:
        yield apply_base(ground)


@pytest.fixture(scope="session")
def old_ground(tmp_path_factory: pytest.TempPathFactory, etcd: Etcd) -> Iterator[Ground]:
    """An API that refuses `sendInitialEvents`, as those before Kubernetes 1.32 do."""
    with running(tmp_path_factory.mktemp("old"), etcd, "old", streams=False) as ground:
        yield apply_base(ground)


@pytest.fixture(scope="session")
def bare_ground(tmp_path_factory: pytest.TempPathFactory, etcd: Etcd) -> Iterator[Ground]:
    """A cluster to which nothing was applied."""
    with running(tmp_path_factory.mktemp("bare"), etcd, "bare") as ground:
        yield ground


@pytest.fixture(params=["streaming lists", "no streaming lists"])
def each_ground(request: pytest.FixtureRequest) -> Ground:
    found: Ground = request.getfixturevalue("ground" if request.param == "streaming lists" else "old_ground")
    return found

"""A kube-apiserver for all proofs, and one without streaming lists, both with the base applied."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conformance.deploy.ground import DEPLOY, Ground
from conformance.kubernetes.cluster import Cluster, Etcd

OLD_API = ("--feature-gates=WatchList=false",)


@pytest.fixture(scope="session")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    if os.geteuid():
        pytest.fail("deploy-check makes mount namespaces: run it as root")
    with ExitStack() as stack:
        etcd = Etcd(tmp_path_factory.mktemp("etcd"))
        stack.callback(etcd.stop)
        yield etcd


def applied(folder: Path, etcd: Etcd, prefix: str, flags: tuple[str, ...]) -> Iterator[Ground]:
    """A cluster with the base, as people apply it."""
    cluster = Cluster(folder, etcd, prefix, flags=flags)
    try:
        ground = Ground.of(cluster)
        asyncio.run(ground.kubectl.run("apply", "-k", str(DEPLOY / "base")))
        yield ground
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory, etcd: Etcd) -> Iterator[Ground]:
    yield from applied(tmp_path_factory.mktemp("new"), etcd, "new", ())


@pytest.fixture(scope="session")
def old_ground(tmp_path_factory: pytest.TempPathFactory, etcd: Etcd) -> Iterator[Ground]:
    """An API that refuses `sendInitialEvents`, as those before Kubernetes 1.32 do."""
    yield from applied(tmp_path_factory.mktemp("old"), etcd, "old", OLD_API)


@pytest.fixture(params=["streaming lists", "no streaming lists"])
def each_ground(request: pytest.FixtureRequest) -> Ground:
    found: Ground = request.getfixturevalue("ground" if request.param == "streaming lists" else "old_ground")
    return found

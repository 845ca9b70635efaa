"""The Kubernetes API a case reads: a fake one for each case, or a real kube-apiserver shared by name of cluster.

Knows both kinds by one interface; no DNS.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol

from conformance import fake_api
from conformance.case import Case, Object, load_cluster, starting_objects
from conformance.cluster import Cluster, Etcd


class Api(Protocol):
    """What the runner needs of an API. `line` is the Corefile line for {API}, `kind` is real or fake."""

    line: str
    kind: str

    async def apply(self, objects: Iterable[Object]) -> None:
        """Creates or replaces objects."""

    async def delete(self, kind: str, namespace: str, name: str) -> None:
        """Deletes an object."""


class Clusters(Protocol):
    """Where the cases' APIs come from."""

    def open(self, case: Case) -> AbstractAsyncContextManager[Api]:
        """The API with the objects of a case, until the block ends."""


class Fake:
    """`FakeApi` behind the `Api` interface."""

    kind = "fake"

    def __init__(self, api: fake_api.FakeApi, url: str) -> None:
        self._api = api
        self.line = f"endpoint {url}"

    async def apply(self, objects: Iterable[Object]) -> None:
        self._api.apply(objects)

    async def delete(self, kind: str, namespace: str, name: str) -> None:
        self._api.delete(kind, namespace, name)


class FakeClusters:
    """A fake API for every case: `api nostream` refuses streaming lists, `api fake` serves objects as they are."""

    @asynccontextmanager
    async def open(self, case: Case) -> AsyncIterator[Api]:
        api = fake_api.FakeApi(streaming=case.api != "nostream", defaults=case.api != "fake")
        api.apply(starting_objects(case))
        async with fake_api.serve(api) as url:
            yield Fake(api, url)


class Real:
    """A kube-apiserver behind the `Api` interface; remembers what a case created, to take it away again."""

    kind = "real"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._created: list[Object] = []
        self.line = f"kubeconfig {cluster.kubeconfig}"

    async def apply(self, objects: Iterable[Object]) -> None:
        for object in objects:
            await asyncio.to_thread(self._cluster.apply, object)
            self._created.append(object)

    async def delete(self, kind: str, namespace: str, name: str) -> None:
        await asyncio.to_thread(self._cluster.delete, kind, namespace, name)

    async def clean_up(self) -> None:
        """Deletes what is left of the case's objects, the newest first."""
        for object in reversed(self._created):
            metadata = object["metadata"]
            await self.delete(object["kind"], metadata.get("namespace", ""), metadata["name"])


class RealClusters:
    """One kube-apiserver for each named cluster, started when a case first needs it; fakes for all other cases.

    Use as a context manager: leaving it stops everything, a start that is under way included.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running = ExitStack()
        self._lock = threading.Lock()
        self._etcd: Etcd | None = None
        self._starts: dict[str, asyncio.Task[Cluster]] = {}
        self._fakes = FakeClusters()

    async def __aenter__(self) -> RealClusters:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*self._starts.values(), return_exceptions=True)
        await asyncio.to_thread(self._running.close)

    @asynccontextmanager
    async def open(self, case: Case) -> AsyncIterator[Api]:
        """A real API where the case allows one."""
        if case.api not in ("any", "real") or not case.cluster:
            async with self._fakes.open(case) as api:
                yield api
            return
        real = Real(await self._cluster(case.cluster))
        try:
            await real.apply(case.objects)
            yield real
        finally:
            await real.clean_up()

    async def _cluster(self, name: str) -> Cluster:
        if name not in self._starts:
            self._starts[name] = asyncio.create_task(asyncio.to_thread(self._start, name))
        return await asyncio.shield(self._starts[name])

    def _start(self, name: str) -> Cluster:
        with self._lock:
            if self._etcd is None:
                self._etcd = Etcd(self._folder / "etcd")
                self._running.callback(self._etcd.stop)
            cluster = Cluster(self._folder / name, self._etcd, prefix=name)
            self._running.callback(cluster.stop)
        for object in load_cluster(name):
            cluster.apply(object)
        return cluster

"""The Kubernetes API a case reads: a fake one for each case, or a real kube-apiserver shared by name of cluster.

Knows both kinds by one interface; no DNS.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol

from conformance.kubernetes import fake_api
from conformance.kubernetes.client import NODE
from conformance.kubernetes.cluster import Cluster, Etcd
from conformance.kubernetes.objects import Object
from conformance.kubernetes.relay import Relay, relaying
from conformance.table.case import Case, load_cluster, own_objects, starting_objects
from conformance.table.changes import ChangeError, Objects

CONTROLLED = "controllers"
"""The name of the cluster with kube-controller-manager; every case has namespaces of its own in it."""


class Api(Objects, Protocol):
    """What the runner needs of an API. `line` is the Corefile line for {API}, `kind` is real or fake.

    `asked` is when the last change was asked of it, by the event loop's clock.
    """

    line: str
    kind: str
    asked: float

    async def listed(self, kind: str) -> list[Object]:
        """All objects of a kind, as the API shows them."""


class Clusters(Protocol):
    """Where the cases' APIs come from."""

    def open(self, case: Case) -> AbstractAsyncContextManager[Api]:
        """The API with the objects of a case, until the block ends."""


class Fake:
    """`FakeApi` behind the `Api` interface."""

    kind = "fake"
    asked = 0.0

    def __init__(self, api: fake_api.FakeApi, relay: Relay) -> None:
        self._api = api
        self._relay = relay
        self.line = f"endpoint http://127.0.0.1:{relay.port}"

    async def apply(self, objects: Iterable[Object]) -> None:
        self._note()
        self._api.apply(objects)

    async def patch(self, kind: str, namespace: str, name: str, body: Object, part: str = "") -> None:
        self._note()
        if (kind, namespace, name) not in self._api.objects:
            raise ChangeError(f"there is no {kind} {namespace}/{name} to patch")
        self._api.patch(kind, namespace, name, body)

    async def delete(self, kind: str, namespace: str, name: str, at_once: bool = True) -> None:
        self._note()
        if (kind, namespace, name) in self._api.objects:
            self._api.delete(kind, namespace, name, at_once)

    async def bind(self, namespace: str, pod: str) -> None:
        self._api.patch("Pod", namespace, pod, {"spec": {"nodeName": NODE}})

    async def pods(self, namespace: str = "") -> list[Object]:
        objects = self._api.objects.items()
        return [pod for (kind, where, _), pod in objects if kind == "Pod" and namespace in ("", where)]

    async def listed(self, kind: str) -> list[Object]:
        return [object for object in self._api.objects.values() if object["kind"] == kind]

    async def outage(self, kind: str) -> None:
        self._note()
        if kind == "expire":
            self._api.expire()
        elif kind == "restart":
            self._api.restart()
        else:
            await _cut(self._relay, kind)

    def _note(self) -> None:
        self.asked = asyncio.get_running_loop().time()


async def _cut(relay: Relay | None, kind: str) -> None:
    if relay is None:
        raise ChangeError(f"{kind}: the servers reach this API without a relay")
    await (relay.disconnect() if kind == "disconnect" else relay.connect())


class FakeClusters:
    """A fake API for every case: `api nostream` refuses streaming lists, `api fake` serves objects as they are."""

    @asynccontextmanager
    async def open(self, case: Case) -> AsyncIterator[Api]:
        api = fake_api.FakeApi(
            streaming=case.api != "nostream", defaults=case.api != "fake", controllers=bool(case.namespaces)
        )
        api.apply(starting_objects(case))
        async with fake_api.serve(api) as url, relaying(int(url.rpartition(":")[2])) as relay:
            yield Fake(api, relay)


class Real:
    """A kube-apiserver behind the `Api` interface; remembers what a case created, to take it away again."""

    kind = "real"
    asked = 0.0

    def __init__(self, cluster: Cluster, namespaces: tuple[str, ...] = (), relay: Relay | None = None) -> None:
        self._cluster, self._client = cluster, cluster.client
        self._namespaces = namespaces
        self._relay = relay
        self._created: list[Object] = []
        self.line = f"kubeconfig {cluster.kubeconfig_at(relay.port) if relay else cluster.kubeconfig}"

    async def apply(self, objects: Iterable[Object]) -> None:
        for object in objects:
            self._note()
            await asyncio.to_thread(self._client.apply, object)
            self._created.append(object)

    async def patch(self, kind: str, namespace: str, name: str, body: Object, part: str = "") -> None:
        self._note()
        await asyncio.to_thread(self._client.patch, kind, namespace, name, body, part)

    async def delete(self, kind: str, namespace: str, name: str, at_once: bool = True) -> None:
        self._note()
        await asyncio.to_thread(self._client.delete, kind, namespace, name, at_once)

    async def bind(self, namespace: str, pod: str) -> None:
        await asyncio.to_thread(self._client.bind, namespace, pod)

    async def pods(self, namespace: str = "") -> list[Object]:
        names = [namespace] if namespace else self._namespaces
        return [pod for name in names for pod in await asyncio.to_thread(self._client.listed, "Pod", name)]

    async def listed(self, kind: str) -> list[Object]:
        return await asyncio.to_thread(self._client.listed, kind)

    async def outage(self, kind: str) -> None:
        self._note()
        if kind == "restart":
            await asyncio.to_thread(self._cluster.restart)
        elif kind == "expire":
            raise ChangeError("expire: a real API server forgets when it restarts")
        else:
            await _cut(self._relay, kind)

    def _note(self) -> None:
        self.asked = asyncio.get_running_loop().time()

    async def clean_up(self) -> None:
        """Deletes what is left of the case's objects, the newest first."""
        for name in self._namespaces:
            await asyncio.to_thread(self._client.remove_namespace, name)
        for object in reversed(self._created):
            metadata = object["metadata"]
            if metadata.get("namespace", "") not in self._namespaces:
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
        if case.api not in ("any", "real") or not (case.cluster or case.namespaces):
            async with self._fakes.open(case) as api:
                yield api
            return
        async with AsyncExitStack() as stack:
            cluster = await self._cluster(CONTROLLED if case.namespaces else case.cluster)
            relay = await stack.enter_async_context(relaying(cluster.port)) if case.is_cut else None
            real = Real(cluster, case.namespaces, relay)
            stack.push_async_callback(real.clean_up)
            await real.apply(own_objects(case))
            yield real

    async def _cluster(self, name: str) -> Cluster:
        if name not in self._starts:
            self._starts[name] = asyncio.create_task(asyncio.to_thread(self._start, name))
        return await asyncio.shield(self._starts[name])

    def _start(self, name: str) -> Cluster:
        with self._lock:
            if self._etcd is None:
                self._etcd = Etcd(self._folder / "etcd")
                self._running.callback(self._etcd.stop)
            cluster = Cluster(self._folder / name, self._etcd, prefix=name, controllers=name == CONTROLLED)
            self._running.callback(cluster.stop)
        for object in () if name == CONTROLLED else load_cluster(name):
            cluster.client.apply(object)
        return cluster

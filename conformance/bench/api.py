"""The Kubernetes API that both servers watch: a real kube-apiserver, or a fake one. Its cluster grows and changes.

Methods of an API block, and may be called by several threads at once. Knows no DNS.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from conformance.bench import objects
from conformance.bench.processes import BenchError
from conformance.bench.seeding import seed
from conformance.kubernetes import fake_api
from conformance.kubernetes.cluster import Cluster, Etcd
from conformance.kubernetes.objects import Object

PREFIX = "bench"
SHOWN = 60.0
"""Seconds until the API shows what was written."""


class Api(Protocol):
    """`line` is what the Corefile says of it, one line or several; `pids` are its processes besides this one."""

    line: str
    services: int
    pids: Sequence[int]

    def grow(self, services: int) -> None:
        """Makes the cluster at least this large."""

    def create(self, object: Object) -> None:
        """Returns once the API has said 201."""

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Removes an object."""

    def change(self, number: int) -> list[str]:
        """Gives the first endpoint of a Service's slice another address; returns, once the API has said 200, all."""


class Turns:
    """How often each slice was changed."""

    def __init__(self) -> None:
        self._turns = Counter[int]()
        self._lock = threading.Lock()

    def next(self, number: int) -> int:
        """One more."""
        with self._lock:
            self._turns[number] += 1
            return self._turns[number]


class RealApi:
    """A kube-apiserver with its etcd.

    Servers are let in by files, as in a Pod: there none has a kubeconfig file to read, for which it may need a library.
    """

    def __init__(self, etcd: Etcd, cluster: Cluster) -> None:
        self._etcd, self._client, self._turns = etcd, cluster.client, Turns()
        self.line = f"endpoint {cluster.url}\n        tls {' '.join(map(str, cluster.credentials))}"
        self.services = 0
        self.pids: Sequence[int] = [*etcd.pids, *cluster.pids]
        for namespace in objects.namespaces():
            self._client.apply(namespace)

    def grow(self, services: int) -> None:
        if services > self.services:
            seed(self._etcd.url, PREFIX, self._client, self.services, services)
            self.services = services
            self._wait_for(services - 1)

    def create(self, object: Object) -> None:
        self._client.create(object)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self._client.delete(kind, namespace, name)

    def change(self, number: int) -> list[str]:
        turn = self._turns.next(number)
        body = {"endpoints": objects.endpoints(number, turn)}
        self._client.patch("EndpointSlice", objects.namespace_of(number), objects.slice_of(number), body)
        return objects.addresses(number, turn)

    def _wait_for(self, last: int) -> None:
        namespace, end = objects.namespace_of(last), time.monotonic() + SHOWN
        while not self._client.exists("EndpointSlice", namespace, objects.slice_of(last)):
            if time.monotonic() > end:
                raise BenchError(f"the API does not show {objects.slice_of(last)} after {SHOWN:g} s")
            time.sleep(0.1)


class FakeApi:
    """A `fake_api.FakeApi` that lives in an event loop; its methods are called by other threads."""

    def __init__(self, api: fake_api.FakeApi, url: str) -> None:
        self._api, self._loop, self._turns = api, asyncio.get_running_loop(), Turns()
        self.line = f"endpoint {url}"
        self.services = 0
        self.pids: Sequence[int] = ()
        api.apply([*objects.namespaces(), *_kubernetes()])

    def grow(self, services: int) -> None:
        if services > self.services:
            self._do(self._api.apply, objects.services(self.services, services))
            self.services = services

    def create(self, object: Object) -> None:
        self._do(self._api.apply, [object])

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self._do(self._api.delete, kind, namespace, name)

    def change(self, number: int) -> list[str]:
        turn = self._turns.next(number)
        body = {"endpoints": objects.endpoints(number, turn)}
        self._do(self._api.patch, "EndpointSlice", objects.namespace_of(number), objects.slice_of(number), body)
        return objects.addresses(number, turn)

    def _do(self, function: Callable[..., None], *words: Any) -> None:
        async def call() -> None:
            function(*words)

        asyncio.run_coroutine_threadsafe(call(), self._loop).result()


def _kubernetes() -> list[Object]:
    """What every cluster has."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    return [namespace, objects.named_service("default", "kubernetes", "10.96.0.1")]


@asynccontextmanager
async def real(folder: Path) -> AsyncIterator[Api]:
    """etcd and kube-apiserver until the block ends."""
    with ExitStack() as stack:
        etcd = Etcd(folder / "etcd")
        stack.callback(etcd.stop)
        cluster = Cluster(folder / "api", etcd, PREFIX)
        stack.callback(cluster.stop)
        yield RealApi(etcd, cluster)


@asynccontextmanager
async def fake() -> AsyncIterator[Api]:
    """A fake API in this process until the block ends."""
    api = fake_api.FakeApi(defaults=False)
    async with fake_api.serve(api) as url:
        yield FakeApi(api, url)

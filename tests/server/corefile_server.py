"""A server as a Corefile makes it, with a cluster that tests change, asked as its sockets ask it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from pydns import build
from pydns.corefile.parser import parse
from pydns.http import HttpListeners
from pydns.k8s.objects import KINDS, Kind, Namespace, Object, Port, Service
from pydns.k8s.store import Store, key_of
from pydns.metrics import Metrics
from pydns.plugin import Process
from pydns.plugins.kubernetes.plugin import Kubernetes
from pydns.registry import ORDER
from pydns.server.packet_cache import PacketCache
from tests.support import Clock

CLIENT = ("192.0.2.9", 40212)
LOCAL = ("192.0.2.1", 53)
HTTP = Port("http", 80, "TCP")

KUBEADM = """\
.:53 {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        endpoint http://127.0.0.1:1
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    prometheus 127.0.0.1:9153
    cache 30 {
        disable success cluster.local
        disable denial cluster.local
    }
    loadbalance
}
"""
"""kubeadm's Corefile without what needs a network."""


def web(name: str = "web", namespace: str = "shop", address: str = "10.96.1.1") -> Service:
    return Service(namespace, name, "ClusterIP", (address,), ports=(HTTP,))


class CorefileServer:
    """One listener with its plugins; none is started, so nothing is asked over the network, and time stands still."""

    def __init__(self, corefile: str, clock: Clock, objects: Iterable[Object] = (), *, remember: bool = True) -> None:
        self.clock = clock
        self.process = Process(metrics=Metrics(), http=HttpListeners(), clock=clock, wall=clock)
        instance = build.build(parse(corefile, environ={}, plugins=ORDER), self.process)
        self.plugins = instance.plugins
        self.listener = instance.listeners["", 53]
        self.cache: PacketCache | None = self.listener.cache("udp", 4) if remember else None
        self.listener._remember = remember
        self.stores: list[Store] = []
        for plugin in self.plugins:
            if isinstance(plugin, Kubernetes):
                self._fill(plugin.store, objects)

    def _fill(self, store: Store, objects: Iterable[Object]) -> None:
        store._clock = self.clock
        self.stores.append(store)
        items = list(objects)
        for kind in Kind:
            store.replace(kind, {key_of(item): item for item in items if KINDS[type(item)] is kind})

    def put(self, item: Object) -> None:
        for store in self.stores:
            store.put(item)

    def remove(self, item: Object) -> None:
        for store in self.stores:
            store.remove(KINDS[type(item)], key_of(item))

    async def ask(self, query: bytes) -> bytes | None:
        """As `UdpSocket.drain` does it."""
        known = None if self.cache is None else self.cache.get(query)
        return known or await self.ask_chain(query)

    async def ask_chain(self, query: bytes) -> bytes | None:
        sent: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self.listener.submit(query, CLIENT, LOCAL, "udp", sent.set_result)
        return await sent

    def counted(self) -> list[str]:
        """What was counted of queries, replies and the *cache* plugin; families that begin when they are first used."""
        lines = self.process.metrics.exposition().decode().splitlines()
        return sorted(line for line in lines if line.startswith(("coredns_dns_", "coredns_cache_")))


NAMESPACES = (Namespace("shop"), Namespace("bare"))

"""The cluster that the tests ask about, and how they write questions and replies.

In texts, ``Z`` stands for the zone ``cluster.local.`` and ``S`` for ``svc.cluster.local.``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydns.dns import Flag, Message, Rcode
from pydns.dns.text import record, to_text
from pydns.dns.types import rcode_name
from pydns.k8s.objects import KINDS, NO_PORT, Endpoint, EndpointSlice, Kind, Namespace, Object, Pod, Port, Service
from pydns.k8s.store import Store, key_of
from pydns.plugin import Block
from pydns.plugins.kubernetes.options import KubernetesOptions
from pydns.plugins.kubernetes.plugin import Kubernetes
from pydns.query import Serve
from tests.support import FakeServer, corefile_lines, fail, make_block, make_query

HTTP = Port("http", 80, "TCP")
ADMIN = Port("admin", 8080, "TCP")
NONE = Port("", NO_PORT, "")
ZONES = "cluster.local in-addr.arpa ip6.arpa"


class FixedSource:
    """A source whose objects are there from the start; ``synced_after`` waits, or never where negative."""

    def __init__(self, objects: Iterable[Object] = (), *, synced_after: int = 0) -> None:
        self.now = 1700000000.0
        """Unix seconds, which become SOA serials."""
        self.store = Store(clock=lambda: self.now)
        self.waits: list[float] = []
        self.running = False
        self._objects = tuple(objects)
        self._synced_after = synced_after
        for item in self._objects:
            self.store.put(item)
        if not synced_after:
            self.sync()

    @property
    def followed(self) -> bool:
        return self.store.synced

    def sync(self) -> None:
        """All kinds are listed."""
        for kind in Kind:
            listed = {key_of(item): item for item in self._objects if KINDS[type(item)] is kind}
            self.store.replace(kind, listed)

    async def start(self) -> None:
        self.running = True

    async def stop(self) -> None:
        self.running = False

    async def wait_synced(self, timeout: float) -> bool:
        self.waits.append(timeout)
        if len(self.waits) == self._synced_after:
            self.sync()
        return self.store.synced


def cluster_ip(name: str, *ips: str, ports: tuple[Port, ...] = (HTTP,), namespace: str = "shop") -> Service:
    return Service(namespace, name, "ClusterIP", ips, ports=ports)


def headless(name: str) -> Service:
    return Service("shop", name, "ClusterIP", ("None",), ports=(HTTP,))


def external(name: str, target: str) -> Service:
    return Service("shop", name, "ExternalName", ("",), external_name=target, ports=(NONE,))


def endpoints(
    service: str, *found: Endpoint, part: int = 1, ports: tuple[Port, ...] = (HTTP,), kind: str = "IPv4"
) -> EndpointSlice:
    return EndpointSlice("shop", f"{service}-{part}", service, kind, found, ports)


DNS_PORTS = (Port("dns", 53, "UDP"), Port("dns-tcp", 53, "TCP"), Port("metrics", 9153, "TCP"))

OBJECTS: tuple[Object, ...] = (
    *map(Namespace, ("default", "shop", "kube-system", "bare")),
    cluster_ip("kubernetes", "10.96.0.1", ports=(Port("https", 443, "TCP"),), namespace="default"),
    cluster_ip("web", "10.96.1.1"),
    endpoints("web", Endpoint("10.244.0.21"), Endpoint("10.244.0.22", hostname="named")),
    cluster_ip("dual", "10.96.1.2", "fd00:10:96::2"),
    cluster_ip("six", "fd00:10:96::6"),
    cluster_ip("unnamed", "10.96.1.3", ports=(Port("", 80, "TCP"),)),
    cluster_ip("dnssvc", "10.96.1.4", ports=DNS_PORTS),
    cluster_ip("noports", "10.96.1.5", ports=(NONE,)),
    cluster_ip("noep", "10.96.1.7"),
    cluster_ip("pending", ""),
    headless("hl"),
    endpoints("hl", Endpoint("10.244.0.1", hostname="a"), Endpoint("10.244.0.2", target="hl-pod-2", zone="zone-a")),
    endpoints("hl", Endpoint("fd00:244::1", hostname="a"), Endpoint("fd00:244::"), part=2, kind="IPv6"),
    endpoints("hl", Endpoint("10.244.0.1", hostname="a"), part=3, ports=(ADMIN,)),
    headless("hl6"),
    endpoints("hl6", Endpoint("fd00:244::6", hostname="s"), kind="IPv6"),
    headless("hlnr"),
    endpoints("hlnr"),
    headless("hlnoports"),
    endpoints("hlnoports", Endpoint("10.244.0.41", hostname="n"), ports=(NONE,)),
    headless("hlunnamed"),
    endpoints("hlunnamed", Endpoint("10.244.0.42", hostname="p"), ports=(Port("", 80, "TCP"),)),
    headless("hlshared"),
    endpoints("hlshared", Endpoint("10.244.0.51", hostname="peer"), Endpoint("10.244.0.52", hostname="peer")),
    headless("hlfqdn"),
    endpoints("hlfqdn", Endpoint("db.example.com", hostname="q"), kind="FQDN"),
    external("ext", "www.example.com"),
    external("extip", "192.0.2.1"),
    external("extip6", "2001:db8::1"),
    external("extin", "web.shop.svc.cluster.local"),
    external("extin2", "EXTIN.shop.svc.cluster.local."),
    external("extinbad", "nosuch.shop.svc.cluster.local"),
    external("extnx", "nx.example.com"),
    external("extdead", "dead.example.com"),
    external("extloop", "extloop.shop.svc.cluster.local"),
    external("extbelow", "x.extbelow.shop.svc.cluster.local"),
    external("extpair", "extriap.shop.svc.cluster.local"),
    external("extriap", "extpair.shop.svc.cluster.local"),
    Pod("shop", "p1", "10.244.0.21"),
    Pod("shop", "host-1", "10.244.7.7"),
    Pod("shop", "host-2", "10.244.7.7"),
    Pod("shop", "p6", "2001:db8::1"),
)


def reply(*records: str, rcode: int = Rcode.NOERROR, flags: int = 0) -> Message:
    """A reply as the server itself gives it."""
    return Message(flags=Flag.QR | flags, rcode=rcode, answer=tuple(map(record, records)))


UPSTREAM = {
    "www.example.com. A": reply("www.example.com. 60 IN A 93.184.216.34"),
    "www.example.com. AAAA": reply("www.example.com. 60 IN AAAA 2606:2800:220:1::34"),
    "nx.example.com. A": reply(rcode=Rcode.NXDOMAIN),
    "dead.example.com. A": reply(rcode=Rcode.SERVFAIL),
    "db.example.com. A": reply("db.example.com. 60 IN A 192.0.2.7"),
    ". A": reply(rcode=Rcode.REFUSED),
}


def make_kubernetes(
    options: str = "", source: FixedSource | None = None, *, zones: str = ZONES, next: Serve | None = None
) -> Kubernetes:
    """The plugin with these options over the cluster above; ``next`` fails unless given."""
    (line,) = corefile_lines(f"kubernetes {zones} {{\n{options}\n}}")
    plugin = Kubernetes(made_block(), KubernetesOptions.parse(line), source or FixedSource(OBJECTS))
    plugin.next = next or fail(Rcode.SERVFAIL, "no next plugin found")
    return plugin


def made_block() -> Block:
    return make_block(".:53")


async def ask(plugin: Kubernetes, question: str) -> Message:
    """The reply to ``"web.shop.S A"``."""
    return await plugin.serve(make_query(expand(question), server=FakeServer(answers=UPSTREAM)))


def expand(text: str) -> str:
    return re.sub(r"\bZ\b", "cluster.local.", re.sub(r"\bS\b", "svc.Z", text))


def shown(message: Message) -> list[str]:
    """The records of a positive reply, sorted, additional ones marked; of a negative one what it says.

    Checks what all replies have in common: AA, never RA, RD copied, and the SOA record alone in a negative one.
    """
    assert message.flags & (Flag.AA | Flag.RA | Flag.RD) == Flag.AA | Flag.RD
    if message.answer:
        assert not message.authority
        return sorted(map(to_text, message.answer)) + sorted(f"+ {to_text(item)}" for item in message.additional)
    (soa,) = map(to_text, message.authority)
    assert " IN SOA ns.dns." in soa
    return [rcode_name(message.rcode) if message.rcode else "NODATA"]


def expected(*records: str) -> list[str]:
    """Records as `shown` gives them, with their abbreviations and with the TTL 5."""
    texts = [expand(text) for text in records]
    return sorted(text for text in texts if text[0] != "+") + sorted(text for text in texts if text[0] == "+")

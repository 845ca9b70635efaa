"""The records at a zone's apex, SOA and NS, and the name of the server, ``ns.dns``.

It does not know queries, nor which zones there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydns.dns.message import RR
from pydns.dns.rdata import SOA_NUMBERS, soa
from pydns.dns.replay import Lease
from pydns.dns.types import Type
from pydns.k8s.objects import EndpointSlice
from pydns.k8s.store import Store
from pydns.plugins.kubernetes.consent import Tag, Tags
from pydns.plugins.kubernetes.qname import SERVICES
from pydns.plugins.kubernetes.records import NO_PORTS, Asked, Item, absolute, address_rdata, endpoint_name, pointers

SERVER = "ns.dns"
HOSTMASTER = "hostmaster"
REFRESH = 7200
RETRY = 1800
EXPIRE = 86400
MAX_SOA_TTL = 300
"""Seconds that the SOA record, and so a denial, lives at most."""
SERIAL_LAG = 1.0
"""Seconds that a replayed SOA record may be behind the cluster, so that a busy one does not do away with denials."""


class Servers(NamedTuple):
    """The server's names and addresses as items, and the data looked at."""

    items: list[Item]
    tags: list[Tag]


class Apex:
    """``local`` are this server's own addresses, ``ttl`` is in seconds."""

    def __init__(self, store: Store, tags: Tags, ttl: int, *, pod_names: bool) -> None:
        self.local: Sequence[str] = ()
        self._store = store
        self._tags = tags
        self._ttl = ttl
        self._pod_names = pod_names
        self._leased = store.modified
        self.lease = self._new_lease()
        """That of replies with the SOA record of now."""
        self._soa: tuple[str, int, tuple[RR, ...]] = ("", -1, ())

    def soa(self, origin: str) -> tuple[RR, ...]:
        """The zone's one SOA record; its serial is the time of the last change of the cluster, in Unix seconds.

        The same tuple as long as nothing changes and the zone is spelt the same.
        """
        last_origin, last_serial, records = self._soa
        serial = self._store.modified
        if last_serial != serial or last_origin != origin:
            records = (self._make_soa(origin, serial),)
            self._soa = (origin, serial, records)
        return records

    def renew_lease(self, now: float) -> None:
        """Have replies with an older serial end `SERIAL_LAG` seconds after the clock reading ``now``."""
        if self._store.modified != self._leased:
            self._leased = self._store.modified
            self.lease.until = now + SERIAL_LAG
            self.lease = self._new_lease()

    def _new_lease(self) -> Lease:
        """Replies of two leases differ by the numbers in their SOA record."""
        numbers = self._make_soa(".", self._leased).rdata[-SOA_NUMBERS:]
        return Lease(numbers, lambda: self.lease)

    def _make_soa(self, origin: str, serial: int) -> RR:
        rdata = soa(
            mname=absolute(SERVER, origin),
            rname=absolute(HOSTMASTER, origin),
            serial=serial & 0xFFFFFFFF,
            refresh=REFRESH,
            retry=RETRY,
            expire=EXPIRE,
            minimum=self._ttl,
        )
        return RR(origin, Type.SOA, min(self._ttl, MAX_SOA_TTL), rdata)

    def name_servers(self, asked: Asked, servers: Servers) -> tuple[tuple[RR, ...], tuple[RR, ...]]:
        """The NS records and the servers' addresses, these as often as CoreDNS lists them."""
        names = [absolute(item.target, asked.origin) for item in servers.items]
        glue = (RR(name, item.type, self._ttl, item.rdata) for name, item in zip(names, servers.items, strict=True))
        return pointers(names, asked, Type.NS, self._ttl), tuple(glue)

    def servers(self) -> Servers:
        """The Services behind which this server's own addresses are; where there are none, those addresses."""
        tags = [self._tags.address(address) for address in self.local]
        slices = list(self._local_slices())
        if not slices:
            return Servers([item for address in self.local for item in _item(SERVER, address)], tags)
        for part in slices:
            tags += [tag(part.namespace, part.service) for tag in (self._tags.service, self._tags.endpoints)]
        return Servers([item for part in slices for item in self._behind(part)], tags)

    def _local_slices(self) -> Iterator[EndpointSlice]:
        """The slices that hold a local address, once for each such address."""
        for address in self.local:
            yield from {(part.namespace, part.name): part for part, _ in self._store.endpoints_by_ip(address)}.values()

    def _behind(self, part: EndpointSlice) -> Iterator[Item]:
        service = self._store.service(part.namespace, part.service)
        if service is None:
            return
        name = f"{service.name}.{service.namespace}.{SERVICES}"
        if not service.headless:
            for ip in service.cluster_ips:
                yield from _item(name, ip)
            return
        for endpoint in part.endpoints:
            yield from _item(f"{endpoint_name(endpoint, self._pod_names)}.{name}", endpoint.address)


def _item(target: str, address: str) -> Iterator[Item]:
    found = address_rdata(address)
    if found is not None:
        yield Item(*found, NO_PORTS, target)

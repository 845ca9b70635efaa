"""The resolvers by name: what each can be asked for, and its walk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.clients.model import Lookup, ResolvConf, Want, World
from conformance.clients.walks.bind import dig, host, nslookup
from conformance.clients.walks.busybox import busybox
from conformance.clients.walks.cares import cares, node_resolve
from conformance.clients.walks.dnspython import dnspython
from conformance.clients.walks.expectation import Expectation
from conformance.clients.walks.glibc import glibc, java, node_lookup
from conformance.clients.walks.golang import go
from conformance.clients.walks.musl import musl, musl_old

ADDRESSES = frozenset({Want.A, Want.AAAA, Want.BOTH})
ONE_TYPE = frozenset({Want.A, Want.AAAA, Want.SRV})
ALL = frozenset(Want)


@dataclass(frozen=True)
class Resolver:
    """What a program can be asked for, and what it must then ask."""

    can: frozenset[Want]
    walk: Callable[[ResolvConf, Lookup, World], Expectation]


RESOLVERS = {
    "glibc": Resolver(ALL, glibc),
    "musl-1.2.3": Resolver(ADDRESSES, musl_old),
    "musl-1.2.5": Resolver(ADDRESSES, musl),
    "go": Resolver(ALL, go),
    "node-lookup": Resolver(ADDRESSES, node_lookup),
    "node-resolve": Resolver(ONE_TYPE, node_resolve),
    "c-ares": Resolver(ALL, cares),
    "java": Resolver(frozenset({Want.A, Want.BOTH}), java),
    "python": Resolver(ADDRESSES, glibc),
    "dnspython": Resolver(ONE_TYPE, dnspython),
    "busybox": Resolver(ALL, busybox),
    "dig": Resolver(ONE_TYPE, dig),
    "host": Resolver(ALL, host),
    "nslookup": Resolver(ALL, nslookup),
}
"""Java asks for both, or for A only with preferIPv4Stack; Python and Java call glibc's getaddrinfo."""


def expect(resolver: str, conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """What a resolver asks in a Pod with this resolv.conf, and what its program reports.

    Raises KeyError for an unknown resolver; what it cannot be asked for is the caller's to know.
    """
    return RESOLVERS[resolver].walk(conf, lookup, world)

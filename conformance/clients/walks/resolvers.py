"""The models of all resolvers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.clients.model import Lookup, ResolvConf, World
from conformance.clients.walks.bind import dig, host, nslookup
from conformance.clients.walks.busybox import busybox
from conformance.clients.walks.cares import cares, node_resolve
from conformance.clients.walks.dnspython import dnspython
from conformance.clients.walks.expectation import Expectation
from conformance.clients.walks.glibc import glibc, java, node_lookup
from conformance.clients.walks.golang import go
from conformance.clients.walks.musl import musl, musl_old

MODELS: Mapping[str, Callable[[ResolvConf, Lookup, World], Expectation]] = {
    "glibc": glibc,
    "musl-1.2.3": musl_old,
    "musl-1.2.5": musl,
    "go": go,
    "node-lookup": node_lookup,
    "node-resolve": node_resolve,
    "c-ares": cares,
    "java": java,
    "python": glibc,
    "dnspython": dnspython,
    "busybox": busybox,
    "dig": dig,
    "host": host,
    "nslookup": nslookup,
}
"""Python, Java and Node's dns.lookup call glibc's getaddrinfo."""


def expect(resolver: str, conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """What a resolver asks in a Pod with this resolv.conf, and what its program reports.

    Raises KeyError for an unknown resolver; what it can look for, `toolbox.RESOLVERS` knows.
    """
    return MODELS[resolver](conf, lookup, world)

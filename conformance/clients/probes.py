"""A look-up as it is run: the name typed, the Pod's resolv.conf by kubelet's rules, and the world it meets. Pure.

`LISTED` are the look-ups of the Kubernetes end-to-end suites, with their numbers, `CONFIGURED` those with options of
C libraries and a second name server; all others are `selection.rows`.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass, replace

from conformance.clients import kubelet
from conformance.clients.model import Kind, Lookup, ResolvConf, Want, World
from conformance.clients.pod import CLUSTER_DNS, NODE_DNS
from conformance.clients.selection import Row
from conformance.clients.shapes import ZONES, Place, Policy
from conformance.clients.toolbox import RESOLVERS
from conformance.clients.world import CLUSTER_DOMAIN, NAMESPACE, whole, world

TIMES = ("timeout:1", "attempts:2")
"""Short, so that a server that never answers is soon given up (seconds, tries)."""

CLUSTER_SEARCH = (f"{NAMESPACE}.svc.{CLUSTER_DOMAIN}", f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN)

WIDE = "1" * 38 + ".k8s.io"
"""As long as the search paths of the Kubernetes end-to-end suite."""


@dataclass(frozen=True)
class Probe:
    """One look-up, ready to run. `kind` is what the whole server does, None where it does its work."""

    lookup: Lookup
    conf: ResolvConf
    world: World
    kind: Kind | None = None


@dataclass(frozen=True)
class Listed:
    """A look-up that matters by itself. `{}` in a search domain stands for a label of the probe's own.

    `options` are those of the dnsConfig besides ndots, timeout and attempts, `nameservers` its further ones.
    """

    name: str
    tags: tuple[str, ...]
    want: Want = Want.BOTH
    policy: Policy = Policy.CLUSTER_FIRST
    searches: tuple[str, ...] = ()
    ndots: str = "5"
    options: tuple[str, ...] = ()
    nameservers: tuple[str, ...] = ()

    def __str__(self) -> str:
        listed = " ".join(self.searches).replace("{}", "LABEL")
        more = listed if len(self.searches) < 4 else f"{len(self.searches)} domains of {len(listed)} characters"
        config = " ".join((*self.nameservers, *self.options))
        parts = (f"{self.name} {self.want}", f"ndots {self.ndots}", f"{self.policy}{more and f' + {more}'}", config)
        return ", ".join(filter(None, parts))

    def probe(self, label: str) -> Probe:
        """This look-up."""
        searches = tuple(each.replace("{}", label) for each in self.searches)
        conf = _conf(self.policy, searches, self.ndots, self.options, self.nameservers)
        return Probe(Lookup(self.name, self.want), conf, world)


def listed(resolver: str) -> list[Listed]:
    """Those that a resolver can do: A alone where it cannot look for both."""
    wants = RESOLVERS[resolver].wants
    found = [each if each.want in wants else replace(each, want=Want.A) for each in LISTED if each.want != Want.SRV]
    found += [each for each in LISTED if each.want == Want.SRV and each.want in wants]
    return found + (list(CONFIGURED) if resolver in C_LIBRARIES else [])


_K3 = ("kubernetes.default", "kubernetes.default.svc")
_K6 = tuple(f"dns-test-service{end}" for end in ("", f".{NAMESPACE}", f".{NAMESPACE}.svc"))
_K6_SRV = tuple(f"_http._tcp.{service}.{NAMESPACE}.svc" for service in ("dns-test-service", "test-service-2"))

LISTED = (
    Listed(f"kubernetes.default.svc.{CLUSTER_DOMAIN}", ("K1",)),
    *(Listed(name, ("K3",)) for name in _K3),
    *(Listed(name, ("K6",)) for name in _K6),
    *(Listed(name, ("K6",), Want.SRV) for name in _K6_SRV),
    Listed("notexistname", ("K10", "K11"), policy=Policy.NONE, searches=("{}.ok.test",), ndots="2"),
    *(Listed(name, ("K12",), searches=tuple(f"{number}{WIDE[1:]}" for number in range(6))) for name in _K3),
    *(Listed(name, ("K13",), searches=(".", "_sip._tcp.abc_d.example.com")) for name in (*_K3, "nosuch")),
    *(Listed(name, ("K15",), policy=Policy.WITH_HOST_NET) for name in _K6),
    *(Listed(name, ("K15",), Want.SRV, Policy.WITH_HOST_NET) for name in _K6_SRV),
    Listed("dns-backend.stock", ("K31",)),
)
"""Where a suite asks for A alone, both are looked for by programs that can. K10's file is K11's."""

C_LIBRARIES = ("glibc", "python", "musl-1.2.3", "musl-1.2.5")

_SETS: tuple[tuple[str, ...], ...] = (
    ("single-request",),
    ("single-request-reopen",),
    ("use-vc",),
    ("edns0",),
    ("trust-ad",),
    ("edns0", "trust-ad", "rotate"),
)

CONFIGURED = tuple(
    Listed(name, (), options=options, nameservers=nameservers)
    for name in ("web", "dual.shop.svc", "nosuch.stock")
    for options, nameservers in [*((options, ()) for options in _SETS), ((), (NODE_DNS,)), (("rotate",), (NODE_DNS,))]
)
"""What people write into a dnsConfig (reference: resolvers, section 7). musl heeds none of it, but asks all servers."""


def probe(row: Row, label: str) -> Probe:
    """The look-up of a row; names that servers may keep in their caches have `label` in them.

    In the search list one that answers follows a troubled domain, unless the cluster's own is to be found there.
    """
    kind = row.trouble.kind
    fate = kind if row.trouble.place == Place.NAME else Kind.ANSWER
    name = row.shape.name.replace("{}", f"{label}.{ZONES[fate]}")
    conf = _conf(row.policy, _searches(row, label), row.ndots)
    dead = row.trouble.place == Place.WHOLE
    return Probe(Lookup(name, row.want), conf, whole(kind) if dead else world, kind if dead else None)


def _conf(
    policy: Policy,
    searches: tuple[str, ...],
    ndots: str,
    options: tuple[str, ...] = (),
    nameservers: tuple[str, ...] = (),
) -> ResolvConf:
    """The file of a Pod in namespace shop; the searches are the node's with Default, else the dnsConfig's."""
    written = (*(() if ndots == "unset" else (f"ndots:{ndots}",)), *TIMES, *options)
    pairs = tuple((name, value or None) for name, _, value in (option.partition(":") for option in written))
    if policy == Policy.DEFAULT:
        host = ResolvConf((NODE_DNS,), searches, written).text
        return kubelet.pod_dns(kubelet.Pod(NAMESPACE, policy), kubelet.Node(host=host)).conf
    addresses = (*((CLUSTER_DNS,) if policy == Policy.NONE else ()), *nameservers)
    config = kubelet.DnsConfig(addresses, searches, pairs)
    pod = kubelet.Pod(NAMESPACE, policy, config, host_network=policy == Policy.WITH_HOST_NET)
    host = ResolvConf((NODE_DNS,)).text
    return kubelet.pod_dns(pod, kubelet.Node((CLUSTER_DNS,), CLUSTER_DOMAIN, host)).conf


def _searches(row: Row, label: str) -> tuple[str, ...]:
    """The domains written into the dnsConfig or the node's file: the cluster policies add theirs in front of them."""
    own = () if row.policy.cluster else CLUSTER_SEARCH
    length = row.domains.count - (len(CLUSTER_SEARCH) if row.policy.cluster else 0)
    troubled = f"{label}.{ZONES[row.trouble.kind]}.test"
    behind = own if row.shape.hits in (0, 1, 2) else (f"{label}.ok.test", *own)
    fillers = _fillers(row.domains.wide)
    if row.trouble.place == Place.FIRST:
        return (troubled, *behind, *fillers)[:length]
    if row.trouble.place == Place.MIDDLE:
        first = 0 if row.policy.cluster else 1
        return (*fillers[:first], troubled, *behind, *fillers[first:])[:length]
    if row.trouble.place == Place.LAST:
        return (*(*own, *fillers)[: length - 1], troubled)
    return (*own, *fillers)[:length]


def _fillers(wide: bool) -> Sequence[str]:
    """Domains with nothing in them, for as long a list as there can be."""
    names = [a + b for a in ("", "x") for b in string.ascii_lowercase]
    return [f"{number}{WIDE[1:]}" if wide else f"{name}.z" for number, name in enumerate(names)]

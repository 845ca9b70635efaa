"""Whatever is asked and whatever changes: a server that remembers gives the octets and metrics of one that does not."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydns.dns import Edns, Flag, Message, Question
from pydns.dns.message import RR, pack, parse
from pydns.dns.types import Type
from pydns.k8s.objects import Endpoint, EndpointSlice, Namespace, Object, Pod, Service
from pydns.plugins.kubernetes.plugin import Kubernetes
from pydns.server.marks import LAST
from tests.server.corefile_server import HTTP, KUBEADM, CorefileServer
from tests.support import Clock

Z = "cluster.local."
LABELS = (
    "aa",
    "web",
    "api",
    "dns",
    "ns",
    "hostmaster",
    "_http",
    "_tcp",
    "10-0-0-1",
    "n1",
    "n2",
    "dns-version",
    "a\\.b",
)
KINDS_OF_NAMES = ("svc", "svc", "svc", "pod", "dns", "com", "SVC")
ZONES = (Z, Z, Z, Z, "Cluster.LOCAL.", "sub.cluster.local.", "local.", "10.in-addr.arpa.")
COOKIE, NSID = Edns(1232, options=((10, b"12345678"),)), Edns(1232, options=((3, b""),))
labels = st.lists(st.sampled_from(LABELS), max_size=3)
names = st.builds(
    lambda below, kind, zone: ".".join([*below, *kind, zone]),
    labels,
    st.sampled_from(KINDS_OF_NAMES).map(lambda kind: [kind]) | st.just([]),
    st.sampled_from(ZONES),
)
searched = st.builds(  # names of one shape, most of which do not exist
    lambda service, namespace, kind: f"{service}.{namespace}.{kind}.{Z}",
    st.sampled_from(("web", "api", "aaa", "bbb", "AAA", "dns", "a\\.")),
    st.sampled_from(("n1", "n2", "n3")),
    st.sampled_from(("svc", "svc", "pod", "dns", "com")),
)
common = (Type.A, Type.A, Type.A, Type.AAAA)
odd = (Type.SRV, Type.TXT, Type.SOA, Type.NS, Type.PTR, Type.ANY, Type.DS, Type.MX, Type.CNAME, Type.AXFR, 65280)
options = st.sampled_from((Edns(1232), Edns(4096, 0x8000), Edns(0), Edns(1232, 0, 1), COOKIE, NSID, Edns(99, 0x8001)))


def written(name: str, qtype: int, flags: int, cls: int, edns: Edns | None) -> bytes:
    return pack(Message(7, flags, question=Question(name, qtype, cls), edns=edns))


plain = st.builds(written, searched, st.sampled_from(common), st.just(Flag.RD), st.just(1), st.none())
any_query = st.builds(
    written,
    searched | names,
    st.sampled_from(common + odd),
    st.sampled_from((Flag.RD, 0, Flag.RD | Flag.CD, Flag.RD | Flag.AD, 0x2000)),
    st.sampled_from((1, 1, 1, 1, 3)),
    st.none() | options,
)
broken = st.builds(
    lambda query, place, octet: query[: place % len(query)] + octet + query[place % len(query) + 1 :],
    plain | any_query,
    st.integers(2, 80),
    st.binary(max_size=2),
)
familiar = st.sampled_from(  # asked again and again, so that it is remembered when its data change
    [written(f"web.n1.svc.{Z}", qtype, Flag.RD, 1, None) for qtype in (Type.A, Type.SRV)]
)
queries = st.one_of(familiar, familiar, familiar, plain, any_query, broken)

NAMESPACE_NAMES = st.sampled_from(("n1", "n1", "n1", "n2", "n3"))
objects = st.one_of(
    st.builds(Namespace, NAMESPACE_NAMES),
    st.builds(
        Service,
        NAMESPACE_NAMES,
        st.sampled_from(("web", "web", "api", "aaa")),
        st.just("ClusterIP"),
        st.sampled_from([("None",), ("10.0.0.1",), ("10.0.0.2",), ("fd00::1",), ("0.0.0.0",), ("",)]),
        ports=st.just((HTTP,)),
    ),
    st.builds(
        EndpointSlice,
        NAMESPACE_NAMES,
        st.sampled_from(("s1", "s2")),
        st.sampled_from(("web", "api")),
        st.just("IPv4"),
        st.just((Endpoint("10.0.0.1", hostname="aa"),)),
        st.just((HTTP,)),
    ),
    st.builds(Pod, NAMESPACE_NAMES, st.just("p"), st.just("10.0.0.1")),
)
Step = bytes | float | tuple[bool, Object]
steps = st.one_of(
    queries, queries, queries, queries, st.sampled_from((0.3, 0.7, 1.0, 6.0, LAST)), st.tuples(st.booleans(), objects)
)


class Twins:
    """A server that remembers, and renews what it knows, and one that does not; to both the same happens."""

    def __init__(self, corefile: str) -> None:
        self.clock = Clock(1_700_000_000.0)
        known = tuple(Namespace(name) for name in ("n1", "n2"))
        self.one, self.other = (
            CorefileServer(corefile, self.clock, known, remember=remember) for remember in (True, False)
        )
        for plugin in self.one.plugins:
            if isinstance(plugin, Kubernetes):
                plugin.answers.renewals.start()
        self._serials: list[tuple[float, int]] = []
        self._note_serial()

    def _note_serial(self) -> None:
        """What the serial is from now on."""
        self._serials.append((self.clock.now, self.other.stores[0].modified))

    def _lagging(self) -> list[int]:
        """The serials of the last second."""
        begun = [serial for since, serial in self._serials if since <= self.clock.now - 1.0][-1:]
        return begun + [serial for since, serial in self._serials if since > self.clock.now - 1.0]

    async def take(self, step: Step) -> None:
        if isinstance(step, float):
            self.clock.now += step
        elif isinstance(step, tuple):
            there, item = step
            for server in (self.one, self.other):
                (server.put if there else server.remove)(item)
            self._note_serial()
        else:
            self._compare(step, await self.one.ask(step), await self.other.ask(step))

    def _compare(self, query: bytes, got: bytes | None, wanted: bytes | None) -> None:
        if got != wanted and got is not None and wanted is not None:
            current = self.other.stores[0].modified.to_bytes(4, "big")
            lagging = {wanted.replace(current, serial.to_bytes(4, "big")) for serial in self._lagging()}
            assert got in lagging, query
            return
        assert got == wanted, query


async def run(corefile: str, script: Sequence[Step]) -> None:
    twins = Twins(corefile)
    for step in script:
        await twins.take(step)
    assert twins.one.counted() == twins.other.counted()


COREFILES = {
    "kubeadm": KUBEADM,
    "cached": KUBEADM.replace("disable denial cluster.local\n", ""),
    "verified": KUBEADM.replace("pods insecure", "pods verified"),
    "namespaces": KUBEADM.replace("pods insecure", "namespaces n1 n3"),
    "zonal": KUBEADM.replace("pods insecure", "zonal"),
    "blocks": KUBEADM + "sub.cluster.local:53 {\n whoami\n }\n",
    "reverse": KUBEADM.replace("fallthrough in-addr.arpa ip6.arpa", ""),
}


def web(*addresses: str) -> Service:
    return Service("n1", "web", "ClusterIP", addresses, ports=(HTTP,))


def slice_of(*endpoints: Endpoint) -> EndpointSlice:
    return EndpointSlice("n1", "s1", "web", "IPv4", endpoints, (HTTP,))


ONE, OTHER = Endpoint("10.0.0.1", hostname="aa"), Endpoint("10.0.0.2", hostname="bb")
CHANGES: tuple[tuple[bool, Object], ...] = (
    (True, web("10.0.0.1")),
    (True, web("10.0.0.2")),
    (True, web("fd00::1")),
    (True, web("None")),
    (True, slice_of(ONE)),
    (True, slice_of(OTHER)),
    (False, Namespace("n1")),
    (True, Namespace("n1")),
    (False, slice_of(OTHER)),
    (True, Pod("n1", "p", "10.0.0.1")),
    (False, Pod("n1", "p", "10.0.0.1")),
    (False, web("None")),
)
"""Each makes another answer right for one of the questions.

No answer has two addresses, which may come in any order.
"""
QUESTIONS = [
    written(name, qtype, Flag.RD, 1, None)
    for name, *qtypes in (
        (f"web.n1.svc.{Z}", Type.A, Type.AAAA, Type.SRV),
        (f"aa.web.n1.svc.{Z}", Type.A),
        (f"n1.svc.{Z}", Type.A),
        (f"10-0-0-1.n1.pod.{Z}", Type.A),
        ("1.0.0.10.in-addr.arpa.", Type.PTR),
        ("2.0.0.10.in-addr.arpa.", Type.PTR),
    )
    for qtype in qtypes
]
REMEMBERED = 5
"""Times that all is asked until nothing more is remembered of it."""


@pytest.mark.parametrize("corefile", COREFILES.values(), ids=COREFILES)
async def test_after_each_change_the_answer_is_the_new_one(corefile: str) -> None:
    script: list[Step] = []
    for change in CHANGES:
        script += [*QUESTIONS * REMEMBERED, change]
    await run(corefile, [*script, *QUESTIONS])


UNLIKE = {
    "zones in one another": KUBEADM.replace("kubernetes cluster.local", "kubernetes cluster.local sub.cluster.local"),
    "some passed on": KUBEADM.replace("fallthrough in-addr.arpa", "fallthrough sub.cluster.local in-addr.arpa"),
    "some kept": KUBEADM.replace("cache 30", "cache 30 sub.cluster.local").replace("disable", "# disable"),
    "some counted apart": KUBEADM.replace(".:53", ".:53 sub.cluster.local:54"),
}
"""What is not the same for all names below cluster.local."""


@pytest.mark.parametrize("corefile", UNLIKE.values(), ids=UNLIKE)
async def test_names_of_one_length_that_are_not_treated_alike(corefile: str) -> None:
    beside = [written(f"{label}.x.cluster.local.", Type.A, Flag.RD, 1, None) for label in ("aaa", "bbb", "ccc")]
    below = [written(f"{label}.sub.cluster.local.", Type.A, Flag.RD, 1, None) for label in "abcabc"]
    await run(corefile, [*beside, *below, 1.0, *below])


NAME_OF_ANOTHER_BLOCK = Service("n1", "ext", "ExternalName", ("",), external_name="web.n1.svc.other.local")
MANY = tuple(Endpoint(f"10.0.1.{number}", hostname=f"web-{number}") for number in range(10))


@pytest.mark.parametrize(
    "qtype, edns, firsts",
    [(Type.A, None, 10), (Type.A, Edns(120), 10), (Type.SRV, Edns(4096), 10), (Type.SRV, None, 1)],
    ids=["A", "A with OPT", "SRV", "SRV without room for addresses"],
)
async def test_of_a_shuffled_answer_all_is_the_same_but_the_order(qtype: int, edns: Edns | None, firsts: int) -> None:
    query = written(f"web.n1.svc.{Z}", qtype, Flag.RD, 1, edns)
    clock = Clock(1_700_000_000.0)
    known = (Namespace("n1"), web("None"), slice_of(*MANY))
    one, other = (CorefileServer(KUBEADM, clock, known, remember=remember) for remember in (True, False))
    first = Counter[RR]()
    for _ in range(3 + 5 * len(MANY)):
        got, wanted = parse(await one.ask(query) or b""), parse(await other.ask(query) or b"")
        assert sorted(got.answer) == sorted(wanted.answer)
        assert sorted(got.additional) == sorted(wanted.additional)
        assert got._replace(answer=(), additional=()) == wanted._replace(answer=(), additional=())
        first[(got.additional or got.answer)[0]] += 1
    assert len(first) == firsts
    assert firsts == 1 or max(first.values()) <= 5 + 3
    assert one.counted() == other.counted()


@pytest.mark.parametrize("corefile", COREFILES.values(), ids=COREFILES)
@settings(max_examples=60, deadline=None)
@given(script=st.lists(steps, min_size=20, max_size=60))
def test_it_is_as_if_nothing_were_remembered(corefile: str, script: list[Step]) -> None:
    asyncio.run(run(corefile, script))


SHUFFLED_ELSEWHERE = """\
cluster.local:53 {
    kubernetes cluster.local {
        endpoint http://127.0.0.1:1
    }
}
other.local:53 {
    kubernetes other.local {
        endpoint http://127.0.0.1:1
    }
    loadbalance
}
"""


async def test_what_another_block_shuffles_comes_in_every_order() -> None:
    known = (Namespace("n1"), web("None"), slice_of(*MANY), NAME_OF_ANOTHER_BLOCK)
    server = CorefileServer(SHUFFLED_ELSEWHERE, Clock(1_700_000_000.0), known)
    query = written(f"ext.n1.svc.{Z}", Type.A, Flag.RD, 1, None)
    firsts = {parse(await server.ask(query) or b"").answer[1].rdata for _ in range(200)}
    assert len(firsts) == len(MANY)


KEPT_ELSEWHERE = """\
cluster.local:53 {
    kubernetes cluster.local {
        endpoint http://127.0.0.1:1
        ttl 30
    }
    CACHE
}
other.local:53 {
    kubernetes other.local {
        endpoint http://127.0.0.1:1
        ttl 30
    }
    cache
}
"""


@pytest.mark.parametrize("cache", ["", "cache {\n disable success\n }"], ids=["not kept here", "given one TTL here"])
async def test_what_another_block_keeps_counts_down_in_a_part_of_the_answer(cache: str) -> None:
    clock = Clock(1_700_000_000.0)
    known = (Namespace("n1"), web("10.0.0.1"), NAME_OF_ANOTHER_BLOCK)
    corefile = KEPT_ELSEWHERE.replace("CACHE", cache)
    one, other = (CorefileServer(corefile, clock, known, remember=remember) for remember in (True, False))
    query = written(f"ext.n1.svc.{Z}", Type.A, Flag.RD, 1, None)
    for _ in range(140):
        assert await one.ask(query) == await other.ask(query)
        clock.now += 0.25
    assert one.counted() == other.counted()
    labels = {"server": "dns://:53", "proto": "udp"}
    hits = one.process.metrics.registry.get_sample_value("coredns_packet_cache_hits_total", labels)
    assert hits is not None
    assert 70 < hits < 140


async def test_a_service_of_more_endpoints_than_a_message_holds() -> None:
    slices = [
        EndpointSlice("n1", f"s{part}", "web", "IPv4", tuple(Endpoint(f"10.{part}.0.{x}") for x in range(250)), (HTTP,))
        for part in range(17)
    ]
    server = CorefileServer(KUBEADM, Clock(1_700_000_000.0), (Namespace("n1"), web("None"), *slices))
    for edns, records in ((None, 29), (Edns(65535), 4090)):
        for _ in range(3):
            reply = parse(await server.ask(written(f"web.n1.svc.{Z}", Type.A, Flag.RD, 1, edns)) or b"")
            assert (reply.rcode, reply.truncated, len(reply.answer)) == (0, True, records)

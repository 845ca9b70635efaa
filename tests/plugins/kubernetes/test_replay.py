"""A memory that honours consents and tags shows, after any change, what a plugin without a past would answer."""

import asyncio
from collections.abc import Hashable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydns.dns import Message, Type
from pydns.dns.rdata import SOA_NUMBERS
from pydns.dns.replay import Replay
from pydns.k8s.feed import FedSource, Feeder
from pydns.k8s.objects import KINDS, Endpoint, EndpointSlice, Kind, Namespace, Object, Pod, Port, Service
from pydns.k8s.source import Interest
from pydns.k8s.store import key_of
from pydns.plugins.kubernetes.apex import SERIAL_LAG
from pydns.plugins.kubernetes.options import KubernetesOptions
from pydns.plugins.kubernetes.plugin import Kubernetes
from pydns.query import Query
from tests.plugins.kubernetes.cluster import ADMIN, HTTP, NONE, FixedSource, cluster_ip, expand, make_kubernetes, reply
from tests.support import Clock, FakeServer, answer, corefile_lines, make_block, make_query, settle

NAMESPACES = ("n1", "n2")
SERVICES = ("s1", "s2", "")
ADDRESSES = ("10.0.0.1", "10.0.0.2", "fd00::1")
LOCAL = "10.0.0.2"
TARGETS = ("s1.n1.svc.cluster.local", "s2.n2.svc.cluster.local", "ns.dns.cluster.local", "www.example.com", "10.0.0.1")

namespaces = st.sampled_from(NAMESPACES)
ports = st.lists(st.sampled_from([HTTP, ADMIN, NONE, Port("", 1, "")]), min_size=1, max_size=2).map(tuple)
endpoint = st.builds(
    Endpoint, st.sampled_from(ADDRESSES), st.sampled_from(["", "a"]), st.sampled_from(["", "p"]), st.just("")
)
services = st.one_of(
    st.builds(
        Service,
        namespaces,
        st.sampled_from(SERVICES[:2]),
        st.just("ClusterIP"),
        st.sampled_from([("None",), ("10.0.0.1",), ("10.0.0.2", "fd00::1"), ("",)]),
        ports=ports,
    ),
    st.builds(
        Service,
        namespaces,
        st.sampled_from(SERVICES[:2]),
        st.just("ExternalName"),
        st.just(("",)),
        external_name=st.sampled_from(TARGETS),
    ),
)
slices = st.builds(
    EndpointSlice,
    namespaces,
    st.sampled_from(["e1", "e2"]),
    st.sampled_from(SERVICES),
    st.just("IPv4"),
    st.lists(endpoint, max_size=3).map(tuple),
    ports,
)
pods = st.builds(Pod, namespaces, st.sampled_from(["p1", "p2"]), st.sampled_from(ADDRESSES))
objects = st.one_of(st.builds(Namespace, namespaces), services, slices, pods)
clusters = st.lists(st.one_of(services, slices, pods), min_size=4, max_size=14)
changes = st.lists(st.tuples(st.booleans(), objects), min_size=1, max_size=3)

NAMES = [
    f"{below}{service}.{namespace}.S"
    for namespace in NAMESPACES
    for service in SERVICES[:2]
    for below in ("", "a.", "10-0-0-1.", "_http._tcp.", "_._.")
]
NAMES += [f"{namespace}.{kind}.Z" for namespace in NAMESPACES for kind in ("svc", "pod")]
NAMES += [f"{address}.{namespace}.pod.Z" for namespace in NAMESPACES for address in ("10-0-0-1", "10-0-0-2", "fd00--1")]
NAMES += ["Z", "S", "x.Z", "ns.dns.Z", "S1.N1.S"]
QUESTIONS = [f"{name} {qtype}" for name in NAMES for qtype in ("A", "AAAA", "SRV", "TXT", "NS")]
QUESTIONS += [f"{name} PTR" for name in ("1.0.0.10.in-addr.arpa.", "2.0.0.10.in-addr.arpa.")]
QUESTIONS += ["s1.n1.S CNAME", "s2.n2.S ANY"]


class Memory:
    """Replies remembered as a packet cache does, on a clock that stands still."""

    def __init__(self, plugin: Kubernetes) -> None:
        self._plugin = plugin
        self._replies: dict[str, Message] = {}
        plugin.process.changes.listen(self.invalidate)

    def invalidate(self, tags: Iterable[Hashable]) -> None:
        changed = set(tags)
        for question, message in list(self._replies.items()):
            if message.replay is not None and changed & set(message.replay.tags):
                del self._replies[question]

    async def ask(self, question: str) -> Message:
        message = self._replies.get(question) or await fresh(self._plugin, question)
        if message.replay is not None:
            self._replies[question] = message
        return message


UPSTREAM = {
    f"{name} {qtype}": reply("www.example.com. 60 IN CNAME w.example.com.")._replace(replay=Replay(2000.0))
    for name in (".", "www.example.com.")
    for qtype in ("A", "AAAA")
}


async def fresh(plugin: Kubernetes, question: str) -> Message:
    return await plugin.serve(make_query(expand(question), server=FakeServer(answers=UPSTREAM)))


def content(message: Message) -> Message:
    """What must be the same: all but the SOA record, whose serial may lag."""
    kept = tuple(record for record in message.answer if record.type != Type.SOA)
    return message._replace(answer=kept, authority=(), replay=None)


async def below(query: Query) -> Message:
    return (await answer("x. 60 IN A 192.0.2.99")(query))._replace(replay=Replay(2000.0))


async def compare(options: str, cluster: list[Object], steps: list[tuple[bool, Object]], *, renews: bool) -> None:
    source = FixedSource([*map(Namespace, NAMESPACES), *cluster])
    plugin = make_kubernetes(options, source, next=below)
    plugin.answers.apex.local = (LOCAL,)
    if renews:
        plugin.answers.renewals.start()
    memory = Memory(plugin)
    for question in QUESTIONS:
        await memory.ask(question)
    for there, item in steps:
        if there:
            source.store.put(item)
        else:
            source.store.remove(KINDS[type(item)], key_of(item))
        await settle()
    unremembering = make_kubernetes(options, source, next=below)
    unremembering.answers.apex.local = (LOCAL,)
    for question in QUESTIONS:
        assert content(await memory.ask(question)) == content(await fresh(unremembering, question)), question


@pytest.mark.parametrize(
    "options",
    ["pods verified", "namespaces n1 n2\npods insecure", "ignore empty_service", "fallthrough\nendpoint_pod_names"],
)
@settings(max_examples=60)
@given(cluster=clusters, steps=changes, renews=st.booleans())
def test_remembered_renewed_and_fresh_answers_are_the_same(
    options: str, cluster: list[Object], steps: list[tuple[bool, Object]], renews: bool
) -> None:
    asyncio.run(compare(options, cluster, steps, renews=renews))


async def test_a_worker_renews_denials_with_the_serial_of_its_parent() -> None:
    parent = FixedSource([Namespace("shop")])
    clock = Clock(1000.0)
    block = make_block(".:53", clock=clock)
    (line,) = corefile_lines("kubernetes cluster.local")
    worker = Kubernetes(block, KubernetesOptions.parse(line), FedSource(Interest(), clock))
    for piece in Feeder(parent).snapshot():
        worker.take(piece)
    told: list[bytes] = []
    feeder = Feeder(parent)
    feeder.follow(told.append)
    for parent.now, clock.now in ((1199.999, 1200.001), (5000.0, 5000.0)):
        lease = worker.answers.apex.lease
        parent.store.put(cluster_ip("web", "10.96.0.1"))
        parent.store.remove(Kind.SERVICE, ("shop", "web"))  # of this the worker hears nothing but the serial
        await asyncio.sleep(0)
        for piece in told:
            worker.take(piece)
        told.clear()
        assert lease.until == clock.now + SERIAL_LAG
        [soa] = worker.answers.apex.soa("cluster.local.")
        assert worker.answers.apex.lease.octets == soa.rdata[-SOA_NUMBERS:]
        assert int.from_bytes(soa.rdata[-SOA_NUMBERS:][:4], "big") == int(parent.now)
    await feeder.stop()

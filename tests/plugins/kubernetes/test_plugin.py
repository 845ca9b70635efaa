"""The plugin in its chain: zones, denials, fallthrough, start, consent."""

import re
from collections.abc import Hashable, Iterable
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from pydns.corefile.line import CorefileError
from pydns.dns import Flag, Message, Rcode
from pydns.dns.message import parse
from pydns.dns.replay import Replay
from pydns.k8s.objects import Namespace
from pydns.k8s.source import SourceError
from pydns.net import interface_addresses
from pydns.plugin import Ready
from pydns.plugins.kubernetes.plugin import Kubernetes
from pydns.query import Failure, Query
from pydns.server.listener import Listener
from tests.plugins.kubernetes.cluster import OBJECTS, FixedSource, ask, cluster_ip, expand, make_kubernetes, shown
from tests.server.parts import make_listener, packet
from tests.support import answer, make_block, make_plugin, make_query, settle

NEXT = answer("x. 60 IN A 192.0.2.99")


def came_from_next(message: Message) -> bool:
    return [record.rdata for record in message.answer] == [bytes([192, 0, 2, 99])]


@pytest.mark.parametrize("text", ["kubernetes x.ip6.arpa 10.0.0.0/8", "kubernetes 10.0.0.0/8", "kubernetes a..b"])
def test_a_forward_zone_is_needed(text: str) -> None:
    with pytest.raises(CorefileError, match=r"plugin/kubernetes: Corefile:2 - .*: non-reverse zone name must be used"):
        make_plugin(Kubernetes, text)


def test_zones_of_the_block_where_none_are_named() -> None:
    plugin = make_plugin(Kubernetes, "kubernetes", make_block("Cluster.local:53", "10.in-addr.arpa:53"))
    assert (plugin.zones, plugin.primary) == (("cluster.local.", "10.in-addr.arpa."), "cluster.local.")


def test_the_primary_zone_is_the_first_that_is_not_reverse() -> None:
    assert make_plugin(Kubernetes, "kubernetes 10.in-addr.arpa b.local a.local").primary == "b.local."
    assert make_plugin(Kubernetes, "kubernetes in-addr.arpa cluster.local").primary == "in-addr.arpa."


async def test_other_zones_go_to_the_next_plugin() -> None:
    reply = await ask(make_kubernetes(next=NEXT), "www.example.org. A")
    assert came_from_next(reply)


@pytest.mark.parametrize("qtype", ["AXFR", "IXFR"])
@pytest.mark.parametrize("name", ["Z", "web.shop.S", "nosuch.shop.S"])
async def test_transfers_are_refused(name: str, qtype: str) -> None:
    with pytest.raises(Failure) as raised:
        await ask(make_kubernetes(), f"{name} {qtype}")
    assert (raised.value.rcode, raised.value.why) == (Rcode.REFUSED, "")


@pytest.mark.parametrize(
    "option, question, passes",
    [
        ("", "nosuch.shop.S A", False),
        ("fallthrough", "nosuch.shop.S A", True),
        ("fallthrough", "x.Z A", True),
        ("fallthrough", "Z TXT", True),
        ("fallthrough", "9.9.9.9.in-addr.arpa. PTR", True),
        ("fallthrough", "web.shop.S AAAA", False),
        ("fallthrough", "web.shop.S A", False),
        ("fallthrough", "Z A", False),
        ("fallthrough", "extinbad.shop.S A", False),
        ("fallthrough in-addr.arpa ip6.arpa", "nosuch.shop.S A", False),
        ("fallthrough in-addr.arpa ip6.arpa", "9.9.9.9.in-addr.arpa. PTR", True),
        ("fallthrough shop.svc.cluster.local", "NoSuch.Shop.S A", True),
        ("fallthrough shop.svc.cluster.local", "nosuch.default.S A", False),
    ],
)
async def test_only_names_that_do_not_exist_fall_through(option: str, question: str, passes: bool) -> None:
    assert came_from_next(await ask(make_kubernetes(option, next=NEXT), question)) is passes


async def test_nobody_to_fall_through_to() -> None:
    with pytest.raises(Failure, match="no next plugin found"):
        await ask(make_kubernetes("fallthrough"), "nosuch.shop.S A")


@pytest.mark.parametrize(
    "question, result",
    [
        ("x.Z A", "SERVFAIL"),
        ("nosuch.shop.S A", "SERVFAIL"),
        ("nope.S A", "SERVFAIL"),
        ("9.9.9.9.in-addr.arpa. PTR", "SERVFAIL"),
        ("Z TXT", "SERVFAIL"),
        ("Z A", "NODATA"),
        ("S A", "NODATA"),
        ("shop.S A", "NODATA"),
        ("x.Z SOA", "NODATA"),
        ("web.shop.S AAAA", "NODATA"),
    ],
)
async def test_nothing_is_denied_before_all_objects_are_known(question: str, result: str) -> None:
    plugin = make_kubernetes(source=FixedSource(OBJECTS, synced_after=-1))
    reply = await ask(plugin, question)
    assert shown(reply) == [result]
    assert (reply.replay is None) is (result == "SERVFAIL")


async def test_what_is_known_is_answered_before_all_is() -> None:
    plugin = make_kubernetes(source=FixedSource(OBJECTS, synced_after=-1))
    assert len((await ask(plugin, "web.shop.S A")).answer) == 1
    assert len((await ask(plugin, "dns-version.Z TXT")).answer) == 1


async def test_falling_through_does_not_wait_for_all_objects() -> None:
    plugin = make_kubernetes("fallthrough", FixedSource(synced_after=-1), next=NEXT)
    assert came_from_next(await ask(plugin, "web.shop.S A"))


async def test_flags_of_replies() -> None:
    query = make_query(expand("web.shop.S A"), flags=Flag.RD | Flag.CD | Flag.AD)
    reply = await make_kubernetes().serve(query)
    assert reply.flags == Flag.QR | Flag.AA | Flag.RD | Flag.CD
    query = make_query(expand("nosuch.shop.S A"), flags=0)
    assert (await make_kubernetes().serve(query)).flags == Flag.QR | Flag.AA


@pytest.mark.parametrize(
    "synced_after, options, waits, lines",
    [
        (1, "", [0.5], []),
        (3, "", [0.5] * 3, ["[INFO] plugin/kubernetes: waiting for Kubernetes API before starting server"] * 2),
        (
            -1,
            "startup_timeout 1200ms",
            [0.5, 0.5, pytest.approx(0.2)],
            [
                "[INFO] plugin/kubernetes: waiting for Kubernetes API before starting server",
                "[INFO] plugin/kubernetes: waiting for Kubernetes API before starting server",
                "[WARNING] plugin/kubernetes: starting server with unsynced Kubernetes API",
            ],
        ),
        (
            -1,
            "startup_timeout 0",
            [0.0],
            ["[WARNING] plugin/kubernetes: starting server with unsynced Kubernetes API"],
        ),
    ],
)
async def test_the_start_waits_for_the_objects(
    synced_after: int, options: str, waits: list[float], lines: list[str], log_lines: list[str]
) -> None:
    source = FixedSource(synced_after=synced_after)
    plugin = make_kubernetes(options, source)
    assert isinstance(plugin, Ready) and not plugin.is_ready()
    await plugin.start()
    assert source.running
    assert source.waits == waits
    assert log_lines == lines
    assert plugin.is_ready() is (synced_after > 0)
    await plugin.stop()
    assert not source.running


async def test_the_metric_says_what_ready_says_while_it_serves() -> None:
    source = FixedSource(synced_after=2)
    plugin = make_kubernetes("startup_timeout 0", source)
    await plugin.start()
    shown = []
    for change in (plugin.serving, partial(source.wait_synced, 0), plugin.stop):
        await change()
        shown += re.findall(r"^coredns_kubernetes_synced.* (\S+)$", plugin.process.metrics.exposition().decode(), re.M)
    assert shown == ["0.0", "1.0", "1.0"]


async def test_a_source_that_cannot_start() -> None:
    class Broken(FixedSource):
        async def start(self) -> None:
            raise SourceError("unable to load in-cluster configuration")

    with pytest.raises(ValueError, match=r"^unable to load in-cluster configuration$"):
        await make_kubernetes(source=Broken()).start()


async def test_manifests_in_place_of_the_api(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(
        "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {clusterIP: 10.96.1.1}}"
    )
    block = make_block()
    block.process.manifests = (file,)
    plugin = make_plugin(Kubernetes, "kubernetes cluster.local {\nkubeconfig /nowhere\n}", block)
    await plugin.start()
    try:
        assert plugin.is_ready()
        assert [item.rdata for item in (await ask(plugin, "web.shop.S A")).answer] == [bytes([10, 96, 1, 1])]
    finally:
        await plugin.stop()


@pytest.mark.parametrize("addresses", [(), ("127.0.0.1",)])
async def test_own_addresses_unless_bind_chooses(addresses: tuple[str, ...]) -> None:
    plugin = make_kubernetes()
    plugin.block.settings.addresses = addresses
    await plugin.start()
    own = [one.address.partition("%")[0] for one in interface_addresses() if not one.is_loopback]
    assert list(plugin.answers.apex.local) == ([] if addresses else own)


# Consent to replay.


def tags_of(message: Message) -> set[Hashable]:
    """The tags less the plugin's own mark."""
    assert message.replay is not None
    return {tag[1:] if isinstance(tag, tuple) else tag for tag in message.replay.tags}


SHOP = ("namespace", "shop")


@pytest.mark.parametrize(
    "question, has_serial, tags",
    [
        ("web.shop.S A", False, {SHOP, ("service", "shop", "web")}),
        ("_http._tcp.web.shop.S SRV", False, {SHOP, ("service", "shop", "web")}),
        ("ext.shop.S CNAME", False, {SHOP, ("service", "shop", "ext")}),
        ("1.1.96.10.in-addr.arpa. PTR", False, {("address", "10.96.1.1")}),
        ("10-244-0-21.shop.pod.Z A", False, {SHOP, ("pod", "10.244.0.21")}),
        ("dns-version.Z TXT", False, set()),
        ("web.shop.S AAAA", True, {SHOP, ("service", "shop", "web")}),
        ("nosuch.shop.S A", True, {SHOP, ("service", "shop", "nosuch")}),
        ("nope.S A", True, {("namespace", "nope")}),
        ("x.Z A", True, set()),
        ("Z SOA", True, set()),
        ("x.Z SOA", True, set()),
        ("9.9.9.9.in-addr.arpa. PTR", True, {("address", "9.9.9.9")}),
    ],
)
async def test_consent_until_the_data_change(question: str, has_serial: bool, tags: set[Hashable]) -> None:
    """An answer with the SOA record ends a second after its serial has moved, too."""
    source = FixedSource(OBJECTS)
    plugin = make_kubernetes("pods verified", source)
    reply = await ask(plugin, question)
    assert tags_of(reply) == tags
    assert reply.replay is not None and not reply.replay.has_ended(1e9)
    source.now += 1
    source.store.put(Namespace("another"))  # moves no serial
    assert not reply.replay.has_ended(1e9)
    source.store.put(cluster_ip("another", "10.96.1.99"))  # at 1000 of the clock
    assert [reply.replay.has_ended(now) for now in (1000.0, 1000.999, 1001.0)] == [False, False, has_serial]


async def test_a_denial_made_after_a_change_does_not_end_with_it() -> None:
    source = FixedSource(OBJECTS)
    plugin = make_kubernetes(source=source)
    source.now += 1
    source.store.put(cluster_ip("another", "10.96.1.99"))
    replay = (await ask(plugin, "nosuch.shop.S A")).replay
    assert replay is not None and not replay.has_ended(1e9)


async def test_a_reply_of_the_next_plugin_also_depends_on_the_name_not_being_here() -> None:
    async def replayable(query: Query) -> Message:
        return (await NEXT(query))._replace(replay=Replay(1005.0, ("other",)))

    reply = await ask(make_kubernetes("fallthrough", next=replayable), "nosuch.shop.S A")
    assert tags_of(reply) == {"other", SHOP, ("service", "shop", "nosuch")}
    reply = await ask(make_kubernetes("fallthrough", next=NEXT), "nosuch.shop.S A")
    assert reply.replay is None


async def test_changes_are_published_once_they_are_applied() -> None:
    source = FixedSource([Namespace("shop")])
    plugin = make_kubernetes(source=source)
    published: list[Hashable] = []

    def listener(tags: Iterable[Hashable]) -> None:
        assert source.store.service("shop", "web") is not None
        published.extend(tags)

    plugin.process.changes.listen(listener)
    denied = (await ask(plugin, "web.shop.S A")).replay
    source.store.put(cluster_ip("web", "10.96.1.1"))
    assert denied is not None and set(denied.tags) & set(published)


async def test_nothing_is_replayed_from_before_a_change_whoever_else_fails_at_it(
    log_lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listener of the store, one of the tags, and the plugin's own clock fail, before the packet cache is told."""
    source = FixedSource([Namespace("shop"), cluster_ip("web", "10.96.1.1")])

    def failing(news: object) -> None:
        raise ZeroDivisionError

    source.store.on_change(failing)
    plugin = make_kubernetes(source=source)
    process = plugin.process
    process.changes.listen(failing)
    listener = make_listener(plugin.serve, process=process)
    asked = packet("web.shop.svc.cluster.local. A")
    assert [await replied(listener, asked) for _ in range(3)] == ["10.96.1.1"] * 3
    cache = listener.cache("udp", 4)
    assert cache is not None and cache.get(asked) is not None
    monkeypatch.setattr(plugin.answers.apex, "renew_lease", failing)
    source.store.put(cluster_ip("web", "10.96.1.2"))
    assert cache.get(asked) is None
    assert await replied(listener, asked) == "10.96.1.2"
    assert len(log_lines) == 3


async def replied(listener: Listener, asked: bytes) -> str:
    """The first address of the reply."""
    cache = listener.cache("udp", 4)
    assert cache is not None
    sent = [cache.get(asked)]
    if sent == [None]:
        listener.submit(asked, ("127.0.0.1", 40212), ("127.0.0.1", 53), "udp", sent.append)
        await settle()
    assert sent[-1] is not None
    return str(IPv4Address(parse(sent[-1]).answer[0].rdata))

"""ExternalNames followed; expectations from the behaviour reference (1.5) and dns-spec.md (2.3)."""

import pytest

from pydns.dns import Flag, Message, Rcode
from pydns.dns.replay import Replay
from pydns.k8s.objects import Endpoint, Namespace, Object
from pydns.query import Dropped, Query
from tests.plugins.kubernetes.cluster import (
    HTTP,
    OBJECTS,
    FixedSource,
    ask,
    cluster_ip,
    endpoints,
    expand,
    expected,
    external,
    headless,
    make_kubernetes,
    reply,
    shown,
)
from tests.support import FakeServer, make_query

S = "svc.cluster.local"


def serving(*objects: Object) -> FixedSource:
    return FixedSource([Namespace("shop"), cluster_ip("web", "10.96.1.1"), *objects])


@pytest.mark.parametrize(
    "question, records",
    [
        (
            "ext.shop.S AAAA",
            ["ext.shop.S 5 IN CNAME www.example.com.", "www.example.com. 60 IN AAAA 2606:2800:220:1::34"],
        ),
        ("extnx.shop.S A", ["extnx.shop.S 5 IN CNAME nx.example.com."]),
        ("extdead.shop.S A", ["extdead.shop.S 5 IN CNAME dead.example.com."]),
        ("extin.shop.S A", ["extin.shop.S 5 IN CNAME web.shop.S", "web.shop.S 5 IN A 10.96.1.1"]),
        (
            "extin2.shop.S A",
            [
                "extin2.shop.S 5 IN CNAME EXTIN.shop.S",
                "EXTIN.shop.S 5 IN CNAME web.shop.S",
                "web.shop.S 5 IN A 10.96.1.1",
            ],
        ),
        ("EXTIN.shop.S A", ["EXTIN.shop.S 5 IN CNAME web.shop.S", "web.shop.S 5 IN A 10.96.1.1"]),
        ("extin2.shop.S AAAA", ["NODATA"]),
        ("extpair.shop.S A", ["NODATA"]),
    ],
)
async def test_targets(question: str, records: list[str]) -> None:
    assert shown(await ask(make_kubernetes(), question)) == expected(*records)


@pytest.mark.parametrize(
    "target, records",
    [
        (f"shop.{S}", ["NODATA"]),
        ("cluster.local", ["NODATA"]),
        ("dns-version.cluster.local", ["NODATA"]),
        (f"x.e.shop.{S}", ["NODATA"]),
        ("ns.dns.cluster.local", ["e.shop.S 5 IN CNAME ns.dns.Z", "ns.dns.Z 5 IN A 10.1.0.5"]),
        (
            f"_http._tcp.web.shop.{S}",
            ["e.shop.S 5 IN CNAME _http._tcp.web.shop.S", "_http._tcp.web.shop.S 5 IN A 10.96.1.1"],
        ),
        ("", ["e.shop.S 5 IN CNAME ."]),
    ],
)
async def test_odd_targets(target: str, records: list[str]) -> None:
    plugin = make_kubernetes(source=serving(external("e", target)))
    plugin.answers.apex.local = ("10.1.0.5",)
    assert shown(await ask(plugin, "e.shop.S A")) == expected(*records)


@pytest.mark.parametrize("length, found", [(1, 2), (10, 11), (11, 12), (12, 0), (15, 0)])
async def test_long_chains_end(length: int, found: int) -> None:
    """Eleven names are followed within the zone; past that, nothing of the chain is left."""
    links = [external(f"e{number}", f"e{number + 1}.shop.{S}") for number in range(length - 1)]
    plugin = make_kubernetes(source=serving(*links, external(f"e{length - 1}", f"web.shop.{S}")))
    assert len((await ask(plugin, "e0.shop.S A")).answer) == found


async def test_addresses_and_names_together_are_each_there_once() -> None:
    mixed = endpoints("fq", Endpoint("www.example.com"), Endpoint("10.0.0.1"), ports=(HTTP, HTTP), kind="FQDN")
    plugin = make_kubernetes(source=serving(headless("fq"), mixed))
    assert shown(await ask(plugin, "fq.shop.S A")) == expected(
        "fq.shop.S 5 IN A 10.0.0.1", "fq.shop.S 5 IN CNAME www.example.com.", "www.example.com. 60 IN A 93.184.216.34"
    )


async def follow(message: Message, question: str = "ext.shop.S A") -> Message:
    server = FakeServer(answers={"www.example.com. A": message})
    found = await make_kubernetes().serve(make_query(expand(question), server=server))
    assert server.asked == ["www.example.com. A"]
    return found


async def test_a_truncated_reply_truncates_the_answer() -> None:
    assert (await follow(reply(flags=Flag.TC))).truncated
    assert not (await follow(reply())).truncated


async def test_so_it_does_behind_a_name_of_the_zone() -> None:
    links = (external("one", f"two.shop.{S}"), external("two", "www.example.com"))
    server = FakeServer(answers={"www.example.com. A": reply("www.example.com. 60 IN A 192.0.2.1", flags=Flag.TC)})
    plugin = make_kubernetes(source=serving(*links))
    found = await plugin.serve(make_query(expand("one.shop.S A"), server=server))
    assert found.truncated and len(found.answer) == 3


async def test_other_types_do_not_ask_for_the_target() -> None:
    server = FakeServer()
    for qtype in ("CNAME", "SRV", "TXT", "ANY", "HTTPS"):
        await make_kubernetes().serve(make_query(expand(f"ext.shop.S {qtype}"), server=server))
    assert server.asked == []


class SilentServer(FakeServer):
    async def resolve(self, query: Query) -> Message:
        raise Dropped


async def test_no_reply_for_the_target_is_no_data() -> None:
    found = await make_kubernetes().serve(make_query(expand("ext.shop.S A"), server=SilentServer()))
    assert shown(found) == ["NODATA"]
    assert found.replay is None


async def test_an_answer_is_replayed_as_long_as_its_target() -> None:
    assert (await follow(reply("www.example.com. 60 IN A 192.0.2.1"))).replay is None
    found = await follow(reply("www.example.com. 60 IN A 192.0.2.1")._replace(replay=Replay(1001.0, ("upstream",))))
    assert found.replay is not None
    assert found.replay.until == 1001.0
    assert [tag[1] if isinstance(tag, tuple) else tag for tag in found.replay.tags] == [
        "namespace",
        "service",
        "upstream",
    ]


async def test_an_answer_depends_on_every_name_of_its_chain() -> None:
    for question in ("extin2.shop.S A", "extin2.shop.S AAAA"):
        found = await ask(make_kubernetes(source=FixedSource(OBJECTS)), question)
        assert found.replay is not None
        services = [tag[3] for tag in found.replay.tags if isinstance(tag, tuple) and tag[1] == "service"]
        assert services == ["extin2", "extin", "web"]


async def test_the_target_is_asked_one_level_deeper() -> None:
    class Deep(FakeServer):
        async def resolve(self, query: Query) -> Message:
            assert query.depth == 1
            return reply(rcode=Rcode.REFUSED)

    await make_kubernetes().serve(make_query(expand("ext.shop.S A"), server=Deep()))

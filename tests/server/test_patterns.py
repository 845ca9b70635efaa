"""Replies from templates, through real chains: the octets and the metrics of a server that remembers nothing."""

from __future__ import annotations

import pytest

from pydns.dns import Edns, Flag, Rcode
from pydns.dns.message import parse
from pydns.dns.rdata import SOA_NUMBERS
from pydns.k8s.objects import Endpoint, EndpointSlice, Object, Service
from pydns.server.packet_cache import OVERHEAD, PacketCache
from pydns.server.templates import MAX_SHAPES
from tests.server.corefile_server import HTTP, KUBEADM, NAMESPACES, CorefileServer, web
from tests.server.parts import packet
from tests.support import Clock

Z = "cluster.local."


def make(corefile: str = KUBEADM, *objects: Object, remember: bool = True) -> CorefileServer:
    return CorefileServer(corefile, Clock(), (*NAMESPACES, web(), *objects), remember=remember)


def slice_of(service: str, number: int) -> EndpointSlice:
    """One endpoint, pod-x of set-x."""
    endpoint = Endpoint(f"10.244.0.{number}", hostname=service.replace("set", "pod"))
    return EndpointSlice("shop", f"{service}-1", service, "IPv4", (endpoint,), (HTTP,))


def cache_of(server: CorefileServer) -> PacketCache:
    assert server.cache is not None
    return server.cache


async def teach(server: CorefileServer, *questions: str, **more: object) -> None:
    """Have the server make templates: each shape is asked for twice."""
    for question in questions:
        for letter in "xy":
            await server.ask(packet(question.replace("?", letter), **more))  # type: ignore[arg-type]


# Which questions have a template, and what it answers.

SAME = {
    "unknown Service": "nx?.shop.svc.Z A",
    "unknown namespace": "web.nx?.svc.Z A",
    "unknown kind": "nx?.example.com.Z AAAA",
    "right below the zone": "nx?.Z SRV",
    "endpoint of an unknown Service": "10-0-0-?.nx?.shop.svc.Z A",
    "too many labels": "?.nx?.a.b.c.shop.svc.Z MX",
    "no address": "nx?.shop.pod.Z A",
}


@pytest.mark.parametrize("question", SAME.values(), ids=SAME)
@pytest.mark.parametrize("edns", [None, Edns(1232), Edns(4096, 0x8000)], ids=["plain", "1232", "DO"])
async def test_names_that_do_not_exist_are_denied_alike(question: str, edns: Edns | None) -> None:
    server, other = make(), CorefileServer(KUBEADM, Clock(), (*NAMESPACES, web()), remember=False)
    question = question.replace("Z", Z)
    await teach(server, question, edns=edns)
    query = packet(question.replace("?", "z"), ident=99, edns=edns)
    denied = cache_of(server).get(query)
    assert denied == await other.ask(query)
    assert denied is not None and parse(denied).rcode == Rcode.NXDOMAIN


CLUSTER: tuple[Object, ...] = (
    *(web(f"web-{letter}", address=f"10.96.1.{number}") for number, letter in enumerate("xyz", 1)),
    *(web(f"six-{letter}", address=f"fd00::{number}") for number, letter in enumerate("xyz", 1)),
    *(Service("shop", f"ext-{letter}", "ExternalName", ("",), external_name="example.org") for letter in "xyz"),
    *(Service("shop", f"two-{letter}", "ClusterIP", ("10.96.2.1", "10.96.2.2"), ports=(HTTP,)) for letter in "xyz"),
    *(Service("shop", f"duo-{letter}", "ClusterIP", ("10.96.3.1", "fd00::31"), ports=(HTTP,)) for letter in "xyz"),
    *(Service("shop", f"set-{letter}", "ClusterIP", ("None",), ports=(HTTP,)) for letter in "xyz"),
    *(slice_of(f"set-{letter}", number) for number, letter in enumerate("xyz", 1)),
)

EXISTING = {
    "ClusterIP": ("web-?.shop.svc.Z A", 1),
    "IPv6 ClusterIP": ("six-?.shop.svc.Z AAAA", 1),
    "one of each": ("duo-?.shop.svc.Z AAAA", 1),
    "headless, one endpoint": ("set-?.shop.svc.Z A", 1),
    "name of an endpoint": ("pod-?.set-?.shop.svc.Z A", 1),
    "other letters": ("wEB-?.shop.svc.Z A", 1),
    "port": ("_http._tcp.web-?.shop.svc.Z A", 1),
    "no AAAA record": ("web-?.shop.svc.Z AAAA", 0),
    "no A record": ("six-?.shop.svc.Z A", 0),
    "no such type": ("web-?.shop.svc.Z MX", 0),
    "no such type of an alias": ("ext-?.shop.svc.Z HTTPS", 0),
}


@pytest.mark.parametrize("question, answers", EXISTING.values(), ids=EXISTING)
@pytest.mark.parametrize("edns", [None, Edns(1232), Edns(4096, 0x8000)], ids=["plain", "1232", "DO"])
async def test_names_with_one_address_or_none_are_answered_alike(
    question: str, answers: int, edns: Edns | None
) -> None:
    server, other = make(KUBEADM, *CLUSTER), make(KUBEADM, *CLUSTER, remember=False)
    question = question.replace("Z", Z)
    await teach(server, question, edns=edns)
    query = packet(question.replace("?", "z"), ident=99, edns=edns)
    reply = cache_of(server).get(query)
    assert reply == await other.ask(query)
    assert reply is not None and (parse(reply).rcode, len(parse(reply).answer)) == (Rcode.NOERROR, answers)


OTHERS = {
    "a name that exists": (f"we?.shop.svc.{Z} A", f"web.shop.svc.{Z} A"),
    "the server's own name": (f"n?.dnx.{Z} A", f"ns.dns.{Z} A"),
    "NODATA": (f"we?.shop.svc.{Z} AAAA", f"web.shop.svc.{Z} AAAA"),
    "a name that does not exist": (f"web-?.shop.svc.{Z} A", f"web-0.shop.svc.{Z} A"),
    "an address where others have none": (f"web-?.shop.svc.{Z} AAAA", f"six-x.shop.svc.{Z} AAAA"),
    "none where others have one": (f"web-?.shop.svc.{Z} A", f"six-x.shop.svc.{Z} A"),
    "two addresses": (f"two-?.shop.svc.{Z} A", f"two-z.shop.svc.{Z} A"),
    "two addresses, by those with one": (f"web-?.shop.svc.{Z} A", f"two-z.shop.svc.{Z} A"),
    "an alias": (f"ext-?.shop.svc.{Z} CNAME", f"ext-z.shop.svc.{Z} CNAME"),
    "an alias, by addresses": (f"web-?.shop.svc.{Z} A", f"ext-z.shop.svc.{Z} A"),
    "SRV": (f"web-?.shop.svc.{Z} SRV", f"web-z.shop.svc.{Z} SRV"),
    "a Pod": (f"10-0-0-?.shop.pod.{Z} A", f"10-0-0-9.shop.pod.{Z} A"),
    "a namespace": (f"sho?.svc.{Z} A", f"shop.svc.{Z} A"),
    "labels of the SOA record": (f"nx?.abc.{Z} A", f"nx1.dns.{Z} A"),
    "another letter case": (f"nx?.shop.svc.{Z} A", "nx1.shop.svc.Cluster.local. A"),
    "another type": (f"nx?.shop.svc.{Z} A", f"nx1.shop.svc.{Z} AAAA"),
    "another length": (f"nx?.shop.svc.{Z} A", f"nx10.shop.svc.{Z} A"),
    "an escape": (f"nx?.shop.svc.{Z} A", f"nx\\046.shop.svc.{Z} A"),
    "a label in front of the zone alone": (f"nx?.shop.svc.{Z} A", "nx1.shop.svcXcluster.local. A"),
    "the schema's name": (f"dns-versio?.{Z} TXT", f"dns-version.{Z} TXT"),
    "TXT": (f"nx?.{Z} TXT", f"nx1.{Z} TXT"),
    "PTR": (f"nx?.{Z} PTR", f"nx1.{Z} PTR"),
    "a reverse name": ("?.2.96.10.in-addr.arpa. A", "1.2.96.10.in-addr.arpa. A"),
}


@pytest.mark.parametrize("learned, question", OTHERS.values(), ids=OTHERS)
async def test_other_questions_are_left_to_the_chain(learned: str, question: str) -> None:
    server = make(KUBEADM, *CLUSTER)
    await teach(server, learned)
    assert cache_of(server).get(packet(question)) is None


@pytest.mark.parametrize(
    "more",
    [{"flags": 0}, {"flags": Flag.RD | Flag.CD}, {"edns": Edns(1232)}, {"cls": 3}, {"flags": Flag.RD | 0x1000}],
    ids=["no RD", "CD", "EDNS", "class", "opcode"],
)
async def test_all_octets_around_the_name_count(more: dict[str, int]) -> None:
    server = make()
    await teach(server, f"nx?.shop.svc.{Z} A")
    assert cache_of(server).get(packet(f"nxz.shop.svc.{Z} A")) is not None
    assert cache_of(server).get(packet(f"nxz.shop.svc.{Z} A", **more)) is None


async def test_a_name_that_shares_labels_makes_no_template() -> None:
    server = make()
    await teach(server, f"nx?.dns.{Z} A", f"n?.hostmaster.{Z} A")
    assert len(cache_of(server)._templates) == 0


async def test_pointers_and_cut_names_have_no_template() -> None:
    server = make()
    await teach(server, f"nx?.shop.svc.{Z} A")
    query = packet(f"nxz.shop.svc.{Z} A")
    pointed = query[:12] + b"\xc0" + query[13:]
    overlong = query[:12] + b"\x04" + query[13:]
    for odd in (pointed, overlong, query[:14], query[:-1], query[:12] + b"\0\0\1\0\1", b""):
        assert cache_of(server).get(odd) is None


@pytest.mark.parametrize("options", [((10, b"12345678"),), ((3, b""),)], ids=["cookie", "NSID"])
async def test_edns_options_have_no_template(options: tuple[tuple[int, bytes], ...]) -> None:
    server = make()
    await teach(server, f"nx?.shop.svc.{Z} A", edns=Edns(1232, options=options))
    assert len(cache_of(server)._templates) == 0


async def test_an_opt_record_with_a_name_has_no_template() -> None:
    """Its owner may point into the question, so that its meaning depends on the name."""
    server = make()
    question = packet(f"nx1.shop.svc.{Z} A")
    opt = packet(f"nx1.shop.svc.{Z} A", edns=Edns(1232))[len(question) :]
    for _ in range(3):
        await server.ask(question[:11] + b"\1" + question[12:] + b"\xc0\x0c" + opt[1:])
    assert len(cache_of(server)._templates) == 0


# What the Corefile must say.

WITHOUT = {
    "cached denials": KUBEADM.replace("disable denial cluster.local\n", ""),
    "cached answers": KUBEADM.replace("disable success cluster.local\n", ""),
    "caching below the zone": KUBEADM.replace("cache 30", "cache 30 svc.cluster.local").replace("disable", "# "),
    "disabled for others": KUBEADM.replace("disable denial cluster.local", "disable denial svc.cluster.local"),
    "log": KUBEADM.replace("errors", "log"),
    "hosts": KUBEADM.replace("errors", "hosts /dev/null {\n fallthrough\n }"),
    "metadata": KUBEADM.replace("errors", "metadata"),
    "fallthrough": KUBEADM.replace("fallthrough in-addr.arpa ip6.arpa", "fallthrough"),
    "fallthrough of the zone": KUBEADM.replace("fallthrough in-addr.arpa", "fallthrough cluster.local"),
    "fallthrough below the zone": KUBEADM.replace("fallthrough in-addr.arpa", "fallthrough svc.cluster.local"),
    "a zone below": KUBEADM.replace("kubernetes cluster.local", "kubernetes cluster.local a.svc.cluster.local"),
    "a counted zone below": KUBEADM.replace(".:53", ".:53 a.svc.cluster.local:53"),
    "a counted zone elsewhere": KUBEADM.replace(".:53", ".:53 a.svc.cluster.local:54"),
    "a block below": KUBEADM + "a.svc.cluster.local:53 {\n whoami\n }\n",
}  # fmt: skip
WITH = {
    "kubeadm": KUBEADM,
    "no cache": KUBEADM.replace("cache 30", "# cache 30")
    .replace("disable", "# ")
    .replace("    }\n    load", "    load"),
    "cache elsewhere": KUBEADM.replace("cache 30", "cache 30 example.org").replace("disable", "# "),
    "all disabled": KUBEADM.replace("success cluster.local", "success").replace("denial cluster.local", "denial"),
    "other blocks": KUBEADM + "example.org:53 {\n whoami\n }\nother.local:53 {\n whoami\n }\n",
    "any": KUBEADM.replace("errors", "any"),
    "loop behind": KUBEADM.replace("errors", "loop"),
    "zone of the block": KUBEADM.replace("kubernetes cluster.local in-addr.arpa ip6.arpa", "kubernetes").replace(
        ".:53", "cluster.local:53"
    ),
}


@pytest.mark.parametrize(
    "corefile, expected",
    [*((text, 0) for text in WITHOUT.values()), *((text, 2) for text in WITH.values())],
    ids=[*WITHOUT, *WITH],
)
async def test_every_link_must_consent(corefile: str, expected: int) -> None:
    server = make(corefile)
    await teach(server, f"nx?.shop.svc.{Z} A", f"nx?.{Z} A")
    assert len(cache_of(server)._templates) == expected


async def test_nothing_is_denied_alike_before_all_objects_are_known() -> None:
    server = make()
    server.stores[0]._unlisted.add(next(iter(server.stores[0]._tables)))
    await teach(server, f"nx?.shop.svc.{Z} A")
    assert len(cache_of(server)._templates) == 0


# Changes.


async def test_no_denial_is_given_once_a_name_exists() -> None:
    server = make()
    fresh = packet(f"new.shop.svc.{Z} A")
    await teach(server, f"nx?.shop.svc.{Z} A")
    for _ in range(4):  # from the template, then kept
        assert parse(await server.ask(fresh) or b"").rcode == Rcode.NXDOMAIN
    server.put(web("new"))
    assert parse(await server.ask(fresh) or b"").answer
    server.remove(web("new"))
    assert parse(await server.ask(fresh) or b"").rcode == Rcode.NXDOMAIN
    server.remove(NAMESPACES[0])
    server.put(web("new"))
    assert parse(await server.ask(fresh) or b"").rcode == Rcode.NXDOMAIN
    server.put(NAMESPACES[0])
    assert parse(await server.ask(fresh) or b"").answer


async def test_a_new_address_is_given_at_once() -> None:
    server = make(KUBEADM, *CLUSTER)
    query = packet(f"web-z.shop.svc.{Z} A")
    await teach(server, f"web-?.shop.svc.{Z} A")
    for number in range(1, 4):
        server.put(web("web-z", address=f"10.96.9.{number}"))
        for _ in range(3):  # from the template, then kept
            [record] = parse(cache_of(server).get(query) or b"").answer
            assert record.rdata == bytes((10, 96, 9, number))
    server.remove(web("web-z"))
    assert cache_of(server).get(query) is None  # nothing of its length has been denied yet


def serial_of(reply: bytes | None) -> int:
    [soa] = parse(reply or b"").authority
    return int.from_bytes(soa.rdata[-SOA_NUMBERS:][:4], "big")


@pytest.mark.parametrize(
    "name, taught", [("nxz.shop", "nx?.shop"), ("web.shop", "web.shop")], ids=["template", "entry of a NODATA"]
)
async def test_what_is_kept_gets_the_serial_of_now_a_second_after_it_moved(name: str, taught: str) -> None:
    server = make()
    await teach(server, f"{taught}.svc.{Z} AAAA")
    query = packet(f"{name}.svc.{Z} AAAA")
    begun = int(server.clock.now)
    server.clock.now += 3600.0
    assert serial_of(cache_of(server).get(query)) == begun
    for change in (1, 2):
        server.put(web(f"another-{change}"))
        server.clock.now += 0.5
    assert serial_of(cache_of(server).get(query)) == begun + 3600
    assert cache_of(server).get(query) == await server.ask_chain(query)


async def test_until_a_second_after_the_serial_moved_the_old_one_is_sent() -> None:
    server = make()
    await teach(server, f"nx?.shop.svc.{Z} A")
    query = packet(f"nxz.shop.svc.{Z} A")
    begun = int(server.clock.now)
    server.clock.now += 3600.0
    server.put(web("another"))
    server.clock.now += 0.999
    assert serial_of(cache_of(server).get(query)) == begun
    server.clock.now += 0.001
    assert serial_of(cache_of(server).get(query)) == begun + 3600


async def test_a_denial_asked_again_is_kept_without_asking_the_chain() -> None:
    server = make()
    await teach(server, f"nx?.shop.svc.{Z} A")
    query = packet(f"nxz.shop.svc.{Z} A")
    for kept in (False, True):
        assert cache_of(server).get(query) is not None
        assert (query[2:] in cache_of(server)._entries) is kept


# Floods.


async def test_a_flood_of_names_is_bounded_and_leaves_hot_entries() -> None:
    server = make()
    cache = cache_of(server)
    hot = packet(f"web.shop.svc.{Z} A")
    for _ in range(2):
        await server.ask(hot)
    sample = packet(f"nx-000000.shop.svc.{Z} A")
    chain = 0
    for number in range(200_000):
        query = sample[:16] + b"%06d" % number + sample[22:]
        if cache.get(query) is None:
            chain += 1
            await server.ask_chain(query)
        if number % 1000 == 0:
            assert cache.get(hot) is not None
    assert chain == 2
    assert len(cache._templates) == 2  # the hot name's, too
    assert len(cache) < 200_000 / 100  # one in 255 is taken for another
    assert cache.octets <= (len(cache) + 1) * (OVERHEAD + 200)
    assert len(cache._tagged) <= 2 * len(cache) + 2


async def test_a_flood_of_options_leaves_cache_and_templates_alone() -> None:
    server = make()
    cache = cache_of(server)
    for number in range(3000):
        cookie = (10, number.to_bytes(8, "big"))
        edns = Edns(1232, options=(cookie, (65001 + number % 100, b"?"))[: 1 + number % 2])
        await server.ask(packet(f"nx{number % 3}.shop.svc.{Z} A", edns=edns))
    assert len(cache._templates) == 0
    assert len(cache) <= 3000 / 100


async def test_a_flood_of_shapes_is_bounded() -> None:
    server = make()
    for number in range(MAX_SHAPES + 10):
        for letter in "xy":
            await server.ask(packet(f"nx{letter}.{Z} A", edns=Edns(512 + number)))
    assert len(cache_of(server)._templates) == 10

"""Every kind of question; expectations from the Kubernetes DNS specification 1.1.0 (R1 to R25 of its checklist) and,
where that is silent, from CoreDNS 1.14.7 (behaviour reference, 1.4 to 1.9)."""

import pytest

from pydns.dns.name import longest_zone
from pydns.dns.text import to_text
from pydns.dns.types import ADDRESSES, Type
from pydns.k8s.objects import Kind, Namespace
from pydns.plugins.kubernetes.answers import OWN_RULES
from tests.plugins.kubernetes.cluster import (
    UPSTREAM,
    FixedSource,
    ask,
    cluster_ip,
    expand,
    expected,
    make_kubernetes,
    shown,
)
from tests.support import FakeServer, make_query

V6 = "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0"
DUAL = f"2.{V6[:-2]}.6.9.0.0.0.1.0.0.0.0.d.f.ip6.arpa."

ANSWERS = [
    # The schema's version (R1); names in any letter case (R2).
    ("dns-version.Z TXT", 'dns-version.Z 28800 IN TXT "1.1.0"'),
    ("KubeRnetes.Default.SVC.cluster.local. A", "KubeRnetes.Default.SVC.cluster.local. 5 IN A 10.96.0.1"),
    ("web.shop.svc.cluster.LOCAL. A", "web.shop.svc.cluster.LOCAL. 5 IN A 10.96.1.1"),
    # ClusterIPs (R3 to R8).
    ("web.shop.S A", "web.shop.S 5 IN A 10.96.1.1"),
    ("six.shop.S AAAA", "six.shop.S 5 IN AAAA fd00:10:96::6"),
    ("dual.shop.S A", "dual.shop.S 5 IN A 10.96.1.2"),
    ("dual.shop.S AAAA", "dual.shop.S 5 IN AAAA fd00:10:96::2"),
    ("noep.shop.S A", "noep.shop.S 5 IN A 10.96.1.7"),
    ("noports.shop.S A", "noports.shop.S 5 IN A 10.96.1.5"),
    (
        "_http._tcp.web.shop.S SRV",
        "_http._tcp.web.shop.S 5 IN SRV 0 100 80 web.shop.S",
        "+ web.shop.S 5 IN A 10.96.1.1",
    ),
    (
        "_HTTP._TCP.web.shop.S SRV",
        "_HTTP._TCP.web.shop.S 5 IN SRV 0 100 80 web.shop.S",
        "+ web.shop.S 5 IN A 10.96.1.1",
    ),
    ("http.tcp.web.shop.S SRV", "http.tcp.web.shop.S 5 IN SRV 0 100 80 web.shop.S", "+ web.shop.S 5 IN A 10.96.1.1"),
    ("_http._tcp.web.shop.S A", "_http._tcp.web.shop.S 5 IN A 10.96.1.1"),
    (
        "_http._tcp.dual.shop.S SRV",
        "_http._tcp.dual.shop.S 5 IN SRV 0 50 80 dual.shop.S",
        "+ dual.shop.S 5 IN A 10.96.1.2",
        "+ dual.shop.S 5 IN AAAA fd00:10:96::2",
    ),
    ("unnamed.shop.S SRV", "unnamed.shop.S 5 IN SRV 0 100 80 unnamed.shop.S", "+ unnamed.shop.S 5 IN A 10.96.1.3"),
    (
        "_._tcp.unnamed.shop.S SRV",
        "_._tcp.unnamed.shop.S 5 IN SRV 0 100 80 unnamed.shop.S",
        "+ unnamed.shop.S 5 IN A 10.96.1.3",
    ),
    (
        "dnssvc.shop.S SRV",
        "dnssvc.shop.S 5 IN SRV 0 33 53 dnssvc.shop.S",
        "dnssvc.shop.S 5 IN SRV 0 33 9153 dnssvc.shop.S",
        "+ dnssvc.shop.S 5 IN A 10.96.1.4",
    ),
    (
        "_dns._udp.dnssvc.shop.S SRV",
        "_dns._udp.dnssvc.shop.S 5 IN SRV 0 100 53 dnssvc.shop.S",
        "+ dnssvc.shop.S 5 IN A 10.96.1.4",
    ),
    ("pending.shop.S A", "pending.shop.S 5 IN CNAME ."),
    ("pending.shop.S CNAME", "pending.shop.S 5 IN CNAME ."),
    # Headless Services (R11 to R21).
    ("hl.shop.S A", "hl.shop.S 5 IN A 10.244.0.1", "hl.shop.S 5 IN A 10.244.0.2"),
    ("hl.shop.S AAAA", "hl.shop.S 5 IN AAAA fd00:244::1", "hl.shop.S 5 IN AAAA fd00:244::"),
    ("hl6.shop.S AAAA", "hl6.shop.S 5 IN AAAA fd00:244::6"),
    ("a.hl.shop.S A", "a.hl.shop.S 5 IN A 10.244.0.1"),
    ("A.hl.shop.S AAAA", "A.hl.shop.S 5 IN AAAA fd00:244::1"),
    ("10-244-0-2.hl.shop.S A", "10-244-0-2.hl.shop.S 5 IN A 10.244.0.2"),
    ("fd00-244--0.hl.shop.S AAAA", "fd00-244--0.hl.shop.S 5 IN AAAA fd00:244::"),
    ("peer.hlshared.shop.S A", "peer.hlshared.shop.S 5 IN A 10.244.0.51", "peer.hlshared.shop.S 5 IN A 10.244.0.52"),
    ("named.web.shop.S A", "named.web.shop.S 5 IN A 10.244.0.22"),
    ("10-244-0-21.web.shop.S A", "10-244-0-21.web.shop.S 5 IN A 10.244.0.21"),
    (
        "_http._tcp.hl.shop.S SRV",
        "_http._tcp.hl.shop.S 5 IN SRV 0 25 80 a.hl.shop.S",
        "_http._tcp.hl.shop.S 5 IN SRV 0 25 80 10-244-0-2.hl.shop.S",
        "_http._tcp.hl.shop.S 5 IN SRV 0 25 80 fd00-244--0.hl.shop.S",
        "+ a.hl.shop.S 5 IN A 10.244.0.1",
        "+ a.hl.shop.S 5 IN AAAA fd00:244::1",
        "+ 10-244-0-2.hl.shop.S 5 IN A 10.244.0.2",
        "+ fd00-244--0.hl.shop.S 5 IN AAAA fd00:244::",
    ),
    (
        "_http._tcp.hlshared.shop.S SRV",
        "_http._tcp.hlshared.shop.S 5 IN SRV 0 50 80 peer.hlshared.shop.S",
        "+ peer.hlshared.shop.S 5 IN A 10.244.0.51",
        "+ peer.hlshared.shop.S 5 IN A 10.244.0.52",
    ),
    (
        "hlunnamed.shop.S SRV",
        "hlunnamed.shop.S 5 IN SRV 0 100 80 p.hlunnamed.shop.S",
        "+ p.hlunnamed.shop.S 5 IN A 10.244.0.42",
    ),
    ("hlnoports.shop.S A", "hlnoports.shop.S 5 IN A 10.244.0.41"),
    # PTR (R9, R10, R22, R23).
    ("1.1.96.10.in-addr.arpa. PTR", "1.1.96.10.in-addr.arpa. 5 IN PTR web.shop.S"),
    ("1.1.96.10.IN-ADDR.arpa. PTR", "1.1.96.10.IN-ADDR.arpa. 5 IN PTR web.shop.S"),
    (f"{DUAL} PTR", f"{DUAL} 5 IN PTR dual.shop.S"),
    ("1.0.244.10.in-addr.arpa. PTR", "1.0.244.10.in-addr.arpa. 5 IN PTR a.hl.shop.S"),
    ("21.0.244.10.in-addr.arpa. PTR", "21.0.244.10.in-addr.arpa. 5 IN PTR 10-244-0-21.web.shop.S"),
    # ExternalName (R24, R25).
    ("ext.shop.S CNAME", "ext.shop.S 5 IN CNAME www.example.com."),
    ("extin.shop.S CNAME", "extin.shop.S 5 IN CNAME web.shop.S"),
    ("extloop.shop.S CNAME", "extloop.shop.S 5 IN CNAME extloop.shop.S"),
    ("ext.shop.S A", "ext.shop.S 5 IN CNAME www.example.com.", "www.example.com. 60 IN A 93.184.216.34"),
    ("_._.ext.shop.S CNAME", "_._.ext.shop.S 5 IN CNAME www.example.com."),
    ("hlfqdn.shop.S A", "hlfqdn.shop.S 5 IN CNAME db.example.com.", "db.example.com. 60 IN A 192.0.2.7"),
    ("q.hlfqdn.shop.S CNAME", "q.hlfqdn.shop.S 5 IN CNAME db.example.com."),
    # The apex.
    ("Z SOA", "Z 5 IN SOA ns.dns.Z hostmaster.Z 1700000000 7200 1800 86400 5"),
    ("Z NS", "Z 5 IN NS ns.dns.Z", "+ ns.dns.Z 5 IN A 10.1.0.5"),
    ("ns.dns.Z A", "ns.dns.Z 5 IN A 10.1.0.5"),
    ("NS.Dns.Z A", "NS.Dns.Z 5 IN A 10.1.0.5"),
    ("Cluster.local. NS", "Cluster.local. 5 IN NS ns.dns.Cluster.local.", "+ ns.dns.Cluster.local. 5 IN A 10.1.0.5"),
    ("ns.dns.in-addr.arpa. A", "ns.dns.in-addr.arpa. 5 IN A 10.1.0.5"),
]


@pytest.mark.parametrize("question, records", [(question, records) for question, *records in ANSWERS])
async def test_answers(question: str, records: list[str]) -> None:
    plugin = make_kubernetes()
    plugin.answers.apex.local = ("10.1.0.5",)
    assert shown(await ask(plugin, question)) == expected(*records)


BUT_TXT_SOA = "A AAAA SRV CNAME PTR MX NS ANY HTTPS CAA"
BUT_SOA = f"{BUT_TXT_SOA} TXT"

DENIALS = [
    # Nodes of the tree: NODATA, for TXT NXDOMAIN; SOA below the apex without a look.
    ("Z", "A AAAA SRV CNAME PTR MX ANY HTTPS CAA NS", "NODATA"),
    ("Z S pod.Z shop.S bare.S in-addr.arpa. svc.in-addr.arpa.", "TXT", "NXDOMAIN"),
    ("S pod.Z shop.S bare.S svc.in-addr.arpa.", BUT_TXT_SOA, "NODATA"),
    ("x.Z nosuch.shop.S shop.pod.Z 1.0.0.10.in-addr.arpa. S", "SOA", "NODATA"),
    # Names that do not exist.
    ("nope.S shop.pod.Z dns.Z x.Z a.b.x.Z apex.dns.Z default.Z", BUT_SOA, "NXDOMAIN"),
    ("nosuch.shop.S web.nope.S a.nosuch.shop.S _http._tcp.nosuch.shop.S *.shop.S", BUT_SOA, "NXDOMAIN"),
    ("x.web.shop.S _tcp.web.shop.S _http._udp.web.shop.S _nope._tcp.web.shop.S", BUT_SOA, "NXDOMAIN"),
    ("a.b.c.web.shop.S *._tcp.web.shop.S z.pin._zone.hl.shop.S", BUT_SOA, "NXDOMAIN"),
    ("_http._tcp.unnamed.shop.S 10-244-0-22.web.shop.S", BUT_SOA, "NXDOMAIN"),
    ("hlnr.shop.S 10-244-0-3.hl.shop.S 10-244-0-1.hl.shop.S fd00-244--.hl.shop.S", BUT_SOA, "NXDOMAIN"),
    ("extip.shop.S extip6.shop.S x.ext.shop.S _http._tcp.ext.shop.S", BUT_SOA, "NXDOMAIN"),
    ("dns-version.Z", f"{BUT_TXT_SOA}", "NXDOMAIN"),
    ("dns-version.x.Z", "TXT", "NXDOMAIN"),
    ("1-2-3-4.shop.pod.Z", BUT_SOA, "NXDOMAIN"),
    # Names that exist, for other types.
    ("web.shop.S", "AAAA CNAME TXT PTR MX NS ANY HTTPS CAA", "NODATA"),
    ("six.shop.S hl6.shop.S", "A", "NODATA"),
    ("hl.shop.S a.hl.shop.S", "CNAME TXT PTR MX NS ANY HTTPS", "NODATA"),
    ("noports.shop.S hlnoports.shop.S hlfqdn.shop.S pending.shop.S", "SRV", "NODATA"),
    ("ext.shop.S", "SRV TXT PTR MX NS ANY HTTPS", "NODATA"),
    ("extin.shop.S", "AAAA", "NODATA"),
    ("extinbad.shop.S extloop.shop.S extbelow.shop.S extpair.shop.S", "A AAAA", "NODATA"),
    ("ns.dns.Z", "AAAA SRV CNAME MX NS ANY HTTPS", "NODATA"),
    ("ns.dns.Z", "TXT PTR", "NXDOMAIN"),
    # The reverse zones: only PTR of whole addresses.
    ("10.in-addr.arpa. 3.0.244.10.in-addr.arpa. 9.9.9.9.in-addr.arpa. x.ip6.arpa.", BUT_SOA, "NXDOMAIN"),
    ("1.1.96.10.in-addr.arpa.", "A AAAA SRV CNAME TXT MX NS ANY", "NXDOMAIN"),
    ("web.shop.svc.in-addr.arpa. shop.svc.in-addr.arpa. x.1.1.96.10.in-addr.arpa.", BUT_SOA, "NXDOMAIN"),
    ("01.1.96.10.in-addr.arpa. 256.1.96.10.in-addr.arpa.", "PTR", "NXDOMAIN"),
    ("in-addr.arpa. ip6.arpa.", "A AAAA PTR ANY", "NODATA"),
    ("web.shop.S", "PTR", "NODATA"),
]


@pytest.mark.parametrize(
    "name, qtype, denial",
    [(name, qtype, denial) for names, types, denial in DENIALS for name in names.split() for qtype in types.split()],
)
async def test_denials(name: str, qtype: str, denial: str) -> None:
    plugin = make_kubernetes()
    if name == "ns.dns.Z":
        plugin.answers.apex.local = ("10.1.0.5",)
    assert shown(await ask(plugin, f"{name} {qtype}")) == [denial]


@pytest.mark.parametrize(
    "options, question, records",
    [
        ("pods insecure", "1-2-3-4.shop.pod.Z A", ["1-2-3-4.shop.pod.Z 5 IN A 1.2.3.4"]),
        ("pods insecure", "1-2-3-4.shop.pod.Z AAAA", ["NODATA"]),
        ("pods insecure", "2001-db8--1.shop.pod.Z AAAA", ["2001-db8--1.shop.pod.Z 5 IN AAAA 2001:db8::1"]),
        ("pods insecure", "x.1-2-3-4.shop.pod.Z A", ["x.1-2-3-4.shop.pod.Z 5 IN A 1.2.3.4"]),
        ("pods insecure", "_a._b.1-2-3-4.shop.pod.Z A", ["_a._b.1-2-3-4.shop.pod.Z 5 IN A 1.2.3.4"]),
        ("pods insecure", "a.b.c.1-2-3-4.shop.pod.Z A", ["NXDOMAIN"]),
        ("pods insecure", "shop.pod.Z A", ["NODATA"]),
        ("pods insecure", "shop.pod.Z TXT", ["NXDOMAIN"]),
        ("pods verified", "10-244-0-21.shop.pod.Z A", ["10-244-0-21.shop.pod.Z 5 IN A 10.244.0.21"]),
        ("pods verified", "10-244-0-21.default.pod.Z A", ["NXDOMAIN"]),
        ("pods verified", "10-244-7-7.shop.pod.Z A", ["10-244-7-7.shop.pod.Z 5 IN A 10.244.7.7"]),
        (
            "pods insecure",
            "1-2-3-4.shop.pod.Z SRV",
            ["1-2-3-4.shop.pod.Z 5 IN SRV 0 100 0 1-2-3-4.shop.pod.Z", "+ 1-2-3-4.shop.pod.Z 5 IN A 1.2.3.4"],
        ),
        ("endpoint_pod_names", "hl-pod-2.hl.shop.S A", ["hl-pod-2.hl.shop.S 5 IN A 10.244.0.2"]),
        ("endpoint_pod_names", "10-244-0-2.hl.shop.S A", ["NXDOMAIN"]),
        (
            "endpoint_pod_names",
            "2.0.244.10.in-addr.arpa. PTR",
            ["2.0.244.10.in-addr.arpa. 5 IN PTR hl-pod-2.hl.shop.S"],
        ),
        ("ttl 0", "web.shop.S A", ["web.shop.S 0 IN A 10.96.1.1"]),
        ("ttl 3600", "Z SOA", ["Z 300 IN SOA ns.dns.Z hostmaster.Z 1700000000 7200 1800 86400 3600"]),
        ("ttl 3600", "dns-version.Z TXT", ['dns-version.Z 28800 IN TXT "1.1.0"']),
        ("zonal", "zone-a.pin._zone.hl.shop.S A", ["zone-a.pin._zone.hl.shop.S 5 IN A 10.244.0.2"]),
        ("zonal", "zone-b.pin._zone.hl.shop.S A", ["NODATA"]),
        ("zonal", "zone-b.pin._zone.hl.shop.S TXT", ["NODATA"]),
        ("zonal", "zone-b.pin._zone.web.shop.S TXT", ["NXDOMAIN"]),
        ("namespaces default", "web.shop.S A", ["NXDOMAIN"]),
        ("namespaces default", "shop.S A", ["NXDOMAIN"]),
        ("namespaces default", "1.1.96.10.in-addr.arpa. PTR", ["NXDOMAIN"]),
        (
            "namespaces default",
            "1.0.96.10.in-addr.arpa. PTR",
            ["1.0.96.10.in-addr.arpa. 5 IN PTR kubernetes.default.S"],
        ),
        ("ignore empty_service", "noep.shop.S A", ["NXDOMAIN"]),
    ],
)
async def test_options(options: str, question: str, records: list[str]) -> None:
    assert shown(await ask(make_kubernetes(options), question)) == expected(*records)


@pytest.mark.parametrize(
    "zones, question, records",
    [
        ("in-addr.arpa a.local b.local", "web.shop.svc.b.local. A", ["web.shop.svc.b.local. 5 IN A 10.96.1.1"]),
        (
            "10.96.0.0/16 b.local a.local",
            "1.1.96.10.in-addr.arpa. PTR",
            ["1.1.96.10.in-addr.arpa. 5 IN PTR web.shop.svc.b.local."],
        ),
        ("local cluster.local", "web.shop.S A", ["web.shop.S 5 IN A 10.96.1.1"]),
        (
            ".",
            "web.shop.svc. SRV",
            ["web.shop.svc. 5 IN SRV 0 100 80 web.shop.svc.", "+ web.shop.svc. 5 IN A 10.96.1.1"],
        ),
        (". in-addr.arpa", "1.1.96.10.in-addr.arpa. PTR", ["1.1.96.10.in-addr.arpa. 5 IN PTR web.shop.svc."]),
        ("in-addr.arpa", "in-addr.arpa. A", ["NODATA"]),
    ],
)
async def test_zones(zones: str, question: str, records: list[str]) -> None:
    assert shown(await ask(make_kubernetes(zones=zones), question)) == expected(*records)


async def test_names_made_here_have_the_zone_as_the_client_spelt_it() -> None:
    reply = await ask(make_kubernetes(), "_http._TCP.Web.Shop.SVC.Cluster.LOCAL. SRV")
    assert [to_text(item) for item in reply.answer + reply.additional] == [
        "_http._TCP.Web.Shop.SVC.Cluster.LOCAL. 5 IN SRV 0 100 80 web.shop.svc.Cluster.LOCAL.",
        "web.shop.svc.Cluster.LOCAL. 5 IN A 10.96.1.1",
    ]


async def test_records_of_several_slices_have_a_stable_order() -> None:
    reply = await ask(make_kubernetes(), "_._.hl.shop.S SRV")
    assert [to_text(item).rpartition(" ")[2] for item in reply.answer] == [
        expand(f"{name}.hl.shop.S") for name in ("a", "10-244-0-2", "fd00-244--0", "a")
    ]


async def test_kept_answers_change_with_their_service_and_namespace() -> None:
    source = FixedSource([Namespace("shop"), cluster_ip("web", "10.96.1.1")])
    plugin = make_kubernetes(source=source)
    first = await ask(plugin, "web.shop.S A")
    assert (await ask(plugin, "web.shop.S A")).answer is first.answer
    source.store.put(cluster_ip("web", "10.96.1.9"))
    assert shown(await ask(plugin, "web.shop.S A")) == expected("web.shop.S 5 IN A 10.96.1.9")
    source.store.remove(Kind.NAMESPACE, ("", "shop"))
    assert shown(await ask(plugin, "web.shop.S A")) == ["NXDOMAIN"]


ASKED = [
    *(question for question, *_ in ANSWERS),
    *(f"{name} {qtype}" for names, types, _ in DENIALS for name in names.split() for qtype in types.split()),
]


@pytest.mark.parametrize(
    "question", [question for question in ASKED if Type[question.rpartition(" ")[2]] not in OWN_RULES]
)
async def test_a_names_part_is_what_the_reply_to_it_has(question: str) -> None:
    """Its rcode, its one address, its data; none is for more addresses, for aliases, and for SRV and CNAME."""
    plugin = make_kubernetes()
    plugin.answers.apex.local = ("10.1.0.5",) if question.startswith("ns.dns") else ()
    query = make_query(expand(question))
    zone = longest_zone(query.name, plugin.zones)
    assert zone is not None
    reply = await ask(plugin, question)
    part = plugin.answers.part(zone, query.name, query.qtype)
    if part is None:
        is_alias = question.startswith(("ext", "pending", "hlfqdn", "q.hlfqdn", "_._.ext"))
        assert query.qtype in (Type.SRV, Type.CNAME) or (
            query.qtype in ADDRESSES and (len(reply.answer) > 1 or is_alias)
        )
        return
    assert reply.replay is not None
    assert (part.rcode, part.octets) == (reply.rcode, b"".join(record.rdata for record in reply.answer))
    assert set(part.tags) == set(reply.replay.tags)


@pytest.mark.parametrize(
    "question, cls, kept",
    [
        ("web.shop.S A", 1, True),
        ("web.shop.S AAAA", 1, True),
        ("ext.shop.S SRV", 1, True),
        ("Web.shop.S A", 1, False),
        ("web.shop.S A", 3, False),
        ("web.shop.S A", 255, False),
        ("nosuch.shop.S A", 1, False),
        ("ext.shop.S A", 1, False),
        ("ns.dns.Z A", 1, False),
        ("web.shop.S MX", 1, False),
        ("1-2-3-4.shop.pod.Z A", 1, False),
        ("a.pin._zone.hl.shop.S A", 1, False),
    ],
)
async def test_what_is_kept_is_bounded_by_the_names_of_objects(question: str, cls: int, kept: bool) -> None:
    plugin = make_kubernetes("pods insecure\nzonal")
    query = make_query(expand(question), cls=cls, server=FakeServer(answers=UPSTREAM))
    await plugin.serve(query)
    assert (plugin.answers.known(query.question) is not None) is kept

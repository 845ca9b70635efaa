"""What the specification demands, for objects small enough to see it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kubernetes.cluster_ips import complete
from conformance.kubernetes.objects import Object
from conformance.objects import standard
from conformance.spec.demand import Demand, tags
from conformance.spec.demands import AREAS, demands
from conformance.spec.departures import DEPARTURES
from conformance.spec.requirements import REQUIREMENTS
from conformance.spec.started import OUTSIDE
from conformance.spec.wants import Denied, Empty, Holds, Lacks, Only, Want
from conformance.spec_jobs import TAGS

ZONE = "cluster.local."
HTTP = {"name": "http", "port": 80, "protocol": "TCP"}


def service(name: str, *ports: Object, **spec: Any) -> Object:
    return {"kind": "Service", "metadata": {"name": name, "namespace": "shop"}, "spec": {"ports": ports, **spec}}


def endpoints(name: str, *given: Object, port: Object = HTTP, kind: str = "IPv4") -> Object:
    metadata = {"name": f"{name}-1", "namespace": "shop", "labels": {"kubernetes.io/service-name": name}}
    return {"kind": "EndpointSlice", "metadata": metadata, "addressType": kind, "endpoints": given, "ports": [port]}


def endpoint(address: str, hostname: str = "", ready: bool = True) -> Object:
    return {"addresses": [address], "conditions": {"ready": ready}, "hostname": hostname}


def said(want: Want | None) -> str:
    """A want in few words, names without what they all end in."""
    match want:
        case Holds(records, without):
            text = " | ".join(f"{each.rtype} {each.data}" for each in sorted(records))
            text += "".join(f" not {each.data}" for each in sorted(without))
        case Only(rtype, records):
            text = f"only {' | '.join(each.data for each in sorted(records)) or f'no {rtype}'}"
        case Lacks(records):
            text = f"not {' | '.join(each.data for each in sorted(records))}"
        case Denied():
            text = "NXDOMAIN"
        case Empty():
            text = "NODATA"
        case _:
            text = type(want).__name__
    return text.replace(".shop.svc.cluster.local.", "")


def demanded(number: str, *objects: Object) -> list[str]:
    """The demands on Services with a number, one line each; those in mixed letters only where they are asked for."""
    found = [each for each in demands(objects, ZONE, OUTSIDE) if each.area not in ("general", "resolvers")]
    wanted = [each for each in found if number in each.tags and ("R2" in each.tags) is (number == "R2")]
    return [_line(each) for each in wanted]


def _line(demand: Demand) -> str:
    asked = demand.question.text.replace(".shop.svc.cluster.local.", "")
    return f"{asked} => {said(demand.want)}" + (f" or {said(demand.departing)}" if demand.departing else "")


WEB = service("web", HTTP, clusterIP="10.96.0.9")
DUAL = service("dual", HTTP, clusterIP="fd00::9", clusterIPs=["fd00::9", "10.96.0.9"])
UNNAMED = service("web", {"port": 80, "protocol": "TCP"}, clusterIP="10.96.0.9")


@pytest.mark.parametrize(
    ("number", "objects", "wanted"),
    [
        ("R3", WEB, ["web A => A 10.96.0.9"]),
        ("R4", WEB, []),
        ("R4", DUAL, ["dual AAAA => AAAA fd00::9"]),
        ("R5", WEB, ["_http._tcp.web SRV => SRV 80 web"]),
        ("R6", WEB, ["_http._tcp.web SRV => only 80 web"]),
        (
            "R7",
            UNNAMED,
            [
                "web SRV => only no SRV or Leads",
                "_._tcp.web SRV => only no SRV or Leads",
                "_80._tcp.web SRV => only no SRV",
            ],
        ),
        ("R7", WEB, []),
        ("R8", WEB, ["_http._tcp.web SRV => Beside"]),
        ("R9", WEB, ["9.0.96.10.in-addr.arpa. PTR => PTR web"]),
        ("R10", DUAL, [f"9.{'0.' * 27}0.0.d.f.ip6.arpa. PTR => PTR dual"]),
        ("R3", service("web", HTTP), []),
        ("R5", service("web", HTTP), ["_http._tcp.web SRV => SRV 80 web"]),
    ],
)
def test_services_with_a_cluster_ip(number: str, objects: Object, wanted: list[str]) -> None:
    assert demanded(number, objects) == wanted


def headless(*given: Object, port: Object = HTTP, kind: str = "IPv4") -> list[Object]:
    return [service("db", port, clusterIP="None"), endpoints("db", *given, port=port, kind=kind)]


A, B = endpoint("192.0.2.1", "a"), endpoint("192.0.2.2", "b")
LATE, BARE = endpoint("192.0.2.3", "late", ready=False), endpoint("192.0.2.4")


@pytest.mark.parametrize(
    ("number", "objects", "wanted"),
    [
        ("R11", headless(A, B), ["db A => A 192.0.2.1 | A 192.0.2.2"]),
        ("R12", headless(A, LATE), [
            "db A => A 192.0.2.1 not 192.0.2.3",
            "late.db A => NXDOMAIN",
            "late.db AAAA => NXDOMAIN",
            "3.2.0.192.in-addr.arpa. PTR => not late.db",
        ]),
        ("R13", headless(LATE), ["db A => NXDOMAIN"]),
        ("R13", [service("db", clusterIP="None")], ["db A => NXDOMAIN"]),
        ("R13", headless(A), []),
        ("R14", headless(A), ["a.db A => A 192.0.2.1"]),
        ("R15", headless(A, endpoint("192.0.2.9", "a")), ["a.db A => A 192.0.2.1 | A 192.0.2.9"]),
        ("R15", headless(A, B), []),
        ("R16", headless(A, BARE), ["_http._tcp.db SRV => Leads"]),
        ("R17", headless(LATE), ["db AAAA => NXDOMAIN"]),
        ("R17", headless(endpoint("fd00::1", "a"), kind="IPv6"), ["db AAAA => AAAA fd00::1"]),
        ("R18", headless(endpoint("fd00::1", "a"), kind="IPv6"), ["a.db AAAA => AAAA fd00::1"]),
        ("R19", headless(A, B, LATE), ["_http._tcp.db SRV => SRV 80 a.db | SRV 80 b.db not 80 late.db"]),
        ("R20", headless(A, port={"name": "", "port": 80}), [
            "db SRV => only no SRV or Leads",
            "_._tcp.db SRV => only no SRV or Leads",
            "_80._tcp.db SRV => only no SRV",
        ]),
        ("R20", headless(LATE, port={"name": "", "port": 80}), []),
        ("R21", headless(A), ["_http._tcp.db SRV => Beside"]),
        ("R22", headless(A, BARE), ["1.2.0.192.in-addr.arpa. PTR => PTR a.db"]),
        ("R23", headless(endpoint("fd00::1", "a"), kind="IPv6"), [f"1.{'0.' * 27}0.0.d.f.ip6.arpa. PTR => PTR a.db"]),
        ("R26", headless(A, B), []),
        ("X2", headless(A), ["db AAAA => NODATA", "a.db AAAA => NODATA"]),
    ],
)  # fmt: skip
def test_headless_services(number: str, objects: list[Object], wanted: list[str]) -> None:
    assert demanded(number, *objects) == wanted


def test_more_endpoints_than_a_udp_reply_holds_are_asked_for_over_tcp() -> None:
    (line,) = demanded("R26", *headless(*(endpoint(f"192.0.2.{number}") for number in range(40))))
    assert line.startswith("db A +tcp => ")
    assert line.count("A 192.0.2.") == 40


@pytest.mark.parametrize(
    ("number", "target", "wanted"),
    [
        ("R24", "www.example.com", ["ext CNAME => CNAME www.example.com."]),
        ("R24", "192.0.2.7", ["ext CNAME => CNAME 192.0.2.7. or NXDOMAIN"]),
        ("R25", "192.0.2.7", []),
        ("R25", "www.example.com", [
            "ext A => CNAME www.example.com. | A 93.184.216.34",
            "ext AAAA => CNAME www.example.com. | AAAA 2606:2800:220:1::1",
        ]),
        ("R25", "unknown.example", ["ext A => CNAME unknown.example.", "ext AAAA => CNAME unknown.example."]),
        ("R25", "web.shop.svc.cluster.local", ["ext A => CNAME web | A 10.96.0.9", "ext AAAA => CNAME web or NODATA"]),
        ("R25", "nosuch.shop.svc.cluster.local", [
            "ext A => CNAME nosuch or NODATA",
            "ext AAAA => CNAME nosuch or NODATA",
        ]),
    ],
)  # fmt: skip
def test_external_names(number: str, target: str, wanted: list[str]) -> None:
    assert demanded(number, WEB, service("ext", type="ExternalName", externalName=target)) == wanted


def test_letter_case_is_varied_and_the_records_are_the_same() -> None:
    assert "wEb.sHoP.SvC.ClUsTeR.LoCaL. A => A 10.96.0.9" in demanded("R2", WEB)


@pytest.mark.parametrize(
    ("others", "missing"),
    [
        ([], set()),
        (["shop"], {"web.shop.shop.svc.cluster.local."}),
        (["com"], {"example.com.shop.svc.cluster.local."}),
    ],
)
def test_names_of_search_lists_do_not_exist_but_where_a_service_makes_them(
    others: list[str], missing: set[str]
) -> None:
    expanded = {
        "web.shop.shop.svc.cluster.local.",
        "web.shop.cluster.local.",
        "example.com.shop.svc.cluster.local.",
        "no-such-name.web.shop.svc.cluster.local.",
    }
    found = demands([WEB, *(service(name, clusterIP="None") for name in others)], ZONE)
    assert expanded & {each.question.name for each in found if "X1" in each.tags} == expanded - missing


# --- the standard objects --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def all_demands() -> list[Demand]:
    objects = standard("conformance", ZONE)
    for object in objects:
        if object["kind"] == "Service":
            complete(object, None, objects)
    return demands(objects, ZONE, OUTSIDE)


def test_the_standard_objects_have_a_demand_for_every_requirement_of_specification_and_resolvers(
    all_demands: list[Demand],
) -> None:
    assert set(tags(all_demands)) == {number for number in REQUIREMENTS if number[0] in "RX"}


@pytest.mark.parametrize("area", AREAS)
def test_each_area_says_what_it_covers(all_demands: list[Demand], area: str) -> None:
    assert " ".join(tags(each for each in all_demands if each.area == area)) == TAGS[area]


def test_every_departure_is_shown_and_every_one_shown_is_listed(all_demands: list[Demand]) -> None:
    assert {each.departure for each in all_demands if each.departure} == set(DEPARTURES)


def test_the_letters_of_a_question_are_looked_at_where_no_cluster_ip_is_known() -> None:
    found = demands([service("db", HTTP, clusterIP="None"), endpoints("db", endpoint("10.244.0.1"))], ZONE)
    assert "dB.ShOp.sVc.cLuStEr.lOcAl." in {each.question.name for each in found if "X7" in each.tags}

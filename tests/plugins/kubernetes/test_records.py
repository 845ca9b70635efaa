"""Records from items; expectations from the behaviour reference (sections 1.5 to 1.7) and RFC 2782."""

import pytest

from pydns.dns.text import to_text
from pydns.dns.types import Type
from pydns.k8s.objects import Endpoint, Port
from pydns.plugins.kubernetes.records import (
    Asked,
    Item,
    absolute,
    address_rdata,
    addresses,
    endpoint_name,
    host_rdata,
    pointers,
    service_records,
)
from tests.plugins.kubernetes.cluster import ADMIN, HTTP, NONE

Z = "cluster.local."


def asked(qtype: int, owner: str = "Hl.shop.svc.cluster.local.", origin: str = Z) -> Asked:
    return Asked(owner.lower(), origin.lower(), owner, origin, qtype)


def item(address: str, *ports: Port, target: str = "a.hl.shop.svc") -> Item:
    found = host_rdata(address)
    assert found is not None
    return Item(*found, ports or (HTTP,), target)


@pytest.mark.parametrize(
    "text, found",
    [
        ("10.0.0.1", (Type.A, b"\x0a\0\0\1")),
        ("::1", (Type.AAAA, bytes(15) + b"\1")),
        ("::ffff:10.0.0.1", (Type.A, b"\x0a\0\0\1")),
        ("10.0.0.01", None),
        ("10.0.0", None),
        ("fe80::1%eth0", None),
        ("10.0.0.1\0", None),
        ("", None),
        ("é", None),
    ],
)
def test_addresses_as_go_reads_them(text: str, found: tuple[int, bytes] | None) -> None:
    assert address_rdata(text) == found


@pytest.mark.parametrize(
    "text, found",
    [
        ("www.example.com", (Type.CNAME, b"\3www\7example\3com\0")),
        ("www.example.com.", (Type.CNAME, b"\3www\7example\3com\0")),
        ("", (Type.CNAME, b"\0")),
        ("a" * 64, None),
        ("a..b", None),
    ],
)
def test_what_is_no_address_is_a_name(text: str, found: tuple[int, bytes] | None) -> None:
    assert host_rdata(text) == found


@pytest.mark.parametrize(
    "endpoint, pod_names, name",
    [
        (Endpoint("10.0.0.1", hostname="a", target="p"), False, "a"),
        (Endpoint("10.0.0.1", hostname="a", target="p"), True, "a"),
        (Endpoint("10.0.0.1", target="p"), False, "10-0-0-1"),
        (Endpoint("10.0.0.1", target="p"), True, "p"),
        (Endpoint("10.0.0.1"), True, "10-0-0-1"),
        (Endpoint("fd00:244::1"), False, "fd00-244--1"),
        (Endpoint("fd00:244::"), False, "fd00-244--0"),
        (Endpoint("localhost"), False, ""),
    ],
)
def test_names_of_endpoints(endpoint: Endpoint, pod_names: bool, name: str) -> None:
    assert endpoint_name(endpoint, pod_names) == name


def test_names_below_a_zone_and_below_the_root() -> None:
    assert absolute("web.shop.svc", "Cluster.local.") == "web.shop.svc.Cluster.local."
    assert absolute("web.shop.svc", ".") == "web.shop.svc."


def test_addresses_have_the_askers_spelling_and_no_doubles() -> None:
    items = [item("10.0.0.1"), item("fd00::1"), item("10.0.0.1", ADMIN), item("10.0.0.2")]
    found = addresses(items, asked(Type.A), 30)
    assert [to_text(one) for one in found] == [
        "Hl.shop.svc.cluster.local. 30 IN A 10.0.0.1",
        "Hl.shop.svc.cluster.local. 30 IN A 10.0.0.2",
    ]


def test_the_same_address_spelt_twice_is_one_record() -> None:
    assert len(addresses([item("fd00::1"), item("fd00:0:0::1")], asked(Type.AAAA), 5)) == 1


def test_srv_records_and_what_goes_with_them() -> None:
    items = [item("10.0.0.1", HTTP, ADMIN), item("fd00::1"), item("10.0.0.2", target="b.hl.shop.svc")]
    answer, additional = service_records(items, asked(Type.SRV, origin="Cluster.Local."), 5)
    assert [to_text(one).partition(" SRV ")[2] for one in answer] == [
        "0 25 80 a.hl.shop.svc.Cluster.Local.",
        "0 25 8080 a.hl.shop.svc.Cluster.Local.",
        "0 25 80 b.hl.shop.svc.Cluster.Local.",
    ]
    assert [to_text(one) for one in additional] == [
        "a.hl.shop.svc.Cluster.Local. 5 IN A 10.0.0.1",
        "a.hl.shop.svc.Cluster.Local. 5 IN AAAA fd00::1",
        "b.hl.shop.svc.Cluster.Local. 5 IN A 10.0.0.2",
    ]


@pytest.mark.parametrize("count, weight", [(1, 100), (2, 50), (3, 33), (7, 14), (100, 1), (101, 1), (250, 1)])
def test_a_weight_of_100_is_shared(count: int, weight: int) -> None:
    items = [item(f"10.0.0.{number}", target=f"n{number}.hl.shop.svc") for number in range(count)]
    answer, _ = service_records(items, asked(Type.SRV), 5)
    assert len(answer) == count
    assert {int.from_bytes(one.rdata[2:4], "big") for one in answer} == {weight}


def test_names_and_items_without_a_port_have_no_srv_record() -> None:
    assert service_records([item("db.example.com"), item("10.0.0.1", NONE)], asked(Type.SRV), 5) == ((), ())


@pytest.mark.parametrize("port, on_the_wire", [(70000, 4464), (-5, 65531), (0, 0)])
def test_ports_that_the_api_would_not_take_are_cut_to_16_bits(port: int, on_the_wire: int) -> None:
    (record,), _ = service_records([item("10.0.0.1", Port("x", port, "TCP"))], asked(Type.SRV), 5)
    assert int.from_bytes(record.rdata[4:6], "big") == on_the_wire


def test_targets_that_are_no_names_are_left_out() -> None:
    assert service_records([item("10.0.0.1", target="a..b")], asked(Type.SRV), 5) == ((), ())
    assert len(pointers(["a..b.", "c.", "c."], asked(Type.PTR), Type.PTR, 5)) == 1

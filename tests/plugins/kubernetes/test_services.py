"""What the names of one Service hold; expectations from the behaviour reference (1.3, 1.5, 1.6, 1.15)."""

import pytest

from pydns.dns.rdata import address_text
from pydns.dns.types import Type
from pydns.k8s.objects import Endpoint, EndpointSlice, Port, Service
from pydns.plugins.kubernetes.qname import Name
from pydns.plugins.kubernetes.services import ServiceItems
from tests.plugins.kubernetes.cluster import ADMIN, HTTP, NONE, cluster_ip, endpoints, external, headless

SLICES = (
    endpoints(
        "hl",
        Endpoint("10.0.0.2", hostname="Two", zone="a"),
        Endpoint("10.0.0.1", target="pod-1", zone="b"),
        ports=(HTTP, ADMIN),
    ),
    endpoints("hl", Endpoint("10.0.0.9", hostname="two"), part=2),
)


def asking(endpoint: str = "", port: str = "", protocol: str = "", zone: str = "", prefer: bool = False) -> Name:
    return Name("svc", "shop", "hl", endpoint, port, protocol, zone, prefer)


def held(service: Service, name: Name, *slices: EndpointSlice, pod_names: bool = False) -> list[tuple[str, int]]:
    """(address, port) of each item at each of its ports."""
    items = ServiceItems(service, slices, pod_names).select(name)
    return [(address_text(item.rdata), port.port) for item in items for port in item.ports]


@pytest.mark.parametrize(
    "name, found",
    [
        (asking(), [("10.0.0.2", 80), ("10.0.0.2", 8080), ("10.0.0.1", 80), ("10.0.0.1", 8080), ("10.0.0.9", 80)]),
        (asking(port="http"), [("10.0.0.2", 80), ("10.0.0.1", 80), ("10.0.0.9", 80)]),
        (asking(port="admin", protocol="tcp"), [("10.0.0.2", 8080), ("10.0.0.1", 8080)]),
        (asking(port="http", protocol="udp"), []),
        (asking(endpoint="two"), [("10.0.0.2", 80), ("10.0.0.2", 8080), ("10.0.0.9", 80)]),
        (asking(endpoint="10-0-0-1"), [("10.0.0.1", 80), ("10.0.0.1", 8080)]),
        (asking(endpoint="10-0-0-2"), []),
        (asking(endpoint="pod-1"), []),
        (asking(zone="a"), [("10.0.0.2", 80), ("10.0.0.2", 8080)]),
        (asking(zone="nowhere"), []),
        (asking(zone="b", prefer=True), [("10.0.0.1", 80), ("10.0.0.1", 8080)]),
    ],
)
def test_a_headless_service(name: Name, found: list[tuple[str, int]]) -> None:
    assert held(headless("hl"), name, *SLICES) == found


def test_prefer_takes_all_where_the_zone_has_none() -> None:
    everything = held(headless("hl"), asking(), *SLICES)
    assert held(headless("hl"), asking(zone="nowhere", prefer=True), *SLICES) == everything


def test_pod_names_take_the_place_of_dashed_addresses() -> None:
    assert held(headless("hl"), asking(endpoint="pod-1"), *SLICES, pod_names=True) == [
        ("10.0.0.1", 80),
        ("10.0.0.1", 8080),
    ]
    assert held(headless("hl"), asking(endpoint="10-0-0-1"), *SLICES, pod_names=True) == []


@pytest.mark.parametrize(
    "name, found",
    [
        (asking(), [("10.96.0.1", 80), ("10.96.0.1", 8080), ("fd00::1", 80), ("fd00::1", 8080)]),
        (asking(port="admin"), [("10.96.0.1", 8080), ("fd00::1", 8080)]),
        (asking(port="nope"), []),
        (asking(endpoint="two"), [("10.0.0.2", 80), ("10.0.0.2", 8080), ("10.0.0.9", 80)]),
        (asking(zone="a"), []),
    ],
)
def test_a_service_with_cluster_ips(name: Name, found: list[tuple[str, int]]) -> None:
    service = cluster_ip("hl", "10.96.0.1", "fd00::1", ports=(HTTP, ADMIN))
    assert held(service, name, *SLICES) == found


def test_an_unnamed_port_is_reached_by_no_name() -> None:
    service = cluster_ip("web", "10.96.0.1", ports=(Port("", 80, "TCP"),))
    assert held(service, asking(port="80")) == []
    assert held(service, asking(protocol="tcp")) == [("10.96.0.1", 80)]


def test_a_port_in_capitals_is_found() -> None:
    service = cluster_ip("web", "10.96.0.1", ports=(Port("HTTP", 80, "tcp"),))
    assert held(service, asking(port="http", protocol="tcp")) == [("10.96.0.1", 80)]


def test_no_port_has_addresses() -> None:
    assert held(cluster_ip("web", "10.96.0.1", ports=(NONE,)), asking()) == [("10.96.0.1", -1)]


def test_an_external_name_has_no_endpoints_and_no_ports() -> None:
    items = ServiceItems(external("ext", "www.example.com"), SLICES)
    (item,) = items.select(asking())
    assert (item.type, item.rdata) == (Type.CNAME, b"\3www\7example\3com\0")
    for name in (asking(endpoint="two"), asking(port="http"), asking(protocol="tcp"), asking(zone="a")):
        assert items.select(name) == ()


@pytest.mark.parametrize("target", ["192.0.2.1", "2001:db8::1", "a" * 64, "a..b"])
def test_an_external_name_that_is_no_name_is_nothing(target: str) -> None:
    assert ServiceItems(external("ext", target), ()).select(asking()) == ()


def test_a_cluster_ip_not_given_yet_is_the_root() -> None:
    (item,) = ServiceItems(cluster_ip("web", ""), ()).select(asking())
    assert (item.type, item.rdata) == (Type.CNAME, b"\0")


def test_whether_there_are_endpoints() -> None:
    assert ServiceItems(headless("hl"), SLICES).has_endpoints
    assert not ServiceItems(headless("hl"), (endpoints("hl"),)).has_endpoints

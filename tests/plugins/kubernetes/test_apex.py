"""SOA, NS and ns.dns; expectations from the behaviour reference (1.9)."""

import pytest

from pydns.dns.text import to_text
from pydns.dns.types import Type
from pydns.k8s.objects import Endpoint, EndpointSlice, Object
from pydns.plugins.kubernetes.apex import Apex
from pydns.plugins.kubernetes.consent import Tags
from pydns.plugins.kubernetes.records import Asked
from tests.plugins.kubernetes.cluster import HTTP, OBJECTS, FixedSource, cluster_ip, endpoints, headless

TAGS = Tags()
APEX = Asked("cluster.local.", "cluster.local.", "Cluster.local.", "Cluster.local.", Type.NS)
BEHIND = EndpointSlice("kube-system", "dns-1", "dns", "IPv4", (Endpoint("10.1.0.5"), Endpoint("10.1.0.6")), (HTTP,))
DNS = cluster_ip("dns", "10.96.0.10", "fd00:96::a", namespace="kube-system")


def make_apex(*objects: Object, ttl: int = 5, local: tuple[str, ...] = ("10.1.0.5", "fd00:1::5")) -> Apex:
    apex = Apex(FixedSource(objects).store, TAGS, ttl, pod_names=False)
    apex.local = local
    return apex


def name_servers(apex: Apex) -> tuple[list[str], list[str]]:
    answer, additional = apex.name_servers(APEX, apex.servers())
    return [to_text(one) for one in answer], [to_text(one) for one in additional]


@pytest.mark.parametrize("ttl, soa_ttl", [(5, 5), (0, 0), (300, 300), (3600, 300)])
def test_the_soa_record(ttl: int, soa_ttl: int) -> None:
    serial = "1700000000 7200 1800 86400"
    record = make_apex(*OBJECTS, ttl=ttl).soa("Cluster.local.")[0]
    assert to_text(record) == (
        f"Cluster.local. {soa_ttl} IN SOA ns.dns.Cluster.local. hostmaster.Cluster.local. {serial} {ttl}"
    )


def test_the_serial_is_0_before_any_object_and_moves_with_them() -> None:
    source = FixedSource()
    apex = Apex(source.store, TAGS, 5, pod_names=False)
    assert " 0 7200 " in to_text(apex.soa("z.")[0])
    source.store.put(cluster_ip("web", "10.96.0.1"))
    assert " 1700000000 7200 " in to_text(apex.soa("z.")[0])
    assert to_text(apex.soa("in-addr.arpa.")[0]).startswith("in-addr.arpa. ")


def test_the_soa_record_is_the_same_object_while_nothing_changes() -> None:
    """What is known of its octets is known by that."""
    source = FixedSource()
    apex = Apex(source.store, TAGS, 5, pod_names=False)
    first = apex.soa("z.")
    assert apex.soa("z.") is first
    assert apex.soa("Z.") is not first
    again = apex.soa("z.")
    source.store.put(cluster_ip("web", "10.96.0.1"))
    assert apex.soa("z.") is not again


def test_the_root_zone() -> None:
    assert to_text(make_apex().soa(".")[0]).startswith(". 5 IN SOA ns.dns. hostmaster. ")


def test_own_addresses_where_no_service_is_in_front() -> None:
    assert name_servers(make_apex(*OBJECTS)) == (
        ["Cluster.local. 5 IN NS ns.dns.Cluster.local."],
        ["ns.dns.Cluster.local. 5 IN A 10.1.0.5", "ns.dns.Cluster.local. 5 IN AAAA fd00:1::5"],
    )


def test_the_service_in_front() -> None:
    assert name_servers(make_apex(BEHIND, DNS)) == (
        ["Cluster.local. 5 IN NS dns.kube-system.svc.Cluster.local."],
        [
            "dns.kube-system.svc.Cluster.local. 5 IN A 10.96.0.10",
            "dns.kube-system.svc.Cluster.local. 5 IN AAAA fd00:96::a",
        ],
    )


def test_every_endpoint_of_a_headless_service_in_front() -> None:
    part = endpoints("dns", Endpoint("10.1.0.5", hostname="a"), Endpoint("10.1.0.6"))
    assert name_servers(make_apex(part, headless("dns"))) == (
        [
            "Cluster.local. 5 IN NS a.dns.shop.svc.Cluster.local.",
            "Cluster.local. 5 IN NS 10-1-0-6.dns.shop.svc.Cluster.local.",
        ],
        [
            "a.dns.shop.svc.Cluster.local. 5 IN A 10.1.0.5",
            "10-1-0-6.dns.shop.svc.Cluster.local. 5 IN A 10.1.0.6",
        ],
    )


def test_two_own_addresses_behind_one_service_repeat_its_addresses() -> None:
    part = EndpointSlice("kube-system", "dns-6", "dns", "IPv6", (Endpoint("fd00:1::5"),), (HTTP,))
    answer, additional = name_servers(make_apex(BEHIND, part, DNS))
    assert (len(answer), len(additional)) == (1, 4)


@pytest.mark.parametrize("objects, local", [([BEHIND], ("10.1.0.5",)), ([], ())])
def test_nobody(objects: list[Object], local: tuple[str, ...]) -> None:
    assert name_servers(make_apex(*objects, local=local)) == ([], [])


def test_the_data_looked_at() -> None:
    own = {TAGS.address("10.1.0.5"), TAGS.address("fd00:1::5")}
    assert set(make_apex(*OBJECTS).servers().tags) == own
    assert set(make_apex(BEHIND, DNS).servers().tags) == own | {
        TAGS.service("kube-system", "dns"),
        TAGS.endpoints("kube-system", "dns"),
    }

"""Names of addresses; expectations from the behaviour reference (1.8)."""

import pytest

from pydns.k8s.objects import Endpoint, EndpointSlice, Namespace
from pydns.plugins.kubernetes.consent import Tags
from pydns.plugins.kubernetes.options import KubernetesOptions
from pydns.plugins.kubernetes.reverse import Reverse
from pydns.plugins.kubernetes.tree import Tree
from tests.plugins.kubernetes.cluster import HTTP, OBJECTS, FixedSource, cluster_ip, endpoints

TAGS = Tags()


def make_reverse(source: FixedSource, *namespaces: str, pod_names: bool = False) -> Reverse:
    tree = Tree(source.store, KubernetesOptions(namespaces=namespaces), TAGS)
    return Reverse(source.store, tree, TAGS, "cluster.local.", filtered=bool(namespaces), pod_names=pod_names)


@pytest.mark.parametrize(
    "address, names",
    [
        ("10.96.1.1", ["web.shop.svc.cluster.local."]),
        ("fd00:10:96::2", ["dual.shop.svc.cluster.local."]),
        ("10.244.0.21", ["10-244-0-21.web.shop.svc.cluster.local."]),
        ("10.244.0.22", ["named.web.shop.svc.cluster.local."]),
        ("10.244.0.1", ["a.hl.shop.svc.cluster.local."] * 2),
        ("10.244.0.2", ["10-244-0-2.hl.shop.svc.cluster.local."]),
        ("fd00:244::", ["fd00-244--0.hl.shop.svc.cluster.local."]),
        ("10.244.0.3", []),
        ("10.244.7.7", []),
    ],
)
def test_names_of_addresses(address: str, names: list[str]) -> None:
    found, tags = make_reverse(FixedSource(OBJECTS)).names(address)
    assert found == names
    assert tags == [TAGS.address(address)]


def test_every_service_that_an_endpoint_is_behind() -> None:
    other = endpoints("metrics", Endpoint("10.244.0.21"))
    found, _ = make_reverse(FixedSource([*OBJECTS, other])).names("10.244.0.21")
    assert found == [f"10-244-0-21.{service}.shop.svc.cluster.local." for service in ("metrics", "web")]


def test_a_cluster_ip_hides_endpoints_with_that_address() -> None:
    found, _ = make_reverse(FixedSource([*OBJECTS, endpoints("web", Endpoint("10.96.1.2"), part=2)])).names("10.96.1.2")
    assert found == ["dual.shop.svc.cluster.local."]


def test_pod_names() -> None:
    found, _ = make_reverse(FixedSource(OBJECTS), pod_names=True).names("10.244.0.2")
    assert found == ["hl-pod-2.hl.shop.svc.cluster.local."]


def test_a_slice_of_no_service_names_nothing() -> None:
    lost = EndpointSlice("shop", "lost", "", "IPv4", (Endpoint("10.244.9.9"),), (HTTP,))
    assert make_reverse(FixedSource([lost])).names("10.244.9.9")[0] == []


@pytest.mark.parametrize(
    "namespaces, found, looked_at",
    [
        ([], ["web.other.svc.cluster.local."], []),
        (["other", "shop"], ["web.other.svc.cluster.local."], ["other"]),
        (["shop"], ["web.shop.svc.cluster.local."], ["other", "shop"]),
        (["default"], [], ["other", "shop"]),
    ],
)
def test_hidden_namespaces_only_where_namespaces_are_listed(
    namespaces: list[str], found: list[str], looked_at: list[str]
) -> None:
    objects = [*OBJECTS, Namespace("other"), cluster_ip("web", "10.96.1.1", namespace="other")]
    names, tags = make_reverse(FixedSource(objects), *namespaces).names("10.96.1.1")
    assert names == found
    assert tags == [TAGS.address("10.96.1.1"), *map(TAGS.namespace, looked_at)]


def test_a_deleted_namespace_hides_nothing_where_none_are_listed() -> None:
    found, _ = make_reverse(FixedSource([cluster_ip("web", "10.96.1.1")])).names("10.96.1.1")
    assert found == ["web.shop.svc.cluster.local."]

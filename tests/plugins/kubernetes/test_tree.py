"""Which names exist; expectations from the behaviour reference (1.4, 1.7, 1.13)."""

import pytest

from pydns.k8s.store import Key
from pydns.plugins.kubernetes.consent import Tags
from pydns.plugins.kubernetes.options import KubernetesOptions
from pydns.plugins.kubernetes.qname import NODE, Name
from pydns.plugins.kubernetes.tree import Found, Tree, pod_address
from tests.plugins.kubernetes.cluster import OBJECTS, FixedSource, cluster_ip
from tests.support import corefile_lines

TAGS = Tags()


def make_tree(options: str = "", source: FixedSource | None = None) -> Tree:
    (line,) = corefile_lines(f"kubernetes cluster.local {{\n{options}\n}}")
    source = source or FixedSource(OBJECTS)
    return Tree(source.store, KubernetesOptions.parse(line), TAGS)


def shape(found: Found) -> str:
    if not found.exists:
        return "missing"
    return f"{len(found.items)} items" if found.items else "empty"


@pytest.mark.parametrize(
    "options, name, found",
    [
        ("", None, "missing"),
        ("", NODE, "empty"),
        ("", Name("svc", "shop"), "empty"),
        ("", Name("svc", "bare"), "empty"),
        ("", Name("svc", "nope"), "missing"),
        ("", Name("svc", "shop", "web"), "1 items"),
        ("", Name("svc", "shop", "nosuch"), "missing"),
        ("", Name("svc", "nope", "web"), "missing"),
        ("", Name("svc", "shop", "hlnr"), "missing"),
        ("", Name("svc", "shop", "noep"), "1 items"),
        ("", Name("pod", "shop"), "missing"),
        ("", Name("pod", "shop", "10-244-0-21"), "missing"),
        ("pods insecure", Name("pod", "shop"), "empty"),
        ("pods insecure", Name("pod", "nope"), "missing"),
        ("pods insecure", Name("pod", "shop", "1-2-3-4"), "1 items"),
        ("pods insecure", Name("pod", "nope", "1-2-3-4"), "missing"),
        ("pods insecure", Name("pod", "shop", "1-2-3"), "missing"),
        ("pods insecure", Name("pod", "shop", "2001-db8--1"), "1 items"),
        ("pods verified", Name("pod", "shop"), "empty"),
        ("pods verified", Name("pod", "shop", "10-244-0-21"), "1 items"),
        ("pods verified", Name("pod", "shop", "10-244-7-7"), "1 items"),
        ("pods verified", Name("pod", "shop", "1-2-3-4"), "missing"),
        ("pods verified", Name("pod", "default", "10-244-0-21"), "missing"),
        ("pods verified", Name("pod", "shop", "2001-db8--1"), "1 items"),
        ("pods verified", Name("pod", "shop", "2001-db8-0--1"), "missing"),
        ("namespaces shop nope", Name("svc", "shop"), "empty"),
        ("namespaces shop nope", Name("svc", "nope"), "missing"),
        ("namespaces shop nope", Name("svc", "default"), "missing"),
        ("namespaces shop nope", Name("svc", "default", "kubernetes"), "missing"),
        ("ignore empty_service", Name("svc", "shop", "noep"), "missing"),
        ("ignore empty_service", Name("svc", "shop", "web"), "1 items"),
        ("ignore empty_service", Name("svc", "shop", "ext"), "1 items"),
        ("zonal", Name("svc", "shop", "hl", zone="zone-a"), "1 items"),
        ("zonal", Name("svc", "shop", "hl", zone="nowhere"), "empty"),
        ("zonal", Name("svc", "shop", "hlnr", zone="zone-a"), "empty"),
        ("zonal", Name("svc", "shop", "web", zone="zone-a"), "missing"),
        ("zonal", Name("svc", "shop", "nosuch", zone="zone-a"), "missing"),
        ("endpoint_pod_names", Name("svc", "shop", "hl", "hl-pod-2"), "1 items"),
    ],
)
def test_what_exists(options: str, name: Name | None, found: str) -> None:
    assert shape(make_tree(options).find(name)) == found


def test_the_data_looked_at() -> None:
    tree = make_tree("pods verified")
    shop = TAGS.namespace("shop")
    assert tree.find(NODE).tags == ()
    assert tree.find(Name("svc", "shop")).tags == (shop,)
    assert tree.find(Name("svc", "nope", "web")).tags == (TAGS.namespace("nope"),)
    assert tree.find(Name("svc", "shop", "nosuch")).tags == (shop, TAGS.service("shop", "nosuch"))
    assert tree.find(Name("pod", "shop", "1-2-3-4")).tags == (shop, TAGS.pod("1.2.3.4"))


@pytest.mark.parametrize(
    "options, name, of_endpoints",
    [
        ("", Name("svc", "shop", "web"), False),
        ("", Name("svc", "shop", "web", port="http", protocol="tcp"), False),
        ("", Name("svc", "shop", "web", "10-244-0-21"), True),
        ("", Name("svc", "shop", "web", "nosuch"), True),
        ("", Name("svc", "shop", "hl"), True),
        ("", Name("svc", "shop", "hl", port="http", protocol="tcp"), True),
        ("", Name("svc", "shop", "ext"), False),
        ("", Name("svc", "shop", "nosuch"), False),
        ("ignore empty_service", Name("svc", "shop", "web"), True),
        ("ignore empty_service", Name("svc", "shop", "noep"), True),
    ],
)
def test_slices_count_where_they_were_looked_at(options: str, name: Name, of_endpoints: bool) -> None:
    found = make_tree(options).find(name)
    assert (TAGS.endpoints("shop", name.service) in found.tags) is of_endpoints
    assert found.of_endpoints is of_endpoints or found.service is None
    assert TAGS.service("shop", name.service) in found.tags


@pytest.mark.parametrize("zone, service", [("", ("shop", "hl")), ("zone-a", None), ("made-up", None)])
def test_a_name_with_a_label_that_may_be_anything_belongs_to_no_service(zone: str, service: Key | None) -> None:
    assert make_tree("zonal").find(Name("svc", "shop", "hl", zone=zone)).service == service


def test_items_are_kept_until_their_service_changes() -> None:
    source = FixedSource(OBJECTS)
    tree = make_tree(source=source)
    name = Name("svc", "shop", "web")
    before = tree.find(name).items
    source.store.put(cluster_ip("dual", "10.96.1.99"))
    assert tree.find(name).items is before
    source.store.put(cluster_ip("web", "10.96.1.98"))
    assert [item.rdata for item in tree.find(name).items] == [bytes([10, 96, 1, 98])]


@pytest.mark.parametrize(
    "label, address",
    [
        ("1-2-3-4", "1.2.3.4"),
        ("2001-db8--1", "2001:db8::1"),
        ("1--2-3", "1::2:3"),
        ("1-2-3-4-5", "1:2:3:4:5"),
        ("--1", "::1"),
        ("foo", "foo"),
    ],
)
def test_the_address_of_a_pods_label(label: str, address: str) -> None:
    assert pod_address(label) == address

"""What a control plane would add to manifests."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.k8s.derive import build
from pydns.k8s.documents import ManifestError, parse
from pydns.k8s.objects import NO_PORT, Endpoint, EndpointSlice, Kind, Port, Service
from pydns.k8s.selectors import Selector
from pydns.k8s.source import Interest
from pydns.k8s.store import Store

ALL = Interest(pods=True)
SERVICES_V4 = ip_network("10.96.0.0/12")
SERVICES_V6 = ip_network("fd00:10:96::/112")


def cluster(*manifests: str, interest: Interest = ALL) -> Store:
    store = Store(interest.kinds)
    documents = list(parse("a.yaml", "---\n".join(manifests).encode()))
    for kind, items in build(documents, interest).items():
        store.replace(kind, items)
    return store


def service(spec: str = "", name: str = "web", meta: str = "") -> str:
    return f"kind: Service\nmetadata: {{name: {name}, namespace: shop, {meta}}}\nspec: {{{spec}}}\n"


def pod(name: str, ip: str, spec: str = "", status: str = "", labels: str = "app: web") -> str:
    return (
        f"kind: Pod\nmetadata: {{name: {name}, namespace: shop, labels: {{{labels}}}}}\n"
        f"spec: {{{spec}}}\nstatus: {{podIP: '{ip}', {status}}}\n"
    )


def web(store: Store) -> Service:
    found = store.service("shop", "web")
    assert found is not None
    return found


def slices(*manifests: str) -> tuple[EndpointSlice, ...]:
    return cluster(*manifests).slices("shop", "web")


def test_an_empty_cluster_has_what_every_cluster_has() -> None:
    store = cluster()
    assert sorted(one.name for one in store.namespaces()) == ["default", "kube-system"]
    assert list(store.services()) == [
        Service("default", "kubernetes", "ClusterIP", ("10.96.0.1",), ports=(Port("https", 443, "TCP"),))
    ]


def test_kubernetes_service_that_is_written_out_wins() -> None:
    store = cluster("kind: Service\nmetadata: {name: kubernetes}\nspec: {clusterIP: 10.96.7.7}\n")
    assert [one.cluster_ips for one in store.services()] == [("10.96.7.7",)]


def test_namespaces_are_implied_by_objects() -> None:
    config = "kind: ConfigMap\nmetadata: {name: c, namespace: config}\n"
    role = "kind: ClusterRole\nmetadata: {name: system:c}\n"
    store = cluster(service(), config, role, "kind: Namespace\nmetadata: {name: bare}\n")
    assert sorted(one.name for one in store.namespaces()) == ["bare", "config", "default", "kube-system", "shop"]


@pytest.mark.parametrize(
    ("spec", "networks"),
    [
        ("", [SERVICES_V4]),
        ("clusterIP: ''", [SERVICES_V4]),
        ("type: NodePort", [SERVICES_V4]),
        ("type: LoadBalancer", [SERVICES_V4]),
        ("ipFamilies: [IPv6]", [SERVICES_V6]),
        ("ipFamilyPolicy: SingleStack", [SERVICES_V4]),
        ("ipFamilyPolicy: PreferDualStack", [SERVICES_V4, SERVICES_V6]),
        ("ipFamilyPolicy: RequireDualStack, ipFamilies: [IPv6]", [SERVICES_V6, SERVICES_V4]),
        ("ipFamilies: [IPv6, IPv4]", [SERVICES_V6, SERVICES_V4]),
        ("clusterIP: 10.96.5.5, ipFamilyPolicy: PreferDualStack", [ip_network("10.96.5.5"), SERVICES_V6]),
        ("clusterIPs: ['fd00:10:96::5', 10.96.5.5]", [ip_network("fd00:10:96::5"), ip_network("10.96.5.5")]),
    ],
)
def test_cluster_ips(spec: str, networks: list[object]) -> None:
    found = web(cluster(service(spec))).cluster_ips
    assert len(found) == len(networks)
    for address, network in zip(found, networks, strict=True):
        assert ip_address(address) in network  # type: ignore[operator]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("clusterIP: None", Service("shop", "web", "ClusterIP", ("None",), ports=(Port("", NO_PORT, ""),))),
        (
            "type: ExternalName, externalName: db.example.com",
            Service("shop", "web", "ExternalName", ("",), "db.example.com", (Port("", NO_PORT, ""),)),
        ),
        (
            "clusterIP: 10.96.5.5, "
            "ports: [{name: http, port: 80, targetPort: 8080}, {name: dns, port: 53, protocol: UDP}]",
            Service(
                *("shop", "web", "ClusterIP", ("10.96.5.5",)),
                ports=(Port("http", 80, "TCP"), Port("dns", 53, "UDP")),
            ),
        ),
    ],
)
def test_services_as_written(spec: str, expected: Service) -> None:
    assert web(cluster(service(spec))) == expected


def test_service_without_a_spec() -> None:
    assert web(cluster("kind: Service\nmetadata: {name: web, namespace: shop}\n")).type == "ClusterIP"


@given(st.sets(st.sampled_from([f"s{number}" for number in range(40)])), st.sampled_from(["a", "s7", "zz"]))
def test_adding_a_service_moves_no_other(names: set[str], new: str) -> None:
    def addresses(names: set[str]) -> set[tuple[str, str]]:
        store = cluster(*(service(name=name) for name in names))
        return {(one.name, one.cluster_ips[0]) for one in store.services()}

    assert addresses(names) <= addresses(names | {new})


@given(st.permutations([service(), service(name="api"), pod("a", "10.0.0.1"), service("selector: {app: web}", "b")]))
def test_the_order_of_documents_does_not_matter(manifests: list[str]) -> None:
    ordered, shuffled = cluster(*sorted(manifests)), cluster(*manifests)
    assert list(ordered.services()) == list(shuffled.services())
    assert ordered.slices("shop", "b") == shuffled.slices("shop", "b")


def test_of_two_documents_for_one_object_the_later_counts() -> None:
    store = cluster(service("clusterIP: 10.96.5.5"), service("clusterIP: 10.96.6.6"))
    assert web(store).cluster_ips == ("10.96.6.6",)


SELECTING = "clusterIP: None, selector: {app: web}"
HTTP = "ports: [{name: http, port: 80, targetPort: web}]"
CONTAINER = "containers: [{ports: [{name: web, containerPort: 8080}]}]"


def test_slices_hold_the_selected_pods() -> None:
    found = slices(
        service(f"selector: {{app: web, tier: front}}, {HTTP}"),
        pod("a", "10.0.0.1", CONTAINER, labels="app: web, tier: front"),
        pod("b", "10.0.0.2", CONTAINER, labels="app: web, tier: front, extra: x"),
        pod("c", "10.0.0.3", CONTAINER, labels="app: web"),
        pod("d", "10.0.0.4", CONTAINER, labels="app: web, tier: front").replace("shop", "other"),
    )
    assert [one.address_type for one in found] == ["IPv4"]
    assert found[0].endpoints == (Endpoint("10.0.0.1", target="a"), Endpoint("10.0.0.2", target="b"))
    assert found[0].ports == (Port("http", 8080, "TCP"),)
    assert found[0].name.startswith("web-")


@pytest.mark.parametrize(
    ("spec", "addresses"),
    [
        (SELECTING, ["10.0.0.1"]),
        (f"{SELECTING}, publishNotReadyAddresses: true", ["10.0.0.1", "10.0.0.2", "10.0.0.5"]),
    ],
)
def test_readiness(spec: str, addresses: list[str]) -> None:
    ready = "conditions: [{type: Ready, status: 'True'}]"
    unready = "conditions: [{type: Ready, status: 'False'}]"
    found = slices(
        service(spec),
        pod("a", "10.0.0.1", status=ready),
        pod("b", "10.0.0.2", status=unready),
        pod("leaving", "10.0.0.5", status=ready).replace("labels:", "deletionTimestamp: now, labels:"),
        pod("done", "10.0.0.3", status="phase: Succeeded"),
        pod("failed", "10.0.0.4", status="phase: Failed"),
        "kind: Pod\nmetadata: {name: pending, namespace: shop, labels: {app: web}}\nstatus: {phase: Pending}\n",
    )
    assert [endpoint.address for one in found for endpoint in one.endpoints] == addresses


@pytest.mark.parametrize(
    ("spec", "hostname"),
    [
        ("hostname: db-0, subdomain: web", "db-0"),
        ("hostname: db-0, subdomain: other", ""),
        ("hostname: db-0", ""),
        ("subdomain: web", ""),
    ],
)
def test_hostname_counts_where_the_subdomain_is_the_service(spec: str, hostname: str) -> None:
    assert slices(service(SELECTING), pod("a", "10.0.0.1", spec))[0].endpoints == (Endpoint("10.0.0.1", hostname, "a"),)


def test_statefulset_behind_its_headless_service() -> None:
    states = (
        "kind: StatefulSet\nmetadata: {name: db, namespace: shop}\n"
        "spec: {serviceName: web, replicas: 2, template: {metadata: {labels: {app: web}}}}\n"
    )
    found = slices(service(SELECTING), states)[0]
    assert [(one.hostname, one.target) for one in found.endpoints] == [("db-0", "db-0"), ("db-1", "db-1")]
    assert found.ports == (Port("", NO_PORT, ""),)


def test_a_slice_for_each_family() -> None:
    dual = pod("a", "10.0.0.1", status="podIPs: [{ip: 10.0.0.1}, {ip: 'fd00::1'}]")
    single = pod("b", "10.0.0.2")
    found = slices(service(f"{SELECTING}, ipFamilyPolicy: PreferDualStack"), dual, single)
    assert {one.address_type: [endpoint.address for endpoint in one.endpoints] for one in found} == {
        "IPv4": ["10.0.0.1", "10.0.0.2"],
        "IPv6": ["fd00::1"],
    }


def test_a_slice_for_each_set_of_ports_and_each_hundred_pods() -> None:
    found = slices(service(f"selector: {{app: web}}, {HTTP}"), pod("a", "10.0.0.1", CONTAINER), pod("b", "10.0.0.2"))
    assert {one.ports: [endpoint.target for endpoint in one.endpoints] for one in found} == {
        (Port("http", 8080, "TCP"),): ["a"],
        (Port("", NO_PORT, ""),): ["b"],
    }
    many = [pod(f"p{number:03}", f"10.0.{number // 200}.{number % 200}") for number in range(250)]
    assert sorted(len(one.endpoints) for one in slices(service(SELECTING), *many)) == [50, 100, 100]


def test_written_slices_win() -> None:
    written = (
        "kind: EndpointSlice\nmetadata: {name: mine, namespace: shop, labels: {kubernetes.io/service-name: web}}\n"
        "addressType: IPv4\n"
        "endpoints: [{addresses: [192.0.2.1]}, {addresses: [192.0.2.2], conditions: {ready: false}}]\n"
        "ports: [{name: http, port: 80, protocol: TCP}]\n"
    )
    found = slices(service(SELECTING), pod("a", "10.0.0.1"), written)
    assert found == (
        EndpointSlice("shop", "mine", "web", "IPv4", (Endpoint("192.0.2.1"),), (Port("http", 80, "TCP"),)),
    )


@pytest.mark.parametrize("spec", ["", "selector: {}", "type: ExternalName, externalName: a.b, selector: {app: web}"])
def test_services_that_select_nothing_have_no_slices(spec: str) -> None:
    assert slices(service(spec), pod("a", "10.0.0.1")) == ()


def test_selectors_hide_what_the_api_would_not_show() -> None:
    manifests = [
        service("selector: {app: web}", meta="labels: {team: a}"),
        service("selector: {app: web}", name="api"),
        pod("a", "10.0.0.1", labels="app: web, team: a"),
        pod("b", "10.0.0.2"),
        "kind: Namespace\nmetadata: {name: other, labels: {team: a}}\n",
    ]
    interest = Interest(
        pods=True,
        labels=Selector.parse("team=a"),
        namespace_labels=Selector.parse("kubernetes.io/metadata.name in (shop)"),
    )
    store = cluster(*manifests, interest=interest)
    assert [one.name for one in store.services()] == ["web"]
    assert [one.name for one in store.pods()] == ["a"]
    assert [one.name for one in store.namespaces()] == ["shop"]
    # The controller copies a Service's labels to its slices, and puts every Pod into them.
    assert [endpoint.target for one in store.slices("shop", "web") for endpoint in one.endpoints] == ["a", "b"]
    assert store.slices("shop", "api") == ()


def test_kinds_that_are_not_watched_are_left_out() -> None:
    found = build(list(parse("a.yaml", service().encode())), Interest(endpoints=False))
    assert set(found) == {Kind.NAMESPACE, Kind.SERVICE}


@pytest.mark.parametrize("phase", ["Succeeded", "Failed", "Unknown"])
def test_pods_that_ended_are_not_watched(phase: str) -> None:
    assert list(cluster(pod("a", "10.0.0.1", status=f"phase: {phase}")).pods()) == []


LABEL = "is no DNS label: lower-case letters, digits and '-', at most 63"


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        (
            service("clusterIP: 10.96.0.300"),
            "3 - Service shop/web: spec.clusterIP: '10.96.0.300' is no IP address, and not None",
        ),
        (service("ipFamilies: [IPv5]"), "3 - Service shop/web: spec.ipFamilies: 'IPv5' is neither IPv4 nor IPv6"),
        (service("ports: [{name: a}]"), "3 - Service shop/web: spec.ports[0].port: a number from 1 to 65535 is needed"),
        (
            service("ports: [{port: 65536}]"),
            "3 - Service shop/web: spec.ports[0].port: a number from 1 to 65535 is needed",
        ),
        (
            service("type: ExternalName"),
            "3 - Service shop/web: spec: a Service of type ExternalName needs an externalName",
        ),
        (service(name="Web"), f"2 - Service shop/Web: metadata.name: 'Web' {LABEL}"),
        (service().replace("shop", "the.shop"), f"2 - Service the.shop/web: metadata.namespace: 'the.shop' {LABEL}"),
        ("kind: Namespace\nmetadata: {name: a_b}\n", f"2 - Namespace a_b: metadata.name: 'a_b' {LABEL}"),
        (
            "kind: EndpointSlice\nmetadata: {name: a}\naddressType: IPv4\nendpoints:\n- addresses: [nowhere]\n",
            "5 - EndpointSlice default/a: endpoints[0].addresses: 'nowhere' is no IP address",
        ),
        (
            "kind: Service\nmetadata:\n  name: a\n  labels: {v: 1}\n",
            "4 - Service default/a: metadata.labels[...]: expected a string, got an integer (quote it)",
        ),
    ],
)
def test_errors(manifest: str, error: str) -> None:
    with pytest.raises(ManifestError) as caught:
        cluster(manifest)
    assert str(caught.value) == f"a.yaml:{error}"


def test_addresses_of_type_fqdn_are_names() -> None:
    text = "kind: EndpointSlice\nmetadata: {name: a}\naddressType: FQDN\nendpoints: [{addresses: [db.example.com]}]\n"
    assert cluster(text).endpoints_by_ip("db.example.com") != ()


ENDPOINTS = (
    "kind: Endpoints\nmetadata: {name: web, namespace: shop, labels: {team: a}}\n"
    "subsets:\n- addresses: [{ip: 192.0.2.1, hostname: one}, {ip: '2001:db8::1'}]\n"
    "  notReadyAddresses: [{ip: 192.0.2.2}]\n  ports: [{name: http, port: 8080}]\n"
)


def test_endpoints_are_mirrored_by_family() -> None:
    found = slices(service(), ENDPOINTS)
    http = (Port("http", 8080, "TCP"),)
    assert {one.address_type: (one.endpoints, one.ports) for one in found} == {
        "IPv4": ((Endpoint("192.0.2.1", "one"),), http),
        "IPv6": ((Endpoint("2001:db8::1"),), http),
    }
    assert len({one.name for one in found}) == 2


SLICE = (
    "kind: EndpointSlice\nmetadata: {name: mine, namespace: shop, labels: {kubernetes.io/service-name: web}}\n"
    "addressType: IPv4\nendpoints: [{addresses: [192.0.2.9]}]\n"
)


@pytest.mark.parametrize(
    ("manifests", "addresses"),
    [
        ([ENDPOINTS], []),
        ([service(SELECTING), ENDPOINTS], []),
        ([service(), ENDPOINTS, SLICE], ["192.0.2.9"]),
        ([service(), ENDPOINTS.replace("team: a", "endpointslice.kubernetes.io/skip-mirror: 'true'")], []),
        ([service(), ENDPOINTS.replace("namespace: shop", "namespace: other")], []),
        ([service(), "kind: Endpoints\nmetadata: {name: web, namespace: shop}\n"], []),
    ],
    ids=["no Service", "selector", "slice written out", "not to be mirrored", "other namespace", "no subsets"],
)
def test_endpoints_that_are_not_mirrored(manifests: list[str], addresses: list[str]) -> None:
    assert [endpoint.address for one in slices(*manifests) for endpoint in one.endpoints] == addresses


def test_endpoints_with_an_address_that_is_none() -> None:
    with pytest.raises(ManifestError) as caught:
        slices(service(), ENDPOINTS.replace("192.0.2.2", "db.example.com"))
    assert str(caught.value) == "a.yaml:8 - Endpoints shop/web: subsets[0]: 'db.example.com' is no IP address"


FOREIGN = [
    "resources: [a.yaml]\n",
    "kind: Deployment\nreplicas: 2\n",
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
    "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: Web}\nspec: {template: {}}\n",
    "apiVersion: example.com/v1\nkind: Namespace\nmetadata: 7\n",
    "kind: Config\nmetadata: {name: 7, labels: [1]}\n",
    "- !Ref x\n",
]


@pytest.mark.parametrize("manifest", FOREIGN)
def test_what_is_not_read_is_not_validated(manifest: str) -> None:
    assert list(cluster(manifest).services()) == list(cluster().services())


def test_a_name_is_needed() -> None:
    with pytest.raises(ManifestError) as caught:
        cluster("kind: Pod\nmetadata:\n  labels: {}\n")
    assert str(caught.value) == "a.yaml:2 - Pod: metadata.name is missing, or is no string"

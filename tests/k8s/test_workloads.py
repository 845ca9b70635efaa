"""The Pods of workloads."""

import pytest

from pydns.k8s.addresses import IPV4, IPV6
from pydns.k8s.documents import ManifestError, parse
from pydns.k8s.objects import Pod
from pydns.k8s.workloads import RunningPod, running_pods

TEMPLATE = (
    "template: {metadata: {labels: {app: web}}, spec: {containers: [{ports: [{name: http, containerPort: 8080}]}]}}"
)


def workload(kind: str, name: str = "web", spec: str = "") -> str:
    return (
        f"---\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\n"
        f"spec:\n  selector: {{matchLabels: {{app: web}}}}\n  {TEMPLATE}\n  {spec}\n"
    )


def written(name: str, rest: str = "", meta: str = "labels: {app: web}") -> str:
    return f"---\nkind: Pod\nmetadata: {{name: {name}, namespace: shop, {meta}}}\n{rest}\n"


def pods(*manifests: str) -> list[RunningPod]:
    return running_pods(list(parse("a.yaml", "".join(manifests).encode())))


def names(*manifests: str) -> list[str]:
    return [pod.name for pod in pods(*manifests)]


def test_statefulset_pods_have_ordinals_hostname_and_subdomain() -> None:
    found = pods(workload("StatefulSet", spec="replicas: 3\n  serviceName: headless"))
    assert [(pod.name, pod.hostname, pod.subdomain) for pod in found] == [
        ("web-0", "web-0", "headless"),
        ("web-1", "web-1", "headless"),
        ("web-2", "web-2", "headless"),
    ]


def test_statefulset_ordinals_may_start_elsewhere() -> None:
    assert names(workload("StatefulSet", spec="replicas: 2\n  ordinals: {start: 5}")) == ["web-5", "web-6"]


@pytest.mark.parametrize(
    ("kind", "spec", "count"),
    [
        ("Deployment", "", 1),
        ("Deployment", "replicas: 4", 4),
        ("Deployment", "replicas: 0", 0),
        ("DaemonSet", "", 1),
        ("StatefulSet", "", 1),
    ],
)
def test_replicas(kind: str, spec: str, count: int) -> None:
    found = pods(workload(kind, spec=spec))
    assert len(found) == len({pod.name for pod in found}) == count
    for pod in found:
        assert (pod.namespace, pod.labels, pod.ready) == ("shop", {"app": "web"}, True)
        assert pod.port_number("http", "TCP") == 8080


def test_there_are_not_more_pods_than_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pydns.k8s.workloads.MAX_PODS", 5)
    assert len(pods(workload("Deployment", "a", "replicas: 3"), workload("StatefulSet", "b", "replicas: 2"))) == 5
    with pytest.raises(ManifestError) as caught:
        pods(workload("Deployment", "a", "replicas: 3"), workload("StatefulSet", "b", "replicas: 1000000000000"))
    assert str(caught.value) == "a.yaml:14 - StatefulSet shop/b: spec.replicas: there is room for 5 Pods in all"


def test_deployment_pods_are_named_as_a_replica_set_names_them() -> None:
    first, second = names(workload("Deployment", spec="replicas: 2"))
    deployment, generated, own = first.rsplit("-", 2)
    assert (deployment, len(generated), len(own)) == ("web", 10, 5)
    assert second.startswith(f"web-{generated}-")


def test_a_workload_whose_pods_are_written_out_gets_no_others() -> None:
    other = written("other", meta="labels: {app: api}")
    assert names(workload("Deployment", spec="replicas: 3"), written("web-mine-a"), other) == ["other", "web-mine-a"]
    assert names(workload("DaemonSet"), written("web-mine")) == ["web-mine"]
    assert names(workload("StatefulSet", spec="replicas: 3"), written("web-0"), other) == ["other", "web-0"]
    assert len(names(workload("Deployment", spec="replicas: 3"), other)) == 4


def test_a_pod_written_under_the_name_of_a_derived_one_takes_its_place() -> None:
    one = written("web-1", "status: {podIP: 10.244.0.9}", meta="labels: {}")
    states = pods(workload("StatefulSet", spec="replicas: 2"), one)
    assert [(pod.name, pod.addresses.get(IPV6) is None) for pod in states] == [("web-0", False), ("web-1", True)]


def test_adding_a_replica_moves_no_other_pod() -> None:
    def addresses(replicas: int) -> dict[str, dict[str, str]]:
        return {pod.name: pod.addresses for pod in pods(workload("Deployment", spec=f"replicas: {replicas}"))}

    assert addresses(3).items() < addresses(4).items()


@pytest.mark.parametrize(
    ("status", "ready"),
    [
        ("", True),
        ("status: {}", True),
        ("status: {conditions: [{type: Ready, status: 'True'}]}", True),
        ("status: {conditions: [{type: Ready, status: 'False'}]}", False),
        ("status: {conditions: [{type: Initialized, status: 'True'}]}", False),
        ("status: {conditions: []}", False),
    ],
)
def test_readiness_of_a_written_pod(status: str, ready: bool) -> None:
    assert pods(written("a", status))[0].ready is ready


@pytest.mark.parametrize(
    ("status", "addresses"),
    [
        ("status: {podIP: 10.0.0.1}", {IPV4: "10.0.0.1"}),
        ("status: {podIP: 'fd00::1', podIPs: [{ip: 'fd00::1'}, {ip: 10.0.0.1}]}", {IPV6: "fd00::1", IPV4: "10.0.0.1"}),
        ("status: {phase: Pending}", {}),
    ],
)
def test_addresses_of_a_written_pod(status: str, addresses: dict[str, str]) -> None:
    pod = pods(written("a", status))[0]
    assert pod.addresses == addresses
    assert pod.object() == Pod("shop", "a", next(iter(addresses.values()), ""), (("app", "web"),))


def test_pod_without_an_address_gets_one_of_each_family() -> None:
    addresses = pods(written("a"))[0].addresses
    assert addresses[IPV4].startswith("10.244.")
    assert addresses[IPV6].startswith("fd00:10:244:0:")


def test_terminating_pod() -> None:
    pod = pods(written("a", meta="deletionTimestamp: 2026-01-01T00:00:00Z"))[0]
    assert pod.terminating
    assert pod.object().terminating


def test_named_port_is_looked_up_by_protocol() -> None:
    spec = "spec: {containers: [{}, {ports: [{containerPort: 1}, {name: dns, containerPort: 53, protocol: UDP}]}]}"
    pod = pods(written("a", spec))[0]
    assert pod.port_number("dns", "UDP") == 53
    assert pod.port_number("dns", "TCP") is None


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        (
            written("a", "status: {podIP: 10.0.0.256}"),
            "a.yaml:4 - Pod shop/a: status.podIP: '10.0.0.256' is no IP address",
        ),
        (
            workload("Deployment", spec="replicas: two"),
            "a.yaml:7 - Deployment shop/web: spec.replicas: expected an integer, got a string",
        ),
        (
            "kind: DaemonSet\nmetadata: {name: web}\nspec: {}\n",
            "a.yaml:3 - DaemonSet default/web: spec: object missing required field template",
        ),
        (
            workload("Deployment").replace("matchLabels: {app: web}", "matchExpressions: [{key: a, operator: Is}]"),
            "a.yaml:5 - Deployment shop/web: spec.selector.matchExpressions[0].operator: invalid enum value 'Is'",
        ),
    ],
)
def test_errors(manifest: str, error: str) -> None:
    with pytest.raises(ManifestError) as caught:
        pods(manifest)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("expression", "matched"),
    [
        ("{key: app, operator: In, values: [web, api]}", True),
        ("{key: app, operator: NotIn, values: [web]}", False),
        ("{key: app, operator: Exists}", True),
        ("{key: app, operator: DoesNotExist}", False),
    ],
)
def test_selector_expressions(expression: str, matched: bool) -> None:
    deployment = workload("Deployment", spec="replicas: 2")
    deployment = deployment.replace("matchLabels: {app: web}", f"matchExpressions: [{expression}]")
    assert len(names(deployment, written("mine"))) == (1 if matched else 3)

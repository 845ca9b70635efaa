"""The suite's own controllers: Pods of workloads, EndpointSlices of Services, and what goes with its owner.

What is expected is what kube-controller-manager does (the endpointslice, deployment, statefulset, namespace and
garbage collector controllers).
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kubernetes.fake_api import FakeApi
from conformance.kubernetes.objects import Object


def workload(kind: str, replicas: int, **spec: Any) -> Object:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "ports": PORTS}]}}
    chosen = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": {**chosen, **spec}}


PORTS = [{"name": "http", "containerPort": 8080}]
DEPLOYMENT = workload("Deployment", 2)
STATEFUL_SET = workload("StatefulSet", 2, serviceName="web")
NAMESPACE = {"kind": "Namespace", "metadata": {"name": "shop"}}


def service(**spec: Any) -> Object:
    chosen = {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]}
    return {"kind": "Service", "metadata": {"name": "web", "namespace": "shop"}, "spec": {**chosen, **spec}}


def cluster(*objects: Object) -> FakeApi:
    api = FakeApi(controllers=True)
    api.apply([NAMESPACE, *objects])
    return api


def start(api: FakeApi, name: str, *addresses: str, ready: bool = True) -> None:
    """What scheduler and kubelet do."""
    status = {
        "phase": "Running",
        "podIPs": [{"ip": address} for address in addresses],
        "conditions": [{"type": "Ready", "status": str(ready)}],
    }
    api.patch("Pod", "shop", name, {"spec": {"nodeName": "n"}, "status": status})


def names(api: FakeApi, kind: str) -> list[str]:
    return sorted(name for found, _, name in api.objects if found == kind)


def endpoints(api: FakeApi) -> dict[str, tuple[bool, bool, bool]]:
    """Ready, serving and terminating by address."""
    return {
        endpoint["addresses"][0]: tuple(endpoint["conditions"].values())
        for (kind, *_), object in api.objects.items()
        if kind == "EndpointSlice"
        for endpoint in object["endpoints"]
    }


def the_slice(api: FakeApi) -> Object:
    (found,) = (object for (kind, *_), object in api.objects.items() if kind == "EndpointSlice")
    return found


def test_a_deployment_has_its_pods_made_and_ended() -> None:
    api = cluster(DEPLOYMENT)
    assert names(api, "Pod") == ["web-1", "web-2"]
    start(api, "web-1", "10.0.0.1")
    api.patch("Deployment", "shop", "web", {"spec": {"replicas": 1}})
    assert names(api, "Pod") == ["web-1"], "a Pod without a Node goes first"


def test_the_cheapest_pod_ends_first() -> None:
    api = cluster(DEPLOYMENT)
    start(api, "web-1", "10.0.0.1")
    start(api, "web-2", "10.0.0.2")
    cost = {"controller.kubernetes.io/pod-deletion-cost": "-1"}
    api.patch("Pod", "shop", "web-2", {"metadata": {"annotations": cost}})
    api.patch("Deployment", "shop", "web", {"spec": {"replicas": 1}})
    ends = [name for (_, _, name), pod in api.objects.items() if "deletionTimestamp" in pod["metadata"]]
    assert ends == ["web-2"]


def test_a_relabelled_pod_is_replaced() -> None:
    api = cluster(DEPLOYMENT)
    start(api, "web-1", "10.0.0.1")
    api.patch("Pod", "shop", "web-1", {"metadata": {"labels": {"app": "other"}}})
    assert names(api, "Pod") == ["web-1", "web-2", "web-3"]


def test_pods_of_a_stateful_set_come_one_after_the_other() -> None:
    api = cluster(STATEFUL_SET)
    assert names(api, "Pod") == ["web-0"]
    start(api, "web-0", "10.0.0.1")
    assert names(api, "Pod") == ["web-0", "web-1"]
    api.delete("Pod", "shop", "web-0", at_once=False)
    assert names(api, "Pod") == ["web-0", "web-1"], "the successor waits until it is gone"
    api.delete("Pod", "shop", "web-0")
    assert "podIPs" not in api.objects["Pod", "shop", "web-0"]["status"]


def test_parallel_pods_come_at_once() -> None:
    api = cluster(workload("StatefulSet", 3, serviceName="web", podManagementPolicy="Parallel"))
    assert names(api, "Pod") == ["web-0", "web-1", "web-2"]


def test_a_slice_has_the_pods_of_the_label() -> None:
    api = cluster(DEPLOYMENT, service())
    assert names(api, "EndpointSlice") == []
    start(api, "web-1", "10.0.0.1")
    start(api, "web-2", "10.0.0.2", ready=False)
    found = the_slice(api)
    assert found["metadata"]["labels"] == {"kubernetes.io/service-name": "web"}
    assert (found["addressType"], found["ports"]) == ("IPv4", [{"name": "http", "port": 8080, "protocol": "TCP"}])
    assert endpoints(api) == {"10.0.0.1": (True, True, False), "10.0.0.2": (False, False, False)}
    assert all("hostname" not in endpoint for endpoint in found["endpoints"])


@pytest.mark.parametrize(("published", "ready"), [(False, False), (True, True)])
def test_a_pod_that_ends_is_ready_only_where_the_service_says_so(published: bool, ready: bool) -> None:
    api = cluster(DEPLOYMENT, service(publishNotReadyAddresses=published))
    start(api, "web-1", "10.0.0.1")
    api.delete("Pod", "shop", "web-1", at_once=False)
    assert endpoints(api) == {"10.0.0.1": (ready, True, True)}


def test_pods_of_a_stateful_set_have_host_names() -> None:
    api = cluster(STATEFUL_SET, service())
    start(api, "web-0", "10.0.0.1")
    assert [endpoint["hostname"] for endpoint in the_slice(api)["endpoints"]] == ["web-0"]


def test_each_family_has_a_slice() -> None:
    api = cluster(DEPLOYMENT, service(ipFamilies=["IPv4", "IPv6"]))
    start(api, "web-1", "10.0.0.1", "fd00::1")
    found = [object for (kind, *_), object in api.objects.items() if kind == "EndpointSlice"]
    assert [(each["addressType"], each["endpoints"][0]["addresses"]) for each in found] == [
        ("IPv4", ["10.0.0.1"]),
        ("IPv6", ["fd00::1"]),
    ]


@pytest.mark.parametrize(
    ("target", "port"), [({}, 80), ({"targetPort": 9}, 9), ({"targetPort": "http"}, 8080), ({"targetPort": "no"}, None)]
)
def test_ports_are_those_of_the_pods(target: Object, port: int | None) -> None:
    api = cluster(DEPLOYMENT, service(ports=[{"name": "http", "port": 80, **target}]))
    start(api, "web-1", "10.0.0.1")
    assert [each["port"] for each in the_slice(api)["ports"]] == ([] if port is None else [port])


def test_a_finished_pod_is_no_endpoint() -> None:
    api = cluster(DEPLOYMENT, service())
    start(api, "web-1", "10.0.0.1")
    api.patch("Pod", "shop", "web-1", {"status": {"phase": "Succeeded"}})
    assert endpoints(api) == {}


def test_slices_go_with_their_service() -> None:
    api = cluster(DEPLOYMENT, service())
    start(api, "web-1", "10.0.0.1")
    api.delete("Service", "shop", "web")
    assert names(api, "EndpointSlice") == []


def test_an_external_name_leaves_slices_as_they_are() -> None:
    api = cluster(DEPLOYMENT, service())
    start(api, "web-1", "10.0.0.1")
    api.patch("Service", "shop", "web", {"spec": {"type": "ExternalName"}})
    api.patch("Pod", "shop", "web-1", {"status": {"podIPs": [{"ip": "10.0.0.7"}]}})
    assert list(endpoints(api)) == ["10.0.0.1"]


def test_everything_goes_with_its_namespace() -> None:
    api = cluster(DEPLOYMENT, service())
    start(api, "web-1", "10.0.0.1")
    api.delete("Namespace", "", "shop")
    assert api.objects == {}

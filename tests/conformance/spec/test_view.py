"""Services as the API shows them."""

from typing import Any

import pytest

from conformance.spec.view import Endpoint, Port, Service, read_view

HTTP = Port("http", "TCP", 80)


def service(**spec: Any) -> dict[str, Any]:
    return {"kind": "Service", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


def endpoint_slice(*endpoints: dict[str, Any], kind: str = "IPv4", service: str = "web") -> dict[str, Any]:
    labels = {"kubernetes.io/service-name": service}
    metadata = {"name": "web-1", "namespace": "shop", "labels": labels}
    ports = [{"name": "http", "port": 80, "protocol": "TCP"}]
    return {"kind": "EndpointSlice", "metadata": metadata, "addressType": kind, "endpoints": endpoints, "ports": ports}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"clusterIP": "10.96.0.9"}, Service("shop", "web", "ClusterIP", addresses=("10.96.0.9",))),
        (
            {"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9", "FD00::0:9"]},
            Service("shop", "web", "ClusterIP", addresses=("10.96.0.9", "fd00::9")),
        ),
        ({}, Service("shop", "web", "ClusterIP")),
        ({"clusterIP": "None"}, Service("shop", "web", "headless")),
        (
            {"type": "ExternalName", "externalName": "a.example"},
            Service("shop", "web", "ExternalName", external_name="a.example"),
        ),
        (
            {"clusterIP": "None", "ports": [{"port": 53}, {"name": "dns", "port": 53, "protocol": "UDP"}]},
            Service("shop", "web", "headless", (Port("", "TCP", 53), Port("dns", "UDP", 53))),
        ),
    ],
)
def test_services(spec: dict[str, Any], wanted: Service) -> None:
    assert read_view([service(**spec)]).services == (wanted,)


@pytest.mark.parametrize(
    ("endpoint", "wanted"),
    [
        ({"conditions": {"ready": True}}, Endpoint("192.0.2.1", "", True, (HTTP,))),
        ({"conditions": {"ready": False}}, Endpoint("192.0.2.1", "", False, (HTTP,))),
        ({"conditions": {}}, Endpoint("192.0.2.1", "", True, (HTTP,))),
        ({}, Endpoint("192.0.2.1", "", True, (HTTP,))),
        ({"hostname": "a", "conditions": None}, Endpoint("192.0.2.1", "a", True, (HTTP,))),
        ({"conditions": {"ready": False, "serving": True}}, Endpoint("192.0.2.1", "", False, (HTTP,))),
    ],
)
def test_endpoints(endpoint: dict[str, Any], wanted: Endpoint) -> None:
    objects = [service(clusterIP="None"), endpoint_slice({"addresses": ["192.0.2.1"], **endpoint})]
    assert read_view(objects).services[0].endpoints == (wanted,)


def test_slices_of_other_services_and_of_names_are_left_out() -> None:
    other = endpoint_slice({"addresses": ["192.0.2.1"]}, service="other")
    names = endpoint_slice({"addresses": ["db.example.com"]}, kind="FQDN")
    assert read_view([service(clusterIP="None"), other, names]).services[0].endpoints == ()

"""The API's JSON, with fields that are missing, null or odd."""

import json
from typing import Any

import msgspec
import pytest

from pydns.k8s.objects import NO_PORT, Endpoint, EndpointSlice, Kind, Namespace, Pod, Port, Service
from pydns.k8s.wire import RESOURCES

META = {"namespace": "shop", "name": "web", "resourceVersion": "7"}
SENTINEL = (Port("", NO_PORT, ""),)


def decode(kind: Kind, item: object) -> Any:
    return RESOURCES[kind].convert(RESOURCES[kind].decode(json.dumps(item).encode()))


def spec_of(**spec: object) -> dict[str, object]:
    return {"metadata": META, "spec": spec}


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (
            spec_of(
                type="ClusterIP",
                clusterIP="10.96.1.1",
                clusterIPs=["10.96.1.1", "fd00:10:96::1"],
                ports=[{"name": "http", "port": 80, "protocol": "TCP", "targetPort": "http"}, {"port": 53}],
            ),
            Service(
                *("shop", "web", "ClusterIP", ("10.96.1.1", "fd00:10:96::1")),
                ports=(Port("http", 80, "TCP"), Port("", 53, "")),
            ),
        ),
        (
            spec_of(type="ClusterIP", clusterIP="None", ports=None),
            Service("shop", "web", "ClusterIP", ("None",), ports=SENTINEL),
        ),
        (
            spec_of(type="ExternalName", externalName="db.example.com"),
            Service("shop", "web", "ExternalName", ("",), "db.example.com", SENTINEL),
        ),
        (
            {
                **spec_of(type="LoadBalancer", clusterIPs=["10.96.1.2"], externalIPs=["192.0.2.1"]),
                "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.2"}, {"hostname": "lb.example.com"}]}},
            },
            Service(
                *("shop", "web", "LoadBalancer", ("10.96.1.2",), "", SENTINEL),
                ("192.0.2.1", "192.0.2.2", "lb.example.com"),
            ),
        ),
        ({"metadata": META}, Service("shop", "web", "", ("",), ports=SENTINEL)),
        (
            {"metadata": META, "spec": None, "status": {"loadBalancer": {"ingress": None}}},
            Service("shop", "web", "", ("",), ports=SENTINEL),
        ),
        ({}, Service("", "", "", ("",), ports=SENTINEL)),
    ],
    ids=["dual stack", "headless", "external name", "load balancer", "no spec", "null spec", "nothing"],
)
def test_service(wire: object, expected: Service) -> None:
    assert decode(Kind.SERVICE, wire) == expected


def slice_wire(**fields: object) -> dict[str, object]:
    metadata = {**META, "name": "web-x", "labels": {"kubernetes.io/service-name": "web"}}
    return {"metadata": metadata, "addressType": "IPv4", **fields}


def slice_with(*endpoints: Endpoint, ports: tuple[Port, ...] = SENTINEL) -> EndpointSlice:
    return EndpointSlice("shop", "web-x", "web", "IPv4", endpoints, ports)


@pytest.mark.parametrize(
    ("endpoint", "kept"),
    [
        ({"addresses": ["10.0.0.1"]}, [Endpoint("10.0.0.1")]),
        ({"addresses": ["10.0.0.1"], "conditions": {}}, [Endpoint("10.0.0.1")]),
        ({"addresses": ["10.0.0.1"], "conditions": {"ready": None}}, [Endpoint("10.0.0.1")]),
        ({"addresses": ["10.0.0.1"], "conditions": {"ready": True, "terminating": True}}, [Endpoint("10.0.0.1")]),
        ({"addresses": ["10.0.0.1"], "conditions": {"ready": False, "serving": True}}, []),
        (
            {"addresses": ["10.0.0.1", "10.0.0.2"], "hostname": "a"},
            [Endpoint("10.0.0.1", "a"), Endpoint("10.0.0.2", "a")],
        ),
        ({"addresses": ["10.0.0.1"], "targetRef": {"name": "web-0"}}, [Endpoint("10.0.0.1", target="web-0")]),
        ({"addresses": ["10.0.0.1"], "targetRef": {"name": "x" * 63}}, [Endpoint("10.0.0.1", target="x" * 63)]),
        ({"addresses": ["10.0.0.1"], "targetRef": {"name": "x" * 64}}, [Endpoint("10.0.0.1")]),
        ({"addresses": ["10.0.0.1"], "zone": "EU-1a", "hostname": None}, [Endpoint("10.0.0.1", zone="eu-1a")]),
        ({"addresses": None}, []),
        ({}, []),
    ],
)
def test_endpoints_of_a_slice(endpoint: object, kept: list[Endpoint]) -> None:
    assert decode(Kind.SLICE, slice_wire(endpoints=[endpoint])) == slice_with(*kept)


@pytest.mark.parametrize(
    ("ports", "kept"),
    [
        ([{"name": "http", "port": 80, "protocol": "TCP"}], (Port("http", 80, "TCP"),)),
        ([{"name": None, "port": None, "protocol": None}], SENTINEL),
        ([{"name": "http"}], (Port("http", NO_PORT, ""),)),
        ([], SENTINEL),
        (None, SENTINEL),
    ],
)
def test_ports_of_a_slice(ports: object, kept: tuple[Port, ...]) -> None:
    assert decode(Kind.SLICE, slice_wire(ports=ports, endpoints=None)) == slice_with(ports=kept)


def test_slice_without_labels_and_with_an_unknown_address_type() -> None:
    wire = {"metadata": META, "addressType": "Carrier", "endpoints": [{"addresses": ["pigeon"]}]}
    assert decode(Kind.SLICE, wire) == EndpointSlice("shop", "web", "", "Carrier", (Endpoint("pigeon"),), SENTINEL)


def test_slice_keeps_its_trigger_time() -> None:
    annotations = {"endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z"}
    wire = slice_wire()
    wire["metadata"] = {**META, "annotations": annotations}
    assert decode(Kind.SLICE, wire).trigger_time == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        ({"metadata": META, "status": {"podIP": "10.0.0.1"}}, Pod("shop", "web", "10.0.0.1")),
        ({"metadata": {**META, "labels": {"app": "web"}}}, Pod("shop", "web", "", (("app", "web"),))),
        (
            {"metadata": {**META, "deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"podIP": None}},
            Pod("shop", "web", "", terminating=True),
        ),
        ({"metadata": {**META, "labels": None, "deletionTimestamp": None}, "status": None}, Pod("shop", "web", "")),
    ],
)
def test_pod(wire: object, expected: Pod) -> None:
    assert decode(Kind.POD, wire) == expected


def test_namespace() -> None:
    assert decode(Kind.NAMESPACE, {"metadata": {"name": "shop"}, "status": {"phase": "Active"}}) == Namespace("shop")


@pytest.mark.parametrize("wire", [[], "text", {"spec": {"ports": 80}}, {"spec": {"clusterIP": 10}}, {"metadata": None}])
def test_wrong_types_are_decode_errors(wire: object) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(Kind.SERVICE, wire)


def test_equal_ports_are_one_object() -> None:
    first, second = (decode(Kind.SLICE, slice_wire(ports=[{"name": "p", "port": 1}])) for _ in range(2))
    assert first.ports[0] is second.ports[0]


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (Kind.NAMESPACE, "/api/v1/namespaces"),
        (Kind.SERVICE, "/api/v1/services"),
        (Kind.SLICE, "/apis/discovery.k8s.io/v1/endpointslices"),
        (Kind.POD, "/api/v1/pods"),
    ],
)
def test_paths(kind: Kind, path: str) -> None:
    assert RESOURCES[kind].path == path
    ended = "status.phase!=Succeeded,status.phase!=Failed,status.phase!=Unknown"
    assert RESOURCES[kind].field_selector == (ended if kind is Kind.POD else "")

"""The cluster that the benchmark serves, as the API writes it in JSON. Pure; knows no servers and no questions."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from conformance.kubernetes.objects import Object

NAMESPACES = 20
HEADLESS_EVERY = 10
"""Every tenth Service is headless."""

ENDPOINTS = 10
"""Endpoints of each Service."""

PORTS = ("http", "metrics")


def namespaces() -> Iterator[Object]:
    """All of them, whatever the number of Services."""
    for number in range(NAMESPACES):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"ns-{number}"}}


def services(first: int, end: int) -> Iterator[Object]:
    """Services `first` to `end` (not included), each with its EndpointSlice."""
    for number in range(first, end):
        yield service(number)
        yield endpoint_slice(number)


def namespace_of(number: int) -> str:
    return f"ns-{number % NAMESPACES}"


def name_of(number: int) -> str:
    return f"svc-{number}"


def slice_of(number: int) -> str:
    """The name of a Service's EndpointSlice."""
    return f"{name_of(number)}-x"


def is_headless(number: int) -> bool:
    return number % HEADLESS_EVERY == 0


def cluster_ip(number: int) -> str:
    """From 10.96.0.0/12, which is the API's range for Services."""
    return f"10.{96 + number // 62500}.{number // 250 % 250}.{number % 250 + 2}"


def service(number: int) -> Object:
    """Service `svc-NUMBER` with the ports http and metrics."""
    return named_service(namespace_of(number), name_of(number), "None" if is_headless(number) else cluster_ip(number))


def named_service(namespace: str, name: str, address: str) -> Object:
    """A Service with this ClusterIP, or without one (`None`)."""
    ports = [{"name": "http", "port": 80, "protocol": "TCP"}, {"name": "metrics", "port": 9090, "protocol": "TCP"}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"type": "ClusterIP", "clusterIP": address, "clusterIPs": [address], "ports": ports},
    }


def endpoint_slice(number: int, turn: int = 0) -> Object:
    """Its ready endpoints, Pods named as a StatefulSet's where the Service is headless; `turn` as in `addresses`."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": slice_of(number),
            "namespace": namespace_of(number),
            "labels": {"kubernetes.io/service-name": name_of(number)},
        },
        "addressType": "IPv4",
        "endpoints": endpoints(number, turn),
        "ports": [
            {"name": "http", "port": 8080, "protocol": "TCP"},
            {"name": "metrics", "port": 9090, "protocol": "TCP"},
        ],
    }


def endpoints(number: int, turn: int = 0) -> list[Object]:
    """What a slice lists."""
    return [_endpoint(number, index, address) for index, address in enumerate(addresses(number, turn))]


def _endpoint(number: int, index: int, address: str) -> Object:
    name = f"{name_of(number)}-{index}"
    found: Object = {
        "addresses": [address],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "nodeName": f"node-{index}",
        "targetRef": {"kind": "Pod", "name": name, "namespace": namespace_of(number)},
    }
    return found | ({"hostname": name} if is_headless(number) else {})


def addresses(number: int, turn: int = 0) -> list[str]:
    """The addresses of a Service's endpoints after its slice changed `turn` times: each time the first is another."""
    places = range(number * ENDPOINTS, (number + 1) * ENDPOINTS)
    found = [f"10.{128 + place // 62500}.{place // 250 % 250}.{place % 250 + 2}" for place in places]
    return [str(IPv4Address("11.0.0.0") + (turn * 65536 + number) % 2**24), *found[1:]] if turn else found

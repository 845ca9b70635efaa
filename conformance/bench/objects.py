"""The cluster that the benchmark serves, and the questions that its clients ask. Knows no servers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from conformance.kubernetes.objects import Object

NAMESPACES = 20
HEADLESS_EVERY = 10
"""Every tenth Service is headless."""

SEARCH = ("{namespace}.svc.cluster.local.", "svc.cluster.local.", "cluster.local.")
"""The search list of a Pod (kubelet, dnsPolicy ClusterFirst)."""


def cluster(services: int, endpoints: int) -> Iterator[Object]:
    """Namespaces, Services and one EndpointSlice for each, as the API writes them in JSON."""
    for number in range(NAMESPACES):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"ns-{number}"}}
    for number in range(services):
        yield service(number)
        yield endpoint_slice(number, endpoints)


def namespace_of(number: int) -> str:
    return f"ns-{number % NAMESPACES}"


def is_headless(number: int) -> bool:
    return number % HEADLESS_EVERY == 0


def cluster_ip(number: int) -> str:
    return f"10.{96 + number // 62500}.{number // 250 % 250}.{number % 250 + 2}"


def service(number: int) -> Object:
    """Service `svc-NUMBER` with the ports http and metrics."""
    address = "None" if is_headless(number) else cluster_ip(number)
    ports = [{"name": "http", "port": 80, "protocol": "TCP"}, {"name": "metrics", "port": 9090, "protocol": "TCP"}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"svc-{number}", "namespace": namespace_of(number)},
        "spec": {"type": "ClusterIP", "clusterIP": address, "clusterIPs": [address], "ports": ports},
    }


def endpoint_slice(number: int, endpoints: int) -> Object:
    """Its ready endpoints, Pods named as a StatefulSet's where the Service is headless."""

    def endpoint(index: int) -> Object:
        place = number * endpoints + index
        found: Object = {
            "addresses": [f"10.{128 + place // 62500}.{place // 250 % 250}.{place % 250 + 2}"],
            "conditions": {"ready": True, "serving": True, "terminating": False},
            "nodeName": f"node-{index}",
            "targetRef": {"kind": "Pod", "name": f"svc-{number}-{index}", "namespace": namespace_of(number)},
        }
        return found | ({"hostname": f"svc-{number}-{index}"} if is_headless(number) else {})

    name = f"svc-{number}"
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{name}-x",
            "namespace": namespace_of(number),
            "labels": {"kubernetes.io/service-name": name},
        },
        "addressType": "IPv4",
        "endpoints": [endpoint(index) for index in range(endpoints)],
        "ports": [
            {"name": "http", "port": 8080, "protocol": "TCP"},
            {"name": "metrics", "port": 9090, "protocol": "TCP"},
        ],
    }


def names(services: int, headless: bool) -> list[str]:
    """The full names of the Services of one sort, 900 at most."""
    numbers = (number for number in range(services) if is_headless(number) is headless)
    return [f"svc-{n}.{namespace_of(n)}.svc.cluster.local." for n in itertools.islice(numbers, 900)]


def one_name(services: int) -> list[str]:
    """One ClusterIP name, A."""
    return [f"{names(services, False)[0]} A"]


def cluster_ips(services: int) -> list[str]:
    """ClusterIP names, A and AAAA."""
    return [f"{name} {qtype}" for name in names(services, False) for qtype in ("A", "AAAA")]


def headless(services: int) -> list[str]:
    """Headless names, A: all endpoints, shuffled."""
    return [f"{name} A" for name in names(services, True)]


def search_misses(services: int) -> list[str]:
    """What a Pod's search list makes of outside names, A and AAAA: names that do not exist, asked again and again."""
    outside = [f"api-{number}.example.com" for number in range(30)]
    suffixes = [suffix.format(namespace=f"ns-{number}") for number in range(5) for suffix in SEARCH]
    return [f"{name}.{suffix} {qtype}" for name in outside for suffix in suffixes for qtype in ("A", "AAAA")]


def new_misses(services: int) -> list[str]:
    """Names that do not exist and are asked once (dnsperf may wrap; the file is long)."""
    return [f"nx-{number}.ns-{number % NAMESPACES}.svc.cluster.local. A" for number in range(400_000)]


def pointers(services: int) -> list[str]:
    """Reverse names of cluster IPs."""
    numbers = itertools.islice((n for n in range(services) if not is_headless(n)), 300)
    return [".".join(reversed(cluster_ip(number).split("."))) + ".in-addr.arpa. PTR" for number in numbers]


def mix(services: int) -> list[str]:
    """40 % Service A and AAAA, 30 % search expansion, 20 % headless A and SRV, 10 % PTR."""
    chance = random.Random(7)
    headless_names = [f"{name} {qtype}" for name in names(services, True) for qtype in ("A", "SRV")]
    parts = (cluster_ips(services), search_misses(services), headless_names, pointers(services))
    return [chance.choice(part) for part in chance.choices(parts, weights=(40, 30, 20, 10), k=20_000)]


LOADS = {
    "one ClusterIP name": one_name,
    "ClusterIP names, A and AAAA": cluster_ips,
    "headless, all endpoints": headless,
    "NXDOMAIN from search expansion": search_misses,
    "NXDOMAIN, every name new": new_misses,
    "mix": mix,
}
"""The loads by name, each a function from the number of Services to lines for dnsperf."""

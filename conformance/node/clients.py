"""Pods that look names up all the time: every dnsPolicy, with glibc and with musl; what each must find.

The right answers are written here, before any server is asked. The objects are those of `files/shop.yaml`, the names
beyond the cluster those of `files/upstream.Corefile`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.clients.kubelet import DnsConfig, Pod, parse_host_file, pod_dns
from conformance.clients.kubelet import Node as KubeletNode
from conformance.kubernetes.objects import Object
from conformance.node.contents import C_LIBRARIES, PARTS, client_path
from conformance.node.space import FILES

NAMESPACE = "clients"
THREADS, PAUSE = 5, 500
"""Of each client: ten look-ups a second, with the milliseconds each thread waits after one."""

NOTHING: frozenset[str] = frozenset()
"""What is found of a name that is not there."""

Answers = Mapping[str, frozenset[str]]
"""What is looked up, and all addresses it must find."""


@dataclass(frozen=True)
class Client:
    """A Pod: what kubelet looks at to write its resolv.conf, and what its programs look up."""

    pod: Pod
    answers: Answers

    @property
    def name(self) -> str:
        """The Pod's."""
        return self.pod.name

    def wrong_in(self, resolv_conf: str) -> str:
        """How the Pod's resolv.conf departs from what kubelet's rules make of its dnsPolicy; empty where it does not.

        Kubelet leaves the order of options open.
        """
        wanted = pod_dns(self.pod, KubeletNode(host=(FILES / "resolv.conf").read_text())).conf
        found = parse_host_file(resolv_conf)
        if replace(found, options=()) == replace(wanted, options=()) and set(found.options) == set(wanted.options):
            return ""
        return f"{found}, not {wanted}"

    def manifest(self) -> Object:
        """The Pod, with a container for each C library."""
        spec: Object = {
            "dnsPolicy": self.pod.policy,
            "hostNetwork": self.pod.host_network,
            "terminationGracePeriodSeconds": 0,
            "enableServiceLinks": False,
            "automountServiceAccountToken": False,
            "containers": [_container(library, list(self.answers)) for library in C_LIBRARIES],
        }
        if self.pod.config is not None:
            spec["dnsConfig"] = _dns_config(self.pod.config)
        metadata = {"name": self.name, "namespace": NAMESPACE}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def clients(database: Sequence[str]) -> list[Client]:
    """One for each dnsPolicy; `database` has the addresses of the StatefulSet's Pods in their order."""
    cluster = _names_of_cluster(database)
    none = DnsConfig(
        ("10.96.0.10",),
        ("shop.svc.cluster.local",),
        (("ndots", "2"), ("timeout", "2"), ("attempts", "2"), ("edns0", None)),
    )
    return [
        Client(Pod(NAMESPACE, "ClusterFirst", name="cluster-first"), cluster),
        Client(Pod(NAMESPACE, "ClusterFirstWithHostNet", host_network=True, name="with-host-net"), cluster),
        Client(Pod(NAMESPACE, "Default", name="default"), NAMES_OF_NODE),
        Client(Pod(NAMESPACE, "None", none, name="none"), _names_of_shop(database)),
    ]


def _names_of_cluster(database: Sequence[str]) -> Answers:
    return {
        "kubernetes.default": frozenset({"10.96.0.1"}),
        "web.shop": frozenset({"10.96.1.10"}),
        "web.shop.svc.cluster.local.": frozenset({"10.96.1.10"}),
        "idle.shop.svc": frozenset({"10.96.1.11"}),
        "nobody.shop": NOTHING,
        "db.shop": frozenset(database),
        "db-0.db.shop": frozenset(database[:1]),
        "db-1.db.shop.svc.cluster.local": frozenset(database[1:2]),
        "nosuch.shop": NOTHING,
        "www": frozenset({"198.51.100.7"}),  # by the last search domain, which is the node's
        "elsewhere.example": frozenset({"198.51.100.8"}),
    }


NAMES_OF_NODE: Answers = {
    "www": frozenset({"198.51.100.7"}),
    "elsewhere.example": frozenset({"198.51.100.8"}),
    "web.shop.svc.cluster.local": NOTHING,
}
"""What the name server of the node knows, and the cluster's names, which it does not."""


def _names_of_shop(database: Sequence[str]) -> Answers:
    return {
        "web": frozenset({"10.96.1.10"}),
        "idle": frozenset({"10.96.1.11"}),
        "db-0.db": frozenset(database[:1]),
        "nosuch": NOTHING,
        "www.corp.example": frozenset({"198.51.100.7"}),
    }


def _container(library: str, names: Sequence[str]) -> Object:
    command = [client_path(library), str(THREADS), str(PAUSE), *names]
    return {"name": library, "image": PARTS, "command": command, "imagePullPolicy": "Never"}


def _dns_config(config: DnsConfig) -> Object:
    options = [{"name": name} | ({"value": value} if value else {}) for name, value in config.options]
    return {"nameservers": list(config.nameservers), "searches": list(config.searches), "options": options}

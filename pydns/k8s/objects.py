"""The Kubernetes objects a cluster DNS answers from, holding only the fields it needs.

Values are immutable trees of strings, numbers and tuples, so they are shared freely and kept away from the garbage
collector (`gc=False`: a tree has no cycles).  This file does not know the API's JSON (`wire`), nor who holds the
objects (`store`).
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct

NO_PORT: Final = -1
"""The port number of a Service or EndpointSlice without ports: it has addresses, and no SRV records."""


class Kind(StrEnum):
    """The watched kinds; the value is the API's resource name."""

    NAMESPACE = "namespaces"
    SERVICE = "services"
    SLICE = "endpointslices"
    POD = "pods"


class Port(Struct, frozen=True, gc=False):
    """A port of a Service or EndpointSlice; `name` may be empty, `port` is `NO_PORT` where there is none."""

    name: str
    port: int
    protocol: str


class Namespace(Struct, frozen=True, gc=False):
    """A Namespace: that it exists is all a DNS server asks of it."""

    name: str

    @property
    def namespace(self) -> str:
        """Empty: a Namespace lies in none."""
        return ""


class Service(Struct, frozen=True, gc=False):
    """A Service.

    `cluster_ips` is spec.clusterIPs, or the one spec.clusterIP where that list is empty: its first item is "None" for a
    headless Service and "" for one without an address.  `external_ips` is spec.externalIPs followed by the load
    balancer's ingress points, each as IP or else host name.
    """

    namespace: str
    name: str
    type: str
    cluster_ips: tuple[str, ...]
    external_name: str = ""
    ports: tuple[Port, ...] = ()
    external_ips: tuple[str, ...] = ()

    @property
    def headless(self) -> bool:
        return self.cluster_ips[0] == "None"


class Endpoint(Struct, frozen=True, gc=False):
    """One ready address of a slice.

    `target` is the name of what is behind it, a Pod as a rule; `zone` its topology zone in lower case.  All but
    `address` may be empty.
    """

    address: str
    hostname: str = ""
    target: str = ""
    zone: str = ""


class EndpointSlice(Struct, frozen=True, gc=False):
    """The ready endpoints of one slice; `service` is empty where the label kubernetes.io/service-name is missing.

    `trigger_time` is the annotation endpoints.kubernetes.io/last-change-trigger-time as written (RFC 3339), or empty.
    """

    namespace: str
    name: str
    service: str
    address_type: str
    endpoints: tuple[Endpoint, ...]
    ports: tuple[Port, ...]
    trigger_time: str = ""


class Pod(Struct, frozen=True, gc=False):
    """A Pod; `ip` is status.podIP or empty, `terminating` that it has a deletionTimestamp."""

    namespace: str
    name: str
    ip: str
    labels: tuple[tuple[str, str], ...] = ()
    terminating: bool = False


Object = Namespace | Service | EndpointSlice | Pod

KINDS: Final[dict[type[Object], Kind]] = {
    Namespace: Kind.NAMESPACE,
    Service: Kind.SERVICE,
    EndpointSlice: Kind.SLICE,
    Pod: Kind.POD,
}

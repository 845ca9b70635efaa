"""The names of the specification below a cluster domain. Knows no records."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from conformance.spec.view import Port, Service


@dataclass(frozen=True)
class Names:
    """`zone` is the cluster domain with a final dot."""

    zone: str

    @property
    def services(self) -> str:
        """What all Services are below."""
        return f"svc.{self.zone}"

    def namespace(self, name: str) -> str:
        """What the Services of a namespace are below."""
        return f"{name}.{self.services}"

    def service(self, service: Service) -> str:
        """SERVICE.NAMESPACE.svc.ZONE."""
        return f"{service.name}.{self.namespace(service.namespace)}"

    def endpoint(self, service: Service, hostname: str) -> str:
        """HOSTNAME.SERVICE.NAMESPACE.svc.ZONE."""
        return f"{hostname}.{self.service(service)}"

    def port(self, service: Service, port: Port) -> str:
        """_PORT._PROTOCOL.SERVICE.NAMESPACE.svc.ZONE."""
        return f"_{port.name}._{port.protocol.lower()}.{self.service(service)}"


def reverse(address: str) -> str:
    """The name of an address below in-addr.arpa or ip6.arpa (RFC 1035 section 3.5, RFC 3596 section 2.5)."""
    return f"{ip_address(address).reverse_pointer}."


def family(address: str) -> str:
    """The type of an address's record: A or AAAA."""
    return "AAAA" if ip_address(address).version == 6 else "A"


def other_family(rtype: str) -> str:
    """AAAA for A, A for AAAA."""
    return "A" if rtype == "AAAA" else "AAAA"


def mixed(name: str) -> str:
    """A name with every second letter in upper case."""
    return "".join(char.upper() if index % 2 else char for index, char in enumerate(name))

"""Who is judged against whom, as the command line says. Knows no cases and starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

STARTED = ("pydns", "coredns")
"""The servers this suite knows how to start; the path of a program is started, too."""


@dataclass(frozen=True)
class Plan:
    """One run.

    `subject`: pydns, coredns, the path of a program, ADDRESS:PORT of a server that runs already, or `cluster`, the DNS
    of a live cluster.
    `reference`: coredns, recorded, or expected (the cases' and the specification's own word).
    `kubeconfig` names the live cluster whose objects are used, `context` one of its contexts (empty: the current one),
    `image` the image of the Pod that asks from within it, `dns_service` NAMESPACE/NAME of its DNS. `audit` creates
    nothing and looks at `limit` Services. `objects` is a file of objects that a server without an API serves. `zone` is
    the cluster domain with a final dot (empty: cluster.local, or what is found out).
    """

    subject: str = "pydns"
    reference: str = "coredns"
    packet_cache: bool = True
    kubeconfig: Path | None = None
    context: str = ""
    image: str = ""
    dns_service: str = ""
    audit: bool = False
    limit: int = 0
    objects: Path | None = None
    zone: str = ""

    @property
    def outside(self) -> bool:
        """Whether the server runs already, with a configuration of its own: cases with a Corefile cannot be asked."""
        return self.subject not in STARTED and "/" not in self.subject

    @property
    def address(self) -> tuple[str, int] | None:
        """Host and port of a server that runs already; None where the subject is no address."""
        host, _, port = self.subject.rpartition(":")
        return (host.strip("[]"), int(port)) if self.outside and host else None

    @property
    def started(self) -> list[str]:
        """The servers to start for a case, the subject last."""
        reference = ["coredns"] if self.reference == "coredns" else []
        return [*reference, *([] if self.outside else [self.subject])]

    def environment(self, server: str) -> Mapping[str, str]:
        """Variables for one of the servers."""
        return {} if self.packet_cache or server != "pydns" else {"PYDNS_PACKET_CACHE": "0"}

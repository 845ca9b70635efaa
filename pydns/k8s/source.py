"""What the rest of pydns asks of a place where objects come from, be it the API or manifest files.

Knows neither of the two: `cluster.ApiSource` and `manifests.ManifestSource` are the two implementations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pydns.k8s.objects import Kind
from pydns.k8s.selectors import EVERYTHING, Selector
from pydns.k8s.store import Store

Clock = Callable[[], float]
"""Unix seconds."""


class SourceError(Exception):
    """A source cannot start: no such kubeconfig, not in a cluster, a broken manifest.  One line, says what is wrong."""


@dataclass(frozen=True, slots=True)
class Interest:
    """The objects that a Corefile asks for.

    `labels` selects Services, EndpointSlices and Pods, `namespace_labels` Namespaces, as CoreDNS's options of these
    names do.
    """

    endpoints: bool = True
    pods: bool = False
    labels: Selector = EVERYTHING
    namespace_labels: Selector = EVERYTHING

    @property
    def kinds(self) -> tuple[Kind, ...]:
        wanted = {Kind.NAMESPACE: True, Kind.SERVICE: True, Kind.SLICE: self.endpoints, Kind.POD: self.pods}
        return tuple(kind for kind, watched in wanted.items() if watched)

    def selector(self, kind: Kind) -> Selector:
        return self.namespace_labels if kind is Kind.NAMESPACE else self.labels


class Observer:
    """What a source has to tell the metrics; this one does not listen."""

    def request(self, method: str, host: str, code: str) -> None:
        """A request to the API ended in `code`: an HTTP status, or "<error>" where there was no reply."""

    def request_duration(self, verb: str, host: str, seconds: float) -> None:
        """A request other than a watch took so long."""

    def programmed(self, service_kind: str, seconds: float) -> None:
        """A slice is served so long after what triggered its change; kind `cluster_ip` or `headless_with_selector`."""

    def api_up(self, up: bool) -> None:
        """The API answers again, or no longer."""


class Source(Protocol):
    """A store and what keeps it current."""

    @property
    def store(self) -> Store: ...

    @property
    def followed(self) -> bool:
        """Whether the store is synced, and changes of all its kinds have begun to arrive."""

    async def start(self) -> None:
        """Begin to fill the store and return at once; raises SourceError where that cannot succeed."""

    async def stop(self) -> None:
        """Stop following; the store keeps what it has."""

    async def wait_synced(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds until the store is synced; whether it is."""

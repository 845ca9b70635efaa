"""Metric families under CoreDNS's names, so that a dashboard made for CoreDNS works unchanged.

One ``Metrics`` lives as long as the process, also over reloads.  A family is made on first use; whoever needs it names
it with its help text and labels, and asking again gives the same one.
"""

from collections.abc import Sequence
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics import MetricWrapperBase

PREFIX = "coredns_"

F = TypeVar("F", bound=MetricWrapperBase)


class Metrics:
    """A registry of metric families, each named without the ``coredns_`` prefix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._families: dict[str, MetricWrapperBase] = {}

    def counter(self, name: str, help: str, labels: Sequence[str] = ()) -> Counter:
        """A counter; ``name`` ends in ``_total``."""
        return self._family(Counter, name, help, labels)

    def gauge(self, name: str, help: str, labels: Sequence[str] = ()) -> Gauge:
        """A gauge."""
        return self._family(Gauge, name, help, labels)

    def histogram(self, name: str, help: str, labels: Sequence[str], buckets: Sequence[float]) -> Histogram:
        """A histogram; ``buckets`` are upper bounds, ``+Inf`` is added."""
        return self._family(Histogram, name, help, labels, buckets=tuple(buckets))

    def _family(self, kind: type[F], name: str, help: str, labels: Sequence[str], **options: tuple[float, ...]) -> F:
        family = self._families.get(name)
        if family is None:
            family = kind(PREFIX + name, help, tuple(labels), registry=self.registry, **options)  # type: ignore[arg-type]
            self._families[name] = family
        if not isinstance(family, kind):
            raise TypeError(f"metric {name} is no {kind.__name__}")
        return family

    def exposition(self) -> bytes:
        """All families in the Prometheus text format."""
        return generate_latest(self.registry)

"""The metrics of *cache*, under CoreDNS's names."""

from __future__ import annotations

from pydns.metrics import Count, Metrics
from pydns.plugins.cache.store import DENIAL, SUCCESS

KINDS = (SUCCESS, DENIAL)
_LABELS = ("server", "zones", "view")
_LABELS_OF_KIND = ("server", "type", "zones", "view")


class Counters:
    """The series of one server, zone list and view; those by kind are dicts."""

    def __init__(self, metrics: Metrics, server: str, zones: str, view: str) -> None:
        labels = (server, zones, view)

        def total(name: str, help: str) -> Count:
            return metrics.counter(f"cache_{name}_total", help, _LABELS).labels(*labels)

        entries = metrics.gauge("cache_entries", "The number of elements in the cache.", _LABELS_OF_KIND, adds_up=True)
        hits = metrics.counter("cache_hits_total", "The count of cache hits.", _LABELS_OF_KIND)
        evictions = metrics.counter("cache_evictions_total", "The count of cache evictions.", _LABELS_OF_KIND)
        self.requests = total("requests", "The count of cache requests.")
        self.misses = total(
            "misses", "The count of cache misses. Deprecated, derive misses from cache hits/requests counters."
        )
        self.prefetches = total("prefetch", "The number of times the cache has prefetched a cached item.")
        self.drops = total("drops", "The number responses that are not cached, because the reply is malformed.")
        self.stale = total("served_stale", "The number of requests served from stale cache entries.")
        self.hits = {kind: hits.labels(server, kind, zones, view) for kind in KINDS}
        self.evictions = {kind: evictions.labels(server, kind, zones, view) for kind in KINDS}
        self.sizes: dict[str, int] = {}
        """What was last counted of each kind; told by `show`."""
        self._entries = {kind: entries.labels(server, kind, zones, view) for kind in KINDS}

    def missed(self, times: int = 1) -> None:
        """Count queries that are asked below."""
        self.requests.value += times
        self.misses.value += times

    def show(self) -> None:
        """Bring the gauges up to date, before they are read: a gauge of prometheus-client takes its time."""
        for kind, size in self.sizes.items():
            self._entries[kind].set(size)

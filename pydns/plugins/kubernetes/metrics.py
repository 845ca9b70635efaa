"""What *kubernetes* measures: CoreDNS's families, whether the API answers, and whether the objects are known.

It does not know what a request is.
"""

from __future__ import annotations

from pydns.k8s.source import Observer
from pydns.metrics import Metrics

PROGRAMMING_BUCKETS = tuple(0.001 * 2**power for power in range(20))
REQUEST_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Measures(Observer):
    """Counts for one plugin; ``zone`` is its primary zone, the label of what CoreDNS does not have."""

    def __init__(self, metrics: Metrics, zone: str) -> None:
        self._declare_families_of_coredns(metrics)
        self._up = metrics.gauge(
            "kubernetes_api_up",
            "Whether the Kubernetes API answers (1) or answers are given from what is known (0).",
            ("zone",),
        ).labels(zone)
        self._up.set(1)
        self._synced = metrics.gauge(
            "kubernetes_synced",
            "Whether all objects are known and followed (1), as the plugin ready has it, or names may be missing (0).",
            ("zone",),
        ).labels(zone)

    def _declare_families_of_coredns(self, metrics: Metrics) -> None:
        self._programmed = metrics.histogram(
            "kubernetes_dns_programming_duration_seconds",
            "Histogram of the time (in seconds) it took to program a dns instance.",
            ("service_kind",),
            PROGRAMMING_BUCKETS,
        )
        self._durations = metrics.histogram(
            "kubernetes_rest_client_request_duration_seconds",
            "Request latency in seconds. Broken down by verb and host.",
            ("verb", "host"),
            REQUEST_BUCKETS,
        )
        self._limited = metrics.histogram(
            "kubernetes_rest_client_rate_limiter_duration_seconds",
            "Client side rate limiter latency in seconds. Broken down by verb and host.",
            ("verb", "host"),
            REQUEST_BUCKETS,
        )
        self._requests = metrics.counter(
            "kubernetes_rest_client_requests_total",
            "Number of HTTP requests, partitioned by status code, method, and host.",
            ("code", "method", "host"),
        )

    def request(self, method: str, host: str, code: str) -> None:
        self._requests.labels(code, method, host).inc()

    def request_duration(self, verb: str, host: str, seconds: float) -> None:
        """Also notes that nothing was waited for: there is no rate limiter, and dashboards show that as zero."""
        self._durations.labels(verb, host).observe(seconds)
        self._limited.labels(verb, host).observe(0)

    def programmed(self, service_kind: str, seconds: float) -> None:
        self._programmed.labels(service_kind).observe(seconds)

    def api_up(self, up: bool) -> None:
        self._up.set(up)

    def synced(self, synced: bool) -> None:
        """The objects are all known and followed, or not yet."""
        self._synced.set(synced)

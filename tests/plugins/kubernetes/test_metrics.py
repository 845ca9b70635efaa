"""Metric families under CoreDNS's names (behaviour reference, section 5)."""

from pydns.metrics import Metrics
from pydns.plugins.kubernetes.metrics import Measures


def test_families_and_labels() -> None:
    metrics = Metrics()
    measures = Measures(metrics, "cluster.local.")
    measures.request("GET", "10.0.0.1:443", "200")
    measures.request_duration("LIST", "10.0.0.1:443", 0.3)
    measures.programmed("cluster_ip", 1.5)
    measures.api_up(False)
    measures.synced(True)
    lines = metrics.exposition().decode().splitlines()
    for line in (
        'coredns_kubernetes_rest_client_requests_total{code="200",host="10.0.0.1:443",method="GET"} 1.0',
        'coredns_kubernetes_rest_client_request_duration_seconds_bucket{host="10.0.0.1:443",le="0.25",verb="LIST"} 0.0',
        'coredns_kubernetes_rest_client_request_duration_seconds_bucket{host="10.0.0.1:443",le="0.5",verb="LIST"} 1.0',
        'coredns_kubernetes_rest_client_rate_limiter_duration_seconds_sum{host="10.0.0.1:443",verb="LIST"} 0.0',
        'coredns_kubernetes_dns_programming_duration_seconds_bucket{le="1.024",service_kind="cluster_ip"} 0.0',
        'coredns_kubernetes_dns_programming_duration_seconds_bucket{le="2.048",service_kind="cluster_ip"} 1.0',
        'coredns_kubernetes_api_up{zone="cluster.local."} 0.0',
        'coredns_kubernetes_synced{zone="cluster.local."} 1.0',
    ):
        assert line in lines


def test_the_api_counts_as_up_until_a_request_fails() -> None:
    metrics = Metrics()
    measures = Measures(metrics, "z.")
    up = 'coredns_kubernetes_api_up{zone="z."} 1.0'
    assert up in metrics.exposition().decode()
    measures.api_up(False)
    measures.api_up(True)
    assert up in metrics.exposition().decode()

"""Metric families: names, text, several observations at once, sharing."""

import pytest

from pydns.metrics import Metrics


def exposed(metrics: Metrics, prefix: str) -> list[str]:
    return [line for line in metrics.exposition().decode().splitlines() if line.startswith(prefix)]


def test_a_counter_stands_under_coredns_name_without_created_series() -> None:
    metrics = Metrics()
    metrics.counter("panics_total", "Panics.").inc()
    assert exposed(metrics, "coredns_") == ["coredns_panics_total 1.0"]


def test_counts_are_kept_by_their_labels() -> None:
    metrics = Metrics()
    drops = metrics.counter("drops_total", "Drops.", ("server", "reason"))
    drops.labels("dns://:53", "late").inc()
    drops.labels("dns://:53", "late").inc(3)
    drops.labels("dns://:53", 'a "word"').inc(0)
    assert exposed(metrics, "# ")[-2:] == [
        "# HELP coredns_drops_total Drops.",
        "# TYPE coredns_drops_total counter",
    ]
    assert exposed(metrics, "coredns_") == [
        'coredns_drops_total{reason="late",server="dns://:53"} 4.0',
        'coredns_drops_total{reason="a \\"word\\"",server="dns://:53"} 0.0',
    ]


def test_a_family_without_labels_is_there_before_anything_happened() -> None:
    metrics = Metrics()
    metrics.histogram("health_request_duration_seconds", "Times.", (), (0.1, 1))
    metrics.counter("panics_total", "Panics.")
    assert exposed(metrics, "coredns_") == [
        'coredns_health_request_duration_seconds_bucket{le="0.1"} 0.0',
        'coredns_health_request_duration_seconds_bucket{le="1.0"} 0.0',
        'coredns_health_request_duration_seconds_bucket{le="+Inf"} 0.0',
        "coredns_health_request_duration_seconds_count 0.0",
        "coredns_health_request_duration_seconds_sum 0.0",
        "coredns_panics_total 0.0",
    ]


@pytest.mark.parametrize(
    "value, times, buckets",
    [
        (0.0, 1, [1, 1, 1]),
        (100.0, 1, [1, 1, 1]),  # a bound belongs to its bucket
        (100.5, 2, [0, 2, 2]),
        (700.0, 3, [0, 0, 3]),
    ],
)
def test_observations_fall_into_cumulative_buckets(value: float, times: int, buckets: list[int]) -> None:
    metrics = Metrics()
    metrics.histogram("sizes", "Sizes.", ("proto",), (100, 512)).labels("udp").observe(value, times)
    lines = exposed(metrics, "coredns_sizes_bucket")
    assert [float(line.split()[-1]) for line in lines] == buckets
    assert exposed(metrics, "coredns_sizes_sum") == [f'coredns_sizes_sum{{proto="udp"}} {value * times}']


def test_asking_again_gives_the_same_family() -> None:
    metrics = Metrics()
    assert metrics.gauge("entries", "Entries.") is metrics.gauge("entries", "Other words.")


def test_one_name_is_of_one_kind() -> None:
    metrics = Metrics()
    metrics.counter("entries_total", "Entries.")
    with pytest.raises(TypeError, match="metric entries_total is no Gauge"):
        metrics.gauge("entries_total", "Entries.")


def test_the_process_itself_is_measured() -> None:
    names = {line.split("{")[0].split(" ")[0] for line in exposed(Metrics(), "p")}
    assert {"process_resident_memory_bytes", "process_cpu_seconds_total", "python_info"} <= names

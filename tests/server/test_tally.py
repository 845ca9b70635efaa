"""Counts of several processes in one exposition: exact, and never less than before."""

from __future__ import annotations

import os

import pytest
from msgspec import msgpack

from pydns.metrics import Metrics
from pydns.server.tally import Adder, Portion, Teller

LABELS = ("server",)


class Worker:
    """The metrics of a worker, and what it counts."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.teller = Teller(self.metrics)
        self.requests = self.metrics.counter("requests_total", "Requests.", LABELS)
        self.failures = self.metrics.counter("failures_total", "Failures.")
        self.times = self.metrics.histogram("times", "Times.", LABELS, (1, 2))
        self.entries = self.metrics.gauge("entries", "Entries.", LABELS, adds_up=True)
        self.metrics.gauge("version", "Version.").set(7)

    def told(self) -> list[Portion]:
        """What it tells, over the wire."""
        return msgpack.decode(msgpack.encode(self.teller.portions()), type=list[Portion])


def exposed(metrics: Metrics) -> list[str]:
    return [line for line in metrics.exposition().decode().splitlines() if line.startswith("coredns_")]


def test_counters_and_histograms_add_up() -> None:
    parent = Metrics()
    parent.counter("requests_total", "Requests.", LABELS).labels("a").inc(5)
    adder = Adder(parent)
    for number in (1, 2):
        worker = Worker()
        worker.requests.labels("a").inc(number)
        worker.times.labels("a").observe(1.5, number)
        adder.add(worker, worker.told())
    assert exposed(parent) == [
        'coredns_requests_total{server="a"} 8.0',
        "coredns_failures_total 0.0",
        'coredns_times_bucket{le="1.0",server="a"} 0.0',
        'coredns_times_bucket{le="2.0",server="a"} 3.0',
        'coredns_times_bucket{le="+Inf",server="a"} 3.0',
        'coredns_times_count{server="a"} 3.0',
        'coredns_times_sum{server="a"} 4.5',
    ]


def test_what_was_told_is_not_told_again() -> None:
    worker, parent = Worker(), Metrics()
    adder = Adder(parent)
    for count in (3, 0, 4):
        worker.failures.inc(count)
        adder.add(worker, worker.told())
    assert "coredns_failures_total 7.0" in exposed(parent)
    assert worker.told() == []


def test_counts_stay_when_a_worker_ends_and_gauges_go() -> None:
    parent = Metrics()
    parent.gauge("entries", "Entries.", LABELS, adds_up=True).labels("b").set(5)
    adder = Adder(parent)
    first, second = Worker(), Worker()
    for worker, entries in ((first, 10), (second, 20)):
        worker.failures.inc()
        worker.entries.labels("a").set(entries)
        adder.add(worker, worker.told())
    assert 'coredns_entries{server="a"} 30.0' in exposed(parent)
    adder.forget(first)
    assert {'coredns_entries{server="a"} 20.0', "coredns_failures_total 2.0"} <= set(exposed(parent))
    second.entries.labels("a").set(25)
    adder.add(second, second.told())
    assert {'coredns_entries{server="a"} 25.0', 'coredns_entries{server="b"} 5.0'} <= set(exposed(parent))
    parent.gauge("entries", "Entries.", LABELS).labels("a").set(1)
    assert 'coredns_entries{server="a"} 26.0' in exposed(parent)


def test_other_gauges_are_the_parents_own() -> None:
    worker, parent = Worker(), Metrics()
    parent.gauge("version", "Version.").set(8)
    Adder(parent).add(worker, worker.told())
    assert [line for line in exposed(parent) if "version" in line] == ["coredns_version 8.0"]


def test_what_is_counted_late_is_counted_before_it_is_told() -> None:
    worker = Worker()
    worker.metrics.before_exposition(worker.failures.inc)
    (portion,) = worker.told()
    assert (portion.name, portion.rows) == ("failures_total", [((), [1.0])])


def process_value(metrics: Metrics, name: str) -> float:
    lines = metrics.exposition().decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"process_{name} "))


@pytest.mark.parametrize("name", ["virtual_memory_bytes", "resident_memory_bytes", "open_fds", "cpu_seconds_total"])
def test_memory_files_and_time_of_workers_count(name: str) -> None:
    """With this process as its own worker."""
    metrics = Metrics()
    alone = process_value(metrics, name)
    metrics.workers.add(os.getpid())
    assert 1.5 < process_value(metrics, name) / alone < 3


def test_the_start_is_the_parents() -> None:
    metrics = Metrics()
    alone = process_value(metrics, "start_time_seconds")
    metrics.workers.add(os.getpid())
    assert process_value(metrics, "start_time_seconds") == alone


def test_a_process_that_has_gone_does_no_harm() -> None:
    metrics = Metrics()
    metrics.workers.add(1 << 30)
    assert b"process_cpu_seconds_total" in metrics.exposition()

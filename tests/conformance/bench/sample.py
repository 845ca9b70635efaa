"""A small run with everything that tables and pictures show: passed, failed, left out, faults, curves."""

from __future__ import annotations

from conformance.bench.contestants import SUBJECT
from conformance.bench.document import Document, document
from conformance.bench.finding import PER_CPU, RATE, TWO_CORES, Figure, Finding, Floor, Result

ABOUT = {
    "subject": "pydns",
    "date": "2026-12-01T10:00:00+00:00",
    "machine": {"cpu": "AMD EPYC", "cores": 2, "memory_mb": 24000, "kernel": "6.1", "python": "3.11.7"},
    "versions": {"subject": "pydns-1.0", "reference": "CoreDNS-1.14.7"},
    "api": "real",
    "options": {"rounds": 3, "seconds": 4.0, "quick": False},
}

FLOORS = [Floor(PER_CPU, 4), Floor(RATE, 1, TWO_CORES), Floor(PER_CPU, 0.4, "unbound")]

MIX = Result(
    "mix",
    FLOORS,
    Finding(
        [
            Figure(PER_CPU, [90_000.0, 100_000.0, 110_000.0], theirs=[20_000.0, 10_000.0, 30_000.0]),
            Figure(RATE, [95_000.0], TWO_CORES, [28_000.0], "q/s"),
            Figure(PER_CPU, [100_000.0], "unbound", left_out="no unbound (Debian: apt-get install unbound)"),
        ],
        remarks=[f"{SUBJECT}: dnsperf was the bottleneck"],
        others=0.5,
    ),
    12.3,
)

LATENCY = Result(
    "mix, 3,000 q/s",
    [Floor("p99", 1, at_most=True), Floor("p99", 5, at_most=True, absolute=True)],
    Finding(
        [Figure("p99", [3.0], theirs=[2.0], unit="ms")],
        curves={SUBJECT: [(0.5, 0.1), (0.99, 3.0), (1.0, 20.0)], "CoreDNS": [(0.5, 0.15), (1.0, 9.0)]},
    ),
)

LOST = Result(
    "headless", [Floor(PER_CPU, 5)], Finding([Figure(PER_CPU, [9.0], theirs=[1.0])], [f"{SUBJECT}: 3 queries lost"])
)

ABSENT = Result("multisocket 2", [], Finding(left_out=f"{SUBJECT}, multisocket 2: ended with status 1"))

RESULTS = [MIX, LATENCY, LOST, ABSENT]


def sample() -> Document:
    return document(RESULTS, ABOUT)

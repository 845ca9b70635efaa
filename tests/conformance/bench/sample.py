"""A small run with everything that tables and pictures show: passed, failed, left out, faults, curves."""

from __future__ import annotations

from conformance.bench.contestants import SUBJECT
from conformance.bench.document import Document, document
from conformance.bench.finding import PER_CPU, RATE, TWO_CORES, Bound, Figure, Finding, Result

ABOUT = {
    "subject": "pydns",
    "date": "2026-12-01T10:00:00+00:00",
    "code": {"commit": "0123456789abcdef", "dirty": True},
    "machine": {
        "cpu": "AMD EPYC", "family_model": "25/17", "virtual": True, "cores": 2, "memory_mb": 24000, "kernel": "6.1",
        "python": "3.11.7",
    },
    "pinning": "",
    "dnsperf": "2.10.0",
    "uvloop": "",
    "environment": {},
    "versions": {"subject": "pydns-1.0", "reference": "CoreDNS-1.14.7"},
    "api": "real",
    "options": {"rounds": 3, "seconds": 4.0, "quick": False, "load": []},
}  # fmt: skip

BOUNDS = [Bound(PER_CPU, 4), Bound(RATE, 1, TWO_CORES), Bound(PER_CPU, 0.4, "unbound")]

MIX = Result(
    "mix",
    BOUNDS,
    Finding(
        [
            Figure(PER_CPU, [90_000.0, 100_000.0, 110_000.0], theirs=[20_000.0, 10_000.0, 30_000.0]),
            Figure(RATE, [95_000.0], TWO_CORES, [28_000.0], "q/s"),
            Figure(PER_CPU, [100_000.0], "unbound", left_out="no unbound (Debian: apt-get install unbound)"),
        ],
        remarks=[f"{SUBJECT}: dnsperf was the bottleneck"],
        others=0.5,
        others_are="the API",
    ),
    12.3,
)

LATENCY = Result(
    "mix, 3,000 q/s",
    [Bound("p99", 1, at_most=True), Bound("p99", 5, at_most=True, absolute=True)],
    Finding(
        [Figure("p99", [3.0], theirs=[2.0], unit="ms")],
        curves={SUBJECT: [(0.5, 0.1), (0.99, 3.0), (1.0, 20.0)], "CoreDNS": [(0.5, 0.15), (1.0, 9.0)]},
    ),
)

LOST = Result(
    "headless", [Bound(PER_CPU, 5)], Finding([Figure(PER_CPU, [9.0], theirs=[1.0])], [f"{SUBJECT}: 3 queries lost"])
)

ABSENT = Result("multisocket 2", [], Finding(left_out=f"{SUBJECT}, multisocket 2: ended with status 1"))

VOID = Result(
    "burst",
    [Bound("p99", 1, at_most=True), Bound("p50", 1, at_most=True), Bound("p50", 5, at_most=True, absolute=True)],
    Finding(
        [Figure("p99", [3.0], theirs=[2.0], unit="ms"), Figure("p50", [4.0], theirs=[2.0], unit="ms")],
        their_faults={"CoreDNS": ["2 queries lost", "1 query lost"]},
    ),
)

RESULTS = [MIX, LATENCY, LOST, ABSENT, VOID]


def sample() -> Document:
    return document(RESULTS, ABOUT)

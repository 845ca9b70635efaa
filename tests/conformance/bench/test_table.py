"""A run as text."""

from __future__ import annotations

import pytest

from conformance.bench import table
from conformance.bench.finding import FAIL
from tests.conformance.bench.sample import sample


@pytest.mark.parametrize(
    ("value", "text"), [(131_234.5, "131,234"), (96.31, "96.3"), (0.04211, "0.0421"), (None, "–"), (0.0, "0")]
)
def test_numbers(value: float | None, text: str) -> None:
    assert table.number(value) == text


@pytest.mark.parametrize(("value", "text"), [(4.543, "4.54"), (10.04, "10.0"), (None, "–")])
def test_ratios(value: float | None, text: str) -> None:
    assert table.ratio(value) == text


def test_terminal() -> None:
    text = table.terminal(sample())
    rows = {line.split("  ")[0]: " ".join(line.split()) for line in text.splitlines()}
    assert rows["mix"] == "mix queries per CPU-second 100,000 CoreDNS 20,000 5.00 ≥ 4 pass"
    assert rows["mix, 3,000 q/s"] == "mix, 3,000 q/s p99 3 ms CoreDNS 2 ms 1.50 ≤ 1, ≤ 5 ms FAIL"
    assert rows["multisocket 2"] == "multisocket 2 left out"
    assert "queries per CPU-second 100,000 unbound – – ≥ 0.4 left out" in " ".join(text.split())
    assert "FAIL  headless: pydns: 3 queries lost" in text
    assert "note  mix: pydns: dnsperf was the bottleneck" in text
    assert "note  mix: other processes used 0.5 cores" in text
    assert "note  mix: beside unbound left out: no unbound (Debian: apt-get install unbound)" in text
    assert "note  multisocket 2: left out: pydns, multisocket 2: ended with status 1" in text
    assert text.endswith("1 lines meet their floors, 2 do not, 1 left out")


def test_a_rate_that_misses_its_floor_is_marked() -> None:
    found = sample()
    found["lines"][0]["figures"][1]["mark"] = FAIL
    _, loads, _ = table.markdown(found).split("\n\n")
    assert loads.splitlines()[2] == "| mix | 100,000 | 20,000 | 5.00 | ≥ 4 | **95,000, misses its floor** | 28,000 |"


def test_markdown() -> None:
    measured, loads, others = table.markdown(sample()).split("\n\n")
    assert measured.startswith("2026-12-01, pydns-1.0, CoreDNS-1.14.7; AMD EPYC, 2 cores, Linux 6.1, Python 3.11.7;")
    assert "medians of 3 rounds of 4 seconds in turns, while other processes used 0.5 of the cores." in measured
    assert loads.splitlines()[2:] == [
        "| mix | 100,000 | 20,000 | 5.00 | ≥ 4 | 95,000 | 28,000 |",
        "| headless | 9 | 1 | **9.00, but the line failed** | ≥ 5 | – | – |",
    ]
    assert others.splitlines()[2:] == [
        "| mix: queries per CPU-second | 100,000 | unbound – | left out | ≥ 0.4 |",
        "| mix, 3,000 q/s: p99 | 3 ms | CoreDNS 2 ms | **1.50, misses its floor** | ≤ 1, ≤ 5 ms |",
    ]

"""A run as text."""

from __future__ import annotations

import pytest

from conformance.bench import table
from conformance.bench.finding import FAIL
from conformance.bench.lines import LINES
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
    assert "note  mix: other processes used 0.5 cores, the API among them" in text
    assert "note  mix: beside unbound left out: no unbound (Debian: apt-get install unbound)" in text
    assert "note  multisocket 2: left out: pydns, multisocket 2: ended with status 1" in text
    assert "note  burst: CoreDNS failed: 2 queries lost; 1 query lost" in text
    assert text.endswith("Lines: 2 within bounds, 2 beyond them or failed, 0 without a bound, 1 left out")


def test_a_line_without_bounds_is_not_within_any() -> None:
    found = sample()
    found["lines"] = found["lines"][:1]
    for figure in found["lines"][0]["figures"]:
        figure["bounds"] = []
    assert table.terminal(found).endswith("0 within bounds, 0 beyond them or failed, 1 without a bound, 0 left out")


def test_servers_that_are_not_pinned() -> None:
    found = sample() | {"pinning": "no taskset: servers and load ran on any core"}
    assert "note  no taskset: servers and load ran on any core" in table.terminal(found)
    assert "in turns, while other processes used 0.5 of the cores. No taskset: servers" in table.markdown(found)


def test_a_rate_that_misses_its_bound_is_marked() -> None:
    found = sample()
    found["lines"][0]["figures"][1]["mark"] = FAIL
    loads = table.markdown(found).split("\n\n")[2]
    assert "| 5.00 | ≥ 4 | **95,000, missed** | 28,000 |" in loads


def test_markdown() -> None:
    measured, met, loads, others, notes = table.markdown(sample(), ["since"]).split("\n\n")
    assert measured.startswith(
        "2026-12-01, commit 0123456789 with changes, pydns-1.0, CoreDNS-1.14.7; AMD EPYC (family/model 25/17),"
        " a virtual machine with 2 cores, Linux 6.1, Python 3.11.7 without uvloop, dnsperf 2.10.0; a kube-apiserver,"
    )
    assert "of 3 rounds of 4 seconds in turns, while other processes used 0.5 of the cores. The load shares" in measured
    assert met == "**3 of 7 figures with a bound are within it**; 1 missed, 1 of lines that failed, 1 void, 1 left out."
    assert loads.splitlines()[0].endswith("| q/s, CoreDNS on both cores, the load beside it |")
    assert loads.splitlines()[2:] == [
        "| mix | 100,000 (90,000–110,000) | 20,000 (10,000–30,000) | 5.00 | ≥ 4 | 95,000 | 28,000 |",
        "| headless | 9 | 1 | 9.00 | **≥ 5, but the line failed** | – | – |",
    ]
    assert others.splitlines()[2:] == [
        "| mix: queries per CPU-second | 100,000 | unbound | – | **≥ 0.4, left out** |",
        "| mix, 3,000 q/s: p99 | 3 ms | CoreDNS 2 ms | 1.50 | **≤ 1, ≤ 5 ms, missed** |",
        "| burst: p99 | 3 ms | CoreDNS 2 ms | 1.50 | **≤ 1, void: what it is beside failed** |",
        "| burst: p50 | 4 ms | CoreDNS 2 ms | 2.00 | ≤ 1, ≤ 5 ms |",
    ]
    assert notes.splitlines()[:2] == ["* since", "* mix: pydns: dnsperf was the bottleneck"]
    assert "* headless: pydns: 3 queries lost" in notes


def test_figures_without_a_bound_have_their_rows_but_those_that_say_nothing_new() -> None:
    found = sample()
    figure = found["lines"][1]["figures"][0] | {"bounds": [], "mark": "", "ours": [3.0, 2.0]}
    kinds = [("start", "CoreDNS"), ("q/s", "CoreDNS"), ("p50", "C echo")]
    found["lines"][1]["figures"] = [figure | {"what": what, "beside": beside} for what, beside in kinds]
    rows = [row for row in table.markdown(found).splitlines() if row.startswith("| mix, 3,000")]
    assert rows == ["| mix, 3,000 q/s: start | 3 (2–3) ms | CoreDNS 2 ms | 1.50 | none |"]


def test_a_latency_shows_the_echos_beside() -> None:
    found = sample()
    [figure] = found["lines"][1]["figures"]
    found["lines"][1]["figures"] += [figure | {"beside": "C echo", "their_value": 0.5, "theirs": [0.5], "bounds": []}]
    rows = [row for row in table.markdown(found).splitlines() if row.startswith("| mix, 3,000")]
    assert rows == ["| mix, 3,000 q/s: p99 | 3 ms | CoreDNS 2 ms; C echo 0.5 ms | 1.50 | **≤ 1, ≤ 5 ms, missed** |"]


def test_with_more_cores_the_load_has_its_own() -> None:
    found = sample()
    found["machine"]["cores"] = 4
    text = table.markdown(found)
    assert "q/s, CoreDNS on two cores |" in text
    assert "The load shares" not in text


def test_the_lines_that_the_readme_names_are_there() -> None:
    assert set(table.TOLD) <= {line.name for line in LINES}


def test_the_range() -> None:
    assert table.headline(sample()) == (
        "5.00 to 9.00 times the queries per CPU-second of CoreDNS, 5.00 for a mix of what Pods ask"
    )
    assert table.headline(sample() | {"lines": []}) == "not measured"

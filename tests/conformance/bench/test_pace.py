"""What the open-loop generator prints, read; and the generator itself against an echo."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.bench import contestants, machine, pace
from conformance.bench.contestants import CLUSTER, ECHO, OURS, REFERENCE, Place, Server
from conformance.bench.finding import Finding
from conformance.bench.pace import Latency, Pace, parse
from conformance.bench.processes import output
from conformance.bench.programs import compiled
from conformance.bench.questions import Asked
from conformance.bench.setting import Options

PRINTED = "1700000000.500000 real-time\n0 12 150 0\n1000 9 2250 3\n2000 4 - -\n3000 5 90 0\n"
ASKED = [Asked("a.", "A"), Asked("b.", "A", "NXDOMAIN", 0)]


def test_what_it_prints() -> None:
    found = parse(PRINTED)
    assert found.started == 1700000000.5
    assert [one.took for one in found.sent] == [0.15, 2.25, None, 0.09]
    assert [one.rcode for one in found.sent] == ["NOERROR", "NXDOMAIN", "", "NOERROR"]
    assert found.latencies() == [0.09, 0.15, 2.25]
    assert found.latencies(0.5, 3.0) == [2.25]
    assert found.lateness == 0.012


def test_what_is_wrong_with_it() -> None:
    lost, wrong = pace.faults(parse(PRINTED), ASKED)
    assert lost == "1 of 4 queries lost"
    assert wrong == "1 of 4 queries answered with another rcode than is right"
    assert pace.faults(parse("1.0 real-time\n0 1 10 0\n1 1 10 3\n"), ASKED) == []


def test_figures_and_curves() -> None:
    ours = [Pace(0.0, parse(f"0 real-time\n0 0 {took} 0\n").sent) for took in (1000, 3000, 2000)]
    theirs = [Pace(0.0, parse("0 usual\n0 2000 4000 0\n").sent)]
    finding = Finding()
    echo = [Pace(0.0, parse("0 usual\n0 0 500 0\n").sent)]
    pace.conclude(finding, {OURS: ours, REFERENCE: theirs, ECHO: echo})
    assert [(figure.what, figure.beside, figure.ratio) for figure in finding.figures] == [
        (what, beside, ratio) for beside, ratio in (("CoreDNS", 0.5), ("C echo", 4)) for what in ("p50", "p99", "p99.9")
    ]
    assert set(finding.curves) == {"subject", "CoreDNS"}
    assert finding.curves["subject"][2] == (0.5, 2.0)
    assert finding.curves["subject"][-1] == (1.0, 3.0)
    assert finding.remarks == ["CoreDNS: one query in a hundred left 2.0 ms late"]


def test_a_generator_that_may_be_held_up_is_remarked_on() -> None:
    finding = Finding()
    usual, hurried = (parse(f"0 {priority}\n0 0 500 0\n") for priority in ("usual", "real-time"))
    assert usual.priority == "usual"
    pace.conclude(finding, {OURS: [hurried, usual], REFERENCE: [hurried], ECHO: [hurried]})
    assert finding.remarks == ["the generator of queries ran without real-time priority (usual)"]


@pytest.mark.parametrize(("rate", "seconds", "length"), [(3000, 2, 8), (10_000, 2, 2.4), (10_000, 4, 4)])
def test_a_round_is_long_enough_for_its_last_quantile(rate: float, seconds: float, length: float) -> None:
    found = Latency(rate).length(Options(seconds=seconds))
    assert found == pytest.approx(length)
    assert round(found * rate / 1000) >= pace.BEYOND


@pytest.mark.skipif(bool(machine.missing(["cc"])), reason=machine.missing(["cc"]))
async def test_the_programs(tmp_path: Path) -> None:
    """Every query leaves, gets its own answer, and is counted once."""
    async with contestants.started(ECHO, "", CLUSTER, Place(tmp_path, "")) as server:
        found = await paced(server, tmp_path, rate=2000, seconds=0.25)
    assert len(found.sent) == 500
    assert pace.faults(found, ASKED[:1]) == []
    assert [round(one.due, 1) for one in found.sent[:3]] == [0.0, 0.5, 1.0]
    async with contestants.upstream(Place(tmp_path, "")) as port:
        assert port


async def paced(server: Server, folder: Path, rate: float, seconds: float) -> Pace:
    path = pace.write(ASKED, folder / "asked")
    words = [await compiled("pace", folder), str(server.port), str(rate), str(seconds), str(path)]
    return parse(await output(words, machine.cores()))

"""When a run of load is no good, and what is said of it."""

from __future__ import annotations

import pytest

from conformance.bench.contestants import REFERENCE
from conformance.bench.dnsperf import Run
from conformance.bench.load import faults, remarks
from conformance.bench.questions import Asked

ONE = [Asked("a.", "A")]
THREE = [Asked("a.", "A"), Asked("b.", "A", "NXDOMAIN", 0), Asked("c.", "A")]


@pytest.mark.parametrize(
    ("run", "asked", "said"),
    [
        (Run(100, 0, 1, {"NOERROR": 100}), ONE, []),
        (Run(98, 2, 1, {"NOERROR": 98}), ONE, ["2 queries lost"]),
        (Run(0, 5, 1, {}), ONE, ["5 queries lost", "no query answered"]),
        (Run(100, 0, 1, {"NOERROR": 99, "SERVFAIL": 1}), ONE,
         ["NOERROR for 99 queries, not for 100", "SERVFAIL for 1 queries, not for 0"]),
        (Run(8, 0, 1, {"NOERROR": 5, "NXDOMAIN": 3}), THREE, []),
        (Run(8, 0, 1, {"NOERROR": 6, "NXDOMAIN": 2}), THREE,
         ["NOERROR for 6 queries, not for 5", "NXDOMAIN for 2 queries, not for 3"]),
        (Run(7, 1, 1, {"NOERROR": 5, "NXDOMAIN": 2}), THREE, ["1 queries lost"]),
        (Run(100, 0, 1, {"NOTIMP": 100}), [], []),
    ],
)  # fmt: skip
def test_faults(run: Run, asked: list[Asked], said: list[str]) -> None:
    assert faults(run, asked) == said


def test_remarks() -> None:
    assert remarks([Run(1, 0, 2.0, {}, cpu=1.9, generator=1.95)], REFERENCE) == []
    (generator,) = remarks([Run(1, 0, 2.0, {}, cpu=1.2, generator=1.95)], REFERENCE)
    assert generator == "dnsperf was the bottleneck (busy 98%, the server 60%)"

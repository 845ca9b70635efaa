"""When a run of load is no good, and what is said of it."""

from __future__ import annotations

import pytest

from conformance.bench.contestants import REFERENCE, REFERENCE_TWO
from conformance.bench.dnsperf import Run
from conformance.bench.load import faults, remarks


@pytest.mark.parametrize(
    ("run", "right", "said"),
    [
        (Run(100, 0, 1, {"NOERROR": 100}), {"NOERROR": 1}, []),
        (Run(100, 2, 1, {"NOERROR": 100}), {"NOERROR": 1}, ["2 queries lost"]),
        (Run(0, 5, 1, {}), {"NOERROR": 1}, ["5 queries lost", "no query answered"]),
        (Run(1000, 0, 1, {"NOERROR": 999, "SERVFAIL": 1}), {"NOERROR": 0.7, "NXDOMAIN": 0.3},
         ["NOERROR for 99.9% of the queries, not for 70.0%", "NXDOMAIN for 0.0% of the queries, not for 30.0%",
          "SERVFAIL for 0.1% of the queries, not for 0.0%"]),
        (Run(100, 0, 1, {"NOERROR": 71, "NXDOMAIN": 29}), {"NOERROR": 0.7, "NXDOMAIN": 0.3}, []),
        (Run(1000, 0, 1, {"NXDOMAIN": 999, "NOERROR": 1}), {"NXDOMAIN": 1},
         ["NOERROR for 0.1% of the queries, not for 0.0%", "NXDOMAIN for 99.9% of the queries, not for 100.0%"]),
        (Run(100, 0, 1, {"NOTIMP": 100}), {}, []),
    ],
)  # fmt: skip
def test_faults(run: Run, right: dict[str, float], said: list[str]) -> None:
    assert sorted(faults(run, right)) == sorted(said)


def test_remarks() -> None:
    assert remarks([Run(1, 0, 2.0, {}, cpu=1.9, generator=1.95)], REFERENCE) == []
    (generator,) = remarks([Run(1, 0, 2.0, {}, cpu=1.2, generator=1.95)], REFERENCE)
    assert generator == "dnsperf was the bottleneck (busy 98%, the server 60%)"
    (others,) = remarks([Run(1, 0, 2.0, {}, cpu=1.9, others=0.5)], REFERENCE_TWO)
    assert others == "other processes used 0.5 cores"

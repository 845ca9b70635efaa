"""What dnsperf prints, read."""

from __future__ import annotations

import pytest

from conformance.bench.dnsperf import SMALLEST_CPU, parse
from conformance.bench.processes import BenchError

PRINTED = """\
DNS Performance Testing Tool
Version 2.10.0

[Status] Testing complete (time limit)

Statistics:

  Queries sent:         36240
  Queries completed:    36233 (99.98%)
  Queries lost:         7 (0.02%)

  Response codes:       NOERROR 24233 (66.88%), NXDOMAIN 12000 (33.12%)
  Average packet size:  request 39, response 55
  Run time (s):         2.020863
  Queries per second:   17929.451002
"""


def test_figures() -> None:
    run = parse(PRINTED, cpu=0.5, generator=1.9, others=0.1)
    assert (run.queries, run.lost, run.seconds) == (36233, 7, 2.020863)
    assert run.rcodes == {"NOERROR": 24233, "NXDOMAIN": 12000}
    assert (run.per_cpu_second, round(run.per_second)) == (72466, 17929)


def test_no_reply_at_all() -> None:
    printed = PRINTED.replace("36233 (99.98%)", "0 (0.00%)").replace("  Response codes:", "  Nothing:")
    run = parse(printed)
    assert (run.queries, run.rcodes, run.per_cpu_second) == (0, {}, 0)


def test_processor_time_below_what_is_counted() -> None:
    assert parse(PRINTED).per_cpu_second == 36233 / SMALLEST_CPU


def test_something_else() -> None:
    with pytest.raises(BenchError, match="no 'Queries completed': Error: unable to resolve"):
        parse("Error: unable to resolve")

"""How long changes took to show in a server's answers, over a whole run. Prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from conformance.report.problems import called
from conformance.report.run import counted
from conformance.results import Verdict


@dataclass(frozen=True)
class Times:
    """How many answers changed, and the milliseconds until they were right, from the moment the API was asked."""

    count: int
    median: float
    p90: float
    longest: float


def times(verdicts: Iterable[Verdict]) -> dict[str, Times]:
    """The times of each server that showed a change.

    Where several servers were asked, an answer counts when all of them showed it, so that the figures are of the same
    changes.
    """
    settled = [verdict.settled for verdict in verdicts if verdict.settled]
    servers = list(dict.fromkeys(server for each in settled for server in each))
    shown = [each for each in settled if len(each) == len(servers)]
    return {server: _times([each[server] for each in shown]) for server in servers} if shown else {}


def _times(values: list[float]) -> Times:
    ordered = sorted(values)
    return Times(len(ordered), _quantile(ordered, 0.5), _quantile(ordered, 0.9), ordered[-1])


def _quantile(ordered: list[float], part: float) -> float:
    """The smallest value that this part of all values does not exceed."""
    return ordered[max(ceil(part * len(ordered)) - 1, 0)]


def summary(verdicts: Iterable[Verdict]) -> Iterator[tuple[str, str]]:
    """A line for each server, with its style (none)."""
    for server, found in times(verdicts).items():
        yield (
            (
                f"changes, {called(server)}: {counted(found.count, 'answer')} right after"
                f" {found.median:.0f} ms (median), {found.p90:.0f} ms (90 %), {found.longest:.0f} ms (longest)"
            ),
            "",
        )

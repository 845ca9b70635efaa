"""Requirement × server: what the checks say about every numbered requirement. Pure; prints nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from conformance.results import Outcome, Verdict

KINDS = {
    "R": "Kubernetes DNS specification 1.1.0",
    "X": "What resolvers need beyond the specification",
    "K": "Kubernetes end-to-end suites",
    "C": "CoreDNS's own integration tests",
}
"""What the letter of a number stands for, in the order of a table."""

NUMBER = re.compile(rf"([{''.join(KINDS)}])(\d+)([a-z]*)")
"""How a requirement is numbered: the letter of its kind, digits, and a letter where one has parts (K9b)."""


class State(StrEnum):
    """What a server makes of a requirement, the worst first."""

    FAILS = "fails"
    DEPARTS = "departs"
    PASSES = "passes"
    WAITS = "waits"
    SKIPPED = "skipped"
    NONE = "not covered"


@dataclass
class Cell:
    """How many checks of one requirement a server passed, failed, and departed in as CoreDNS departs.

    `waits` and `skipped` count jobs that would have looked at it.
    """

    passed: int = 0
    failed: int = 0
    departed: int = 0
    waits: int = 0
    skipped: int = 0

    @property
    def checks(self) -> int:
        """All checks together."""
        return self.passed + self.failed + self.departed

    @property
    def state(self) -> State:
        """The worst of what was seen; what was not looked at counts only where nothing was."""
        counts = (self.failed, self.departed, self.passed, self.waits, self.skipped, 1)
        return next(state for state, count in zip(State, counts, strict=True) if count)

    def add(self, faults: Sequence[str], departures: Sequence[str]) -> None:
        """Counts one check."""
        self.failed += bool(faults)
        self.departed += bool(departures and not faults)
        self.passed += not (faults or departures)


@dataclass(frozen=True)
class Row:
    """One requirement: its text (empty when nobody wrote one), the jobs that cover it, and a cell for each server."""

    number: str
    text: str
    cells: Mapping[str, Cell]
    jobs: list[str] = field(default_factory=list)


def order(number: str) -> tuple[int, int, str]:
    """R2 before R11, and all R before K."""
    letter, digits, rest = NUMBER.fullmatch(number).groups()  # type: ignore[union-attr]
    return list(KINDS).index(letter), int(digits), rest


def numbers(tags: Iterable[str]) -> list[str]:
    """The requirement numbers among tags, in order."""
    return sorted({tag for tag in tags if NUMBER.fullmatch(tag)}, key=order)


def table(outcomes: Sequence[Outcome], servers: Sequence[str], texts: Mapping[str, str]) -> list[Row]:
    """A row for every requirement that has a text or that a job names."""
    tags = {tag for outcome in outcomes for tag in _tags(outcome)}
    rows = {number: Row(number, texts.get(number, ""), {server: Cell() for server in servers})
            for number in numbers({*tags, *texts})}  # fmt: skip
    for outcome in outcomes:
        for number in numbers(_tags(outcome)):
            rows[number].jobs.append(outcome.name)
            for server, cell in rows[number].cells.items():
                _count(cell, server, number, outcome)
    return list(rows.values())


def _tags(outcome: Outcome) -> set[str]:
    return {*outcome.tags, *(tag for verdict in outcome.verdicts for tag in verdict.tags)}


def _count(cell: Cell, server: str, number: str, outcome: Outcome) -> None:
    """A job that broke off before it came to a requirement has failed it."""
    judged = [verdict for verdict in outcome.verdicts if number in verdict.tags and server in verdict.faults]
    for verdict in judged:
        cell.add(verdict.faults[server], _departures(verdict, server))
    if not judged:
        cell.failed += server in outcome.broken
        cell.skipped += bool(outcome.skipped)
        cell.waits += bool(outcome.waits)


def _departures(verdict: Verdict, server: str) -> Sequence[str]:
    return verdict.departures.get(server, ())


LOOKED_AT = {State.FAILS: "fail", State.DEPARTS: "depart as CoreDNS", State.PASSES: "pass"}
LEFT_OUT = {State.WAITS: "wait", State.SKIPPED: "skipped", State.NONE: "not covered"}


def looked_at(found: Mapping[State, int]) -> int:
    """How many requirements some check looked at, of the numbers in each state."""
    return sum(found.get(state, 0) for state in LOOKED_AT)


def in_words(found: Mapping[State, int]) -> str:
    """The numbers in each state: what came of those that were looked at; what became of the others."""
    parts = [[f"{found[state]} {word}" for state, word in words.items() if state in found]
             for words in (LOOKED_AT, LEFT_OUT)]  # fmt: skip
    return "; ".join(", ".join(part) for part in parts if part)


def states(rows: Iterable[Row], server: str) -> dict[State, int]:
    """How many requirements are in each state for a server, in the order of the states."""
    found = [row.cells[server].state for row in rows]
    return {state: found.count(state) for state in State if state in found}

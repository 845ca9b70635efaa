"""One run as all reports see it, and whether everything holds. Prints nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from conformance.differences import DIFFERENCES
from conformance.ending import INTERRUPTED
from conformance.plan import Plan
from conformance.results import Outcome, Verdict
from conformance.table.case import Ask, Get


@dataclass(frozen=True)
class Run:
    """What was asked for, and what was found as far as it came.

    `jobs` is how many jobs were to run, `seconds` how long it took, `started` its beginning (ISO 8601, UTC). A `whole`
    run has all jobs of pydns: what is listed must show in it. `versions` is what each server says of itself.
    """

    plan: Plan
    outcomes: tuple[Outcome, ...]
    jobs: int
    seconds: float = 0.0
    started: str = ""
    filters: tuple[str, ...] = ()
    whole: bool = False
    strict: bool = False
    interrupted: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts of all jobs in turn."""
        return [verdict for outcome in self.outcomes for verdict in outcome.verdicts]

    @property
    def servers(self) -> list[str]:
        """The servers that were judged, the subject first."""
        judged = {server for verdict in self.verdicts for server in verdict.faults}
        return sorted(judged | {self.plan.subject}, key=lambda server: (server != self.plan.subject, server))

    @property
    def problems(self) -> list[Verdict]:
        """The verdicts that must be looked at."""
        return [verdict for verdict in self.verdicts if verdict.problems]

    @property
    def skipped(self) -> list[Outcome]:
        """The jobs this machine cannot run."""
        return [outcome for outcome in self.outcomes if outcome.skipped]

    @property
    def waiting(self) -> list[Outcome]:
        """The jobs that wait for something a server does not serve yet."""
        return [outcome for outcome in self.outcomes if outcome.waits]

    @property
    def differences(self) -> Counter[str]:
        """How often each named difference showed."""
        return Counter(name for verdict in self.verdicts for name in verdict.differences)

    @property
    def departures(self) -> dict[str, Counter[str]]:
        """How often each named departure from the specification showed, by server."""
        found: dict[str, Counter[str]] = {}
        for verdict in self.verdicts:
            for server, names in verdict.departures.items():
                found.setdefault(server, Counter()).update(names)
        return found

    @property
    def never_shown(self) -> list[str]:
        """Listed differences that a whole run should have seen and did not."""
        if not self.whole or self.interrupted:
            return []
        return sorted(set(DIFFERENCES) - set(self.differences) - waiting(self.outcomes))

    @property
    def reasons(self) -> list[str]:
        """Why it does not hold; empty when it does."""
        problems = [counted(len(self.problems), "problem")] if self.problems else []
        return problems + self.shortcomings

    @property
    def shortcomings(self) -> list[str]:
        """What fails a run though each of its checks holds."""
        found = [f"listed and never shown: {', '.join(self.never_shown)}"] if self.never_shown else []
        if self.strict and self.skipped:
            found.append(f"{counted(len(self.skipped), 'job')} skipped")
        if self.interrupted:
            found.append(f"ended after {len(self.outcomes)} of {counted(self.jobs, 'job')}")
        return found

    @property
    def status(self) -> int:
        """The exit status: 0 when all holds."""
        return INTERRUPTED if self.interrupted else int(bool(self.reasons))

    @property
    def word(self) -> str:
        """The conclusion in a word or two."""
        if self.problems or (self.reasons and not self.interrupted):
            return "does not hold"
        if self.interrupted:
            return "interrupted"
        return "holds" if self.verdicts else "nothing checked"

    @property
    def conclusion(self) -> str:
        """The one line that says it."""
        checks = counted(len(self.verdicts), "check")
        return f"{self.word}: {'; '.join(self.reasons)} ({checks})" if self.reasons else f"{self.word}: {checks}"


def waiting(outcomes: Iterable[Outcome]) -> set[str]:
    """The named differences of cases that wait for a plugin or were skipped: they wait with them."""
    cases = [outcome.case for outcome in outcomes if outcome.case and (outcome.waits or outcome.skipped)]
    steps = [step for case in cases for step in case.steps if isinstance(step, Ask | Get)]
    return {name for step in steps for name in step.differences}


def counted(count: int, noun: str) -> str:
    """A number with its noun: 1 job, 2,500 checks."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

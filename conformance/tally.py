"""What clients found, counted by the phases of a run, and what is required of the counts. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

RIGHT, WRONG, LOST = "right", "wrong", "lost"
ABSENT = frozenset({"EAI_NONAME", "EAI_NODATA"})
"""What getaddrinfo(3) says of a name that is not there."""

LATE = 1.0
"""Seconds above which an answer came by a query sent again: no resolver sends one again so soon."""

CHANCE = 3.0
"""Standard deviations by which two counts of rare events may be apart and still be the same by chance."""

EXAMPLES = 5
"""Look-ups that a report names of each phase."""


@dataclass(frozen=True)
class LookUp:
    """One line of a client: who looked which name up, when (seconds since 1970), for how long, and what came of it."""

    client: str
    thread: int
    began: float
    took: float
    name: str
    result: str

    def verdict(self, right: frozenset[str]) -> str:
        """`right` when it found these addresses (none: learned that there is no such name), else `wrong` or `lost`.

        A name is lost, too, when it is not found after a wait: glibc passes over a search domain that had no reply.
        """
        if self.result in ABSENT:
            return RIGHT if not right else LOST if self.took > LATE else WRONG
        if self.result.startswith("EAI_"):
            return LOST
        return RIGHT if right and frozenset(self.result.split(",")) == right else WRONG


def said(client: str, words: Sequence[str]) -> LookUp:
    """What the five words of a client's line say: THREAD STARTED TOOK NAME RESULT, times in milliseconds."""
    thread, began, took, name, result = words
    return LookUp(client, int(thread), int(began) / 1000, int(took) / 1000, name, result)


def parse(client: str, lines: Iterable[str]) -> Iterator[LookUp]:
    """The look-ups in a container's log as containerd keeps it: `TIME STREAM F LINE`."""
    for line in lines:
        words = line.split()
        if len(words) == 8 and words[2] == "F":
            yield said(client, words[3:])


@dataclass(frozen=True)
class Phase:
    """A time of a run, in seconds since 1970, and what happened to the cluster's DNS in it."""

    name: str
    server: str
    began: float
    ended: float
    kills: int = 0


@dataclass
class Count:
    """What became of the look-ups that began in a phase; `late` ones are right, `examples` are not."""

    right: int = 0
    wrong: int = 0
    lost: int = 0
    late: int = 0
    longest: float = 0.0
    examples: list[str] = field(default_factory=list)

    def add(self, look_up: LookUp, verdict: str, since: float) -> None:
        """Takes one in; `since` is when its phase began."""
        self.right += verdict == RIGHT
        self.wrong += verdict == WRONG
        self.lost += verdict == LOST
        self.late += verdict == RIGHT and look_up.took > LATE
        self.longest = max(self.longest, look_up.took)
        if verdict != RIGHT and len(self.examples) < EXAMPLES:
            self.examples.append(
                f"{verdict} after {look_up.began - since:.1f} s, in {look_up.took:.1f} s:"
                f" {look_up.client}: {look_up.name}: {look_up.result}"
            )


def count(
    phases: Sequence[Phase], look_ups: Iterable[LookUp], answers: Mapping[str, Mapping[str, frozenset[str]]]
) -> list[Count]:
    """The counts of the phases; `answers` has what each client must find. What began between phases is left out."""
    counts = [Count() for _ in phases]
    for look_up in look_ups:
        for phase, found in zip(phases, counts, strict=True):
            if phase.began <= look_up.began < phase.ended:
                found.add(look_up, look_up.verdict(answers[look_up.client][look_up.name]), phase.began)
    return counts


def silent(look_ups: Iterable[LookUp], expected: Iterable[tuple[str, int]], end: float, patience: float) -> list[str]:
    """The threads of clients that said nothing in the last `patience` seconds: a look-up of theirs never ended."""
    last = dict.fromkeys(expected, 0.0)
    for look_up in look_ups:
        key = look_up.client, look_up.thread
        last[key] = max(last.get(key, 0.0), look_up.began + look_up.took)
    return [f"{client}, thread {thread}" for (client, thread), when in last.items() if when < end - patience]


def problems(phases: Sequence[Phase], counts: Sequence[Count]) -> list[str]:
    """What is required and not so: nothing wrong, nothing lost but after kills, and then no more than with CoreDNS."""
    found = []
    for phase, counted in zip(phases, counts, strict=True):
        if not counted.right:
            found.append(f"{phase.name}: nobody looked anything up")
        if counted.wrong:
            found.append(f"{phase.name}: {counted.wrong} wrong answers")
        if counted.lost and not phase.kills:
            found.append(f"{phase.name}: {counted.lost} look-ups lost")
    return found + _more_lost(phases, counts)


def _more_lost(phases: Sequence[Phase], counts: Sequence[Count]) -> list[str]:
    """Whether the server under test lost more than CoreDNS in its phase of kills, beyond chance."""
    killed = {phase.server: counted for phase, counted in zip(phases, counts, strict=True) if phase.kills}
    reference = killed.pop("CoreDNS", None)
    if reference is None:
        return []
    return [
        f"{server} lost {counted.lost} look-ups when replicas were killed, CoreDNS {reference.lost}"
        for server, counted in killed.items()
        if counted.lost > most_lost(reference.lost)
    ]


def most_lost(reference: int) -> int:
    """How many may be lost where the reference lost so many: what a Poisson count of the same rate rarely exceeds."""
    return reference + math.ceil(CHANCE * math.sqrt(2 * max(reference, 1)))

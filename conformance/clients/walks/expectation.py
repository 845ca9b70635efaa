"""What a resolver must be seen to do: questions in waves, how often each is sent, and what the program reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.results import Heard


@dataclass(frozen=True)
class Question:
    """One question as it goes out.

    `name` is absolute, with its final dot, and spelt as it is sent; `qtype` is in upper case, `transport` is `udp` or
    `tcp`. It is sent at least `least` and at most `most` times, repetitions counted.
    """

    name: str
    qtype: str
    transport: str = "udp"
    least: int = 1
    most: int = 1

    def __str__(self) -> str:
        times = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
        return f"{self.name} {self.qtype} {self.transport}" + ("" if times == "1" else f" {times} times")


@dataclass(frozen=True)
class Wave:
    """Questions that go out together: the next wave waits for what becomes of this one.

    Where `ordered`, the first sendings come in this order; Go's A and AAAA, on two sockets, may come in either.
    `resends`, where given, is how many sendings beyond the least of each there are at most, all questions together.
    """

    questions: tuple[Question, ...]
    ordered: bool = True
    resends: int | None = None

    @property
    def most(self) -> int:
        """How many questions there are at most."""
        if self.resends is None:
            return sum(question.most for question in self.questions)
        return sum(question.least for question in self.questions) + self.resends


@dataclass(frozen=True)
class Expectation:
    """All waves of one look-up, and what the program reports: what it found (see `model.got`) or a `Failure`."""

    waves: tuple[Wave, ...]
    got: str

    @property
    def least(self) -> int:
        """How many questions there are at least."""
        return sum(question.least for wave in self.waves for question in wave.questions)

    def faults(self, asked: Sequence[Heard]) -> tuple[str, ...]:
        """How questions seen on the wire, in their order, depart from the waves; nothing where they do not."""
        faults: list[str] = []
        rest = list(asked)
        for wave in self.waves:
            seen = _take(wave, rest)
            rest = rest[len(seen) :]
            faults += _compare(wave, seen)
        return (*faults, *(f"not expected: {_key(heard)}" for heard in rest))


def _key(question: Question | Heard) -> str:
    return f"{question.name} {question.qtype} {question.transport}"


def _take(wave: Wave, asked: Sequence[Heard]) -> list[str]:
    """The questions at the front that belong to this wave, none of them more often than it may be sent."""
    room = {_key(question): question.most for question in wave.questions}
    taken: list[str] = []
    for key in map(_key, asked[: wave.most]):
        if not room.get(key):
            break
        room[key] -= 1
        taken.append(key)
    return taken


def _compare(wave: Wave, seen: Sequence[str]) -> list[str]:
    """What is missing from a wave, and whether its first sendings are in order."""
    faults = [
        f"expected: {question}, seen {seen.count(_key(question))} times"
        for question in wave.questions
        if seen.count(_key(question)) < question.least
    ]
    order = [_key(question) for question in wave.questions if _key(question) in seen]
    first = list(dict.fromkeys(seen))
    if wave.ordered and first != order:
        faults.append(f"expected in this order: {', '.join(order)}; seen: {', '.join(first)}")
    return faults

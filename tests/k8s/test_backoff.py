"""Pauses, as client-go's reflector has them."""

from random import Random

from pydns.k8s.backoff import Backoff
from tests.support import Clock


class NoJitter(Random):
    def random(self) -> float:
        return 0.0


class MostJitter(Random):
    def random(self) -> float:
        return 1.0


def test_pauses_double_up_to_a_bound() -> None:
    backoff = Backoff(Clock(), NoJitter())
    assert [backoff.next() for _ in range(8)] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


def test_jitter_shortens_by_at_most_a_half() -> None:
    backoff = Backoff(Clock(), MostJitter())
    assert [backoff.next() for _ in range(3)] == [0.4, 0.8, 1.6]


def test_starts_again_after_two_quiet_minutes() -> None:
    clock = Clock()
    backoff = Backoff(clock, NoJitter())
    backoff.next()
    clock.now += 120
    assert backoff.next() == 1.6
    clock.now += 121
    assert backoff.next() == 0.8

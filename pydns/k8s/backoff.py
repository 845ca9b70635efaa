"""How long to wait before trying again.  Knows no task and no clock of its own."""

from collections.abc import Callable
from random import Random
from typing import Final

FIRST: Final = 0.8
LONGEST: Final = 30.0
RESET: Final = 120.0
"""Seconds without a call after which the next pause is the first one again."""


class Backoff:
    """Pauses that double from 0.8 s to 30 s, each shortened at random by up to a half, as client-go's reflector has."""

    def __init__(self, clock: Callable[[], float], rng: Random) -> None:
        self._clock = clock
        self._rng = rng
        self._pause = FIRST
        self._called = clock()

    def next(self) -> float:
        """Seconds to wait now."""
        now = self._clock()
        if now - self._called > RESET:
            self._pause = FIRST
        self._called = now
        pause = self._pause
        self._pause = min(2 * pause, LONGEST)
        return pause * (1 - self._rng.random() / 2)

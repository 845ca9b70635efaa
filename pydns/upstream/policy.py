"""The order in which the upstreams are tried for one query."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
Policy = Callable[[Sequence[T]], Sequence[T]]

NAMES = ("random", "round_robin", "sequential")


def make_policy(name: str, rng: random.Random) -> Policy[T]:
    """The policy called ``name``, one of `NAMES`."""
    if name == "round_robin":
        return RoundRobin()
    if name == "sequential":
        return sequential
    return lambda upstreams: upstreams if len(upstreams) == 1 else rng.sample(upstreams, len(upstreams))


def sequential(upstreams: Sequence[T]) -> Sequence[T]:
    """Always as they were written."""
    return upstreams


class RoundRobin:
    """A start that moves by one with each query, the second upstream first as in CoreDNS; then as they were written."""

    def __init__(self) -> None:
        self._turn = 0

    def __call__(self, upstreams: Sequence[T]) -> Sequence[T]:
        self._turn += 1
        first = self._turn % len(upstreams)
        return [upstreams[first], *upstreams[:first], *upstreams[first + 1 :]]

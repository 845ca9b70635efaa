"""The order of upstreams."""

from __future__ import annotations

import random

import pytest

from pydns.upstream.policy import Policy, make_policy


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        ("sequential", ["abc", "abc", "abc", "abc"]),
        ("round_robin", ["bac", "cab", "abc", "bac"]),
    ],
)
def test_order(name: str, turns: list[str]) -> None:
    policy: Policy[str] = make_policy(name, random.Random(1))
    assert ["".join(policy("abc")) for _ in turns] == turns


def test_random_tries_every_upstream_in_every_order() -> None:
    policy: Policy[str] = make_policy("random", random.Random(1))
    assert {"".join(policy("abc")) for _ in range(100)} == {"abc", "acb", "bac", "bca", "cab", "cba"}


@pytest.mark.parametrize("name", ["random", "round_robin", "sequential"])
def test_one_upstream_is_all_there_is(name: str) -> None:
    policy: Policy[str] = make_policy(name, random.Random(1))
    assert list(policy("a")) == ["a"]

"""Environment variables in a Corefile."""

from __future__ import annotations

import pytest

from pydns.corefile.variables import expand

ENVIRON = {"A": "1", "B": "{$A}{%A%}", "SP": "x y", "P": "{%A%}", "LOOP": "a{$LOOP}", "GROW": "{$GROW}{$GROW}"}


def value_of(name: str) -> str:
    return ENVIRON.get(name, "")


@pytest.mark.parametrize(
    ("word", "expanded"),
    [
        ("plain", "plain"),
        ("{$A}", "1"),
        ("{%A%}", "1"),
        ("x{$A}y{$A}z", "x1y1z"),
        ("{$SP}", "x y"),
        ("{$NONE}", ""),
        ("{$A", "{$A"),
        ("{%A}", "{%A}"),
        ("{$}", "{$}"),
        ("{%%}", "{%%}"),
        ("{$}{$A}", "{$}{$A}"),
        ("{$P}", "{%A%}"),
        ("{%B%}", "11"),
    ],
)
def test_expand(word: str, expanded: str) -> None:
    assert expand(word, value_of) == expanded


@pytest.mark.parametrize("word", ["{$LOOP}", "{%LOOP%}", "{$GROW}"])
def test_endless_references(word: str) -> None:
    with pytest.raises(ValueError, match="without end"):
        expand(word, value_of)

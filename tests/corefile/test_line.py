"""How errors and warnings about a line are worded."""

from __future__ import annotations

import pytest

from pydns.corefile.line import CorefileError, Line, located_warning, near_name

LINE = Line("ttl", ("1", "2"), "Corefile", 3, plugin="kubernetes")


def test_error() -> None:
    expected = "plugin/kubernetes: Corefile:3 - Error during parsing: unknown property 'x'"
    assert str(LINE.error("unknown property 'x'")) == expected
    assert str(LINE.error("unknown property 'x'", "did you mean 'y'?")) == f"{expected} (did you mean 'y'?)"


@pytest.mark.parametrize(("args", "after"), [((), "ttl"), (("1",), "1"), (("1", "2"), "2")])
def test_wrong_args(args: tuple[str, ...], after: str) -> None:
    error = Line("ttl", args, "f", 1).wrong_args()
    assert error.message == f"Wrong argument count or unexpected line ending after '{after}'"


def test_only_once() -> None:
    assert LINE.only_once().message == "this plugin can only be used once per Server Block"


def test_an_error_is_one_line() -> None:
    assert str(LINE.error("a\nb\x1b")).endswith("a\\nb\\x1b")


def test_an_error_about_a_whole_file_has_no_place() -> None:
    assert str(CorefileError("loading failed", "f", 0, kind="")) == "loading failed"


def test_warnings_are_shared_and_shown_once() -> None:
    warnings: list[str] = []
    for _ in range(2):
        Line("a", (), "f", 2, plugin="hosts", warnings=warnings).warn("left out")
    assert warnings == ["plugin/hosts: f:2 - Warning: left out"] == [located_warning("left out", "f", 2, "hosts")]


@pytest.mark.parametrize(
    ("word", "hint"),
    [("forwrad", "did you mean 'forward'?"), ("CACHE", "did you mean 'cache'?"), ("zzz", ""), ("", "")],
)
def test_near_name(word: str, hint: str) -> None:
    assert near_name(word, ["forward", "cache"]) == hint

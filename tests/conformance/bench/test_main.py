"""The command line."""

from __future__ import annotations

import pytest

from conformance.bench.__main__ import arguments, main, options_of
from conformance.bench.setting import Options


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], Options()),
        (["--quick"], Options(rounds=3, seconds=1.5, quick=True)),
        (["--quick", "--rounds", "9"], Options(rounds=9, seconds=1.5, quick=True)),
        (["--subject", "./server", "--seconds", "0.5"], Options("./server", seconds=0.5)),
    ],
)
def test_options(words: list[str], options: Options) -> None:
    assert options_of(arguments().parse_args(words)) == options


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--load", "tcp", "--load", "burst", "--load", "at once"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[-1] for line in lines] == [
        "mix over TCP, 50 connections", "1,000 slices changed at once", "in all"
    ]  # fmt: skip


def test_no_such_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--load", "nosuch"]) == 2
    assert capsys.readouterr().err == "no line has a name with nosuch; --list prints them\n"

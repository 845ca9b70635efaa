"""The command line."""

from __future__ import annotations

import pytest

from conformance.bench.__main__ import arguments, main, options_of, status
from conformance.bench.finding import Finding, Result
from conformance.bench.setting import Options
from tests.conformance.bench.sample import ABSENT, LATENCY, LOST, MIX, VOID


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


@pytest.mark.parametrize("words", [["--load", "mix"], ["--quick"]])
def test_a_part_of_the_lines_is_not_kept(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--report", *words]) == 2
    assert capsys.readouterr().err.startswith("--report keeps a run of all lines: ")


@pytest.mark.parametrize("words", [["--rounds", "0"], ["--rounds", "x"], ["--seconds", "-1"], ["--seconds", "nan"]])
def test_values_that_mean_nothing(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--list"])
    assert ended.value.code == 2
    assert f"argument {words[0]}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("results", "usual", "strict"),
    [
        ([MIX], 0, 0),
        ([MIX, VOID], 0, 0),  # it was CoreDNS that failed
        ([MIX, LATENCY], 0, 1),
        ([MIX, LOST], 1, 1),
        ([MIX, ABSENT], 0, 0),
        ([ABSENT], 1, 1),
        ([Result("x", [], Finding(faults=["the API ended"]))], 1, 1),
    ],
)
def test_the_status(results: list[Result], usual: int, strict: int) -> None:
    assert (status(results, False), status(results, True)) == (usual, strict)

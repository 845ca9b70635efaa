"""The command line: what may be asked for, what is said of what may not, and how a run ends."""

import argparse
import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from conformance import __main__ as command
from conformance import options
from conformance.live.options import UsageError
from conformance.plan import Plan
from conformance.results import Outcome, Verdict
from conformance.setting import Setting

OUTSIDE = Plan("127.0.0.1:53", "expected")
"""A plan that starts no server."""


@pytest.mark.parametrize("text", ["pydns", "coredns", "127.0.0.1:53", "[::1]:1053"])
def test_servers_that_may_be_judged(text: str) -> None:
    assert options.subject(text) == text


@pytest.mark.parametrize(
    ("text", "address"), [("10.96.0.10", "10.96.0.10:53"), ("::1", "[::1]:53"), ("[::1]", "[::1]:53")]
)
def test_an_address_without_a_port_has_port_53(text: str, address: str) -> None:
    assert options.subject(text) == address


@pytest.mark.parametrize("text", ["bind", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:dns", ":53", "pydns:53"])
def test_what_is_no_server_is_told_what_is(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{text!r} is none of pydns, coredns, ADDRESS"):
        options.subject(text)


def test_a_program_is_a_server_wherever_it_is_started_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "server").touch(0o700)
    monkeypatch.chdir(tmp_path)
    assert options.subject("./server") == str(tmp_path / "server")


@pytest.mark.parametrize("text", ["nosuch/server", "./report.txt", "/"])
def test_a_path_that_is_no_program_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    (tmp_path / "report.txt").touch(0o600)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{text!r} is no program that can be started$"):
        options.subject(text)


@pytest.mark.parametrize("words", ["--jobs 0", "--jobs=-1", "--jobs many", "--limit 0"])
def test_a_number_that_no_run_could_use_is_told(capsys: pytest.CaptureFixture[str], words: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        options.arguments().parse_args(words.split())
    assert "is no whole number above 0" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["nosuch/report.html", "."])
def test_a_report_that_could_not_be_written_is_told_before_the_run(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is no file in a folder that exists"):
        options.report_file(text)


def test_a_report_in_a_folder_that_may_not_be_looked_into_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", forbidden)
    with pytest.raises(argparse.ArgumentTypeError, match=r"may not be written$"):
        options.report_file(str(tmp_path / "report.html"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--zone k8s.test", "--zone goes with --kubeconfig or --subject ADDRESS"),
        ("--context prod", "--context goes with --kubeconfig"),
        ("--image python", "--image goes with --kubeconfig"),
        ("--subject 10.96.0.10 --dns-service a/b", "--dns-service goes with --kubeconfig"),
        ("--kubeconfig k --limit 7", "--limit goes with --audit"),
        ("--subject coredns --packet-cache off", "--packet-cache goes with --subject pydns"),
        ("--kubeconfig k --packet-cache off", "--packet-cache goes with --subject pydns"),
        ("--record --reference recorded", "--record asks CoreDNS alone: it goes without --reference"),
        ("--record --subject 10.96.0.10", "--record asks CoreDNS alone: it goes without --subject"),
    ],
)
def test_an_option_that_nothing_would_come_of_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["conformance", *words.split()])
    assert command.main() == 2
    assert capsys.readouterr().err == f"{message}\n"


@pytest.mark.parametrize("words", ["", "--packet-cache off", "--subject ::1 --zone a.test", "--record"])
def test_options_that_go_together(words: str) -> None:
    options.check(options.arguments().parse_args(words.split()))


def test_recordings_that_could_not_be_kept_are_told_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("recorded/kubernetes"))
    with pytest.raises(UsageError, match=r"^--record: .*/recorded/kubernetes may not be written$"):
        options.check(options.arguments().parse_args(["--record"]))


def test_help_explains_every_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        options.arguments().parse_args(["--help"])
    text = capsys.readouterr().out
    assert all(f"\n  {status:<4}" in text for status in (0, 1, 2, 130))


def test_a_filter_that_no_name_holds_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["conformance", "--reference", "recorded", "kubernetes/nosuch"])
    assert command.main() == 2
    assert capsys.readouterr().err.startswith("no job's name holds 'kubernetes/nosuch'")


def test_a_real_api_that_is_not_built_is_told_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYDNS_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["conformance", "--reference", "recorded", "--api", "real", "loop"])
    assert command.main() == 2
    assert capsys.readouterr().err == "etcd is not built; build it with: python -m conformance.tools.build etcd\n"


def test_a_list_runs_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["conformance", "--list", "loop/loop:none"])
    assert command.main() == 0
    name, _, about = capsys.readouterr().out.splitlines()[0].partition("  ")
    assert (name, about) == ("loop/loop:none", "loop: a server that is its own upstream stops, any other runs")


class Scripted:
    """A job that finds what it is told, and may send this process a signal and then wait for its end."""

    about = "does what it is told"
    tags = ("R1",)
    limit = 10.0

    def __init__(self, name: str, fault: str = "", number: signal.Signals | None = None) -> None:
        self.name = name
        self._fault, self._number = fault, number
        self.stopped = False

    async def run(self, setting: Setting, outcome: Outcome) -> None:
        faults = {"pydns": (self._fault,) if self._fault else ()}
        outcome.verdicts.append(Verdict(self.name, self.name, "?", faults, self.tags))
        if self._number:
            os.kill(os.getpid(), self._number)
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped = True


def judged(folder: Path, *jobs: Scripted) -> int:
    words = ["--jobs", "1", *(f"--{kind}={folder}/report.{kind}" for kind in ("json", "html", "junit"))]
    return command.judge(jobs, OUTSIDE, options.arguments().parse_args([*words, "--api", "fake"]))


@pytest.mark.parametrize(("fault", "status"), [("", 0), ("wrong rcode", 1)])
def test_the_exit_status_is_0_only_when_all_holds(tmp_path: Path, fault: str, status: int) -> None:
    assert judged(tmp_path, Scripted("a/one"), Scripted("a/two", fault)) == status


def test_reports_are_written(tmp_path: Path) -> None:
    judged(tmp_path, Scripted("a/one"))
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".html", ".junit"}


def test_a_full_disk_fails_the_run_and_takes_no_other_report_along(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "report.json").symlink_to("/dev/full")
    assert judged(tmp_path, Scripted("a/one")) == 1
    assert f"report: {tmp_path}/report.json: not written: No space left on device" in capsys.readouterr().out
    assert (tmp_path / "report.html").stat().st_size


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_stops_what_runs_and_tells_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    interrupted = Scripted("a/two", number=number)
    assert judged(tmp_path, Scripted("a/one"), interrupted, Scripted("a/three")) == 130
    assert interrupted.stopped
    found = json.loads((tmp_path / "report.json").read_text())
    assert [job["name"] for job in found["jobs"]] == ["a/one"]
    assert "interrupted: ended after 1 of 3 jobs (1 check)" in capsys.readouterr().out

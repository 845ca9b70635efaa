"""Command lines: what CoreDNS takes, and what is wrong told in one line."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pydns import cli, registry, serve
from pydns.serve import Options
from pydns.version import version_lines


@pytest.fixture
def kept_signals() -> Iterator[None]:
    """The command line changes what this process does on signals."""
    numbers = (signal.SIGUSR1, signal.SIGHUP, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, action in zip(numbers, before, strict=True):
        signal.signal(number, action)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, kept_signals: None, collector_as_before: None) -> list[Options]:
    """The options of each server that would have run; its exit status is 7."""
    options: list[Options] = []

    def note(given: Options) -> int:
        options.append(given)
        return 7

    monkeypatch.setattr(serve, "serve", note)
    return options


@pytest.mark.parametrize(
    "words, options",
    [
        ([], Options()),
        (["-conf", "x"], Options(conf="x")),
        (["-conf=x"], Options(conf="x")),
        (["--conf", "x"], Options(conf="x")),
        (["-conf", "stdin"], Options(conf="stdin")),
        (["-dns.port", "1053"], Options(dns_port=1053)),
        (["-dns.port=1053"], Options(dns_port=1053)),
        (["-p", "1053"], Options(dns_port=1053)),
        (["-p=1053"], Options(dns_port=1053)),
        (["-quiet"], Options(quiet=True)),
        (["-quiet=true"], Options(quiet=True)),
        (["-quiet=false"], Options()),
        (["-version=false", "-plugins=0"], Options()),
        (["-pidfile", "/run/x"], Options(pidfile=Path("/run/x"))),
        (["--kubeconfig", "k"], Options(kubeconfig=Path("k"))),
        (["--manifests", "a", "b/c"], Options(manifests=(Path("a"), Path("b/c")))),
        (["-conf", "x", "--manifests", "a", "-p", "5"], Options(conf="x", dns_port=5, manifests=(Path("a"),))),
    ],
)
def test_without_a_command_it_serves(words: Sequence[str], options: Options, served: list[Options]) -> None:
    assert cli.main(words) == 7
    assert served == [options]


def test_signals_before_the_server_takes_them_end_nothing_or_end_it_quietly(served: list[Options]) -> None:
    cli.main([])
    assert signal.getsignal(signal.SIGUSR1) == signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) == signal.SIG_DFL


def test_nothing_is_collected_while_the_server_is_imported(served: list[Options]) -> None:
    cli.main([])
    assert not gc.isenabled()


def test_extra_words_are_an_error(served: list[Options], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["foo", "bar"]) == 1
    assert capsys.readouterr().err == "extra command line arguments: [foo bar]\n"
    assert not served


@pytest.mark.parametrize(
    "words, part",
    [
        (["-zzz"], "unrecognized arguments: -zzz"),
        (["-p", "dns"], "'dns' is no port; 0 to 65535 is"),
        (["-p", "65536"], "'65536' is no port; 0 to 65535 is"),
        (["-conf"], "expected one argument"),
        (["--kubeconfig", "a", "--manifests", "b"], "not allowed with argument"),
        (["check"], "the following arguments are required: FILE"),
    ],
)
def test_a_flag_that_is_wrong_ends_with_status_2(
    words: Sequence[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert part in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["-version", "--version", "-version=true"])
def test_the_version_is_two_lines(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([flag]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert (first, second) == version_lines()
    assert first.startswith("pydns-")
    assert f"python{sys.version_info.major}.{sys.version_info.minor}" in second


def test_the_plugins_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["-plugins"]) == 0
    assert capsys.readouterr().out.splitlines() == sorted(registry.PLUGINS)


def test_the_help_names_flags_commands_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert not ended.value.code
    out = capsys.readouterr().out
    for part in ("-conf FILE", "-dns.port N", "-quiet", "-pidfile FILE", "-plugins", "-version", "--kubeconfig FILE",
                 "--manifests PATH", "pydns check FILE", "pydns plugins [NAME]", "SIGUSR1",
                 "PYDNS_PACKET_CACHE=0"):  # fmt: skip
        assert part in out


def test_check_and_plugins_are_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Corefile").write_text(".:1053 {\n    whoami\n}\n")
    assert cli.main(["check", str(tmp_path / "Corefile")]) == 0
    assert "queries pass: whoami" in capsys.readouterr().out
    assert cli.main(["check", str(tmp_path / "Corefile"), str(tmp_path / "nosuch")]) == 1
    assert "== " in capsys.readouterr().out
    assert cli.main(["plugins", "whoami"]) == 0
    assert capsys.readouterr().out.startswith("# whoami\n")


@pytest.mark.parametrize("words", [["-version"], ["-plugins"]])
def test_small_answers_import_little(words: Sequence[str]) -> None:
    code = (
        f"import sys; from pydns.cli import main; main({list(words)}); "
        "print([name for name in ('aiohttp', 'kubernetes', 'msgspec') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"

"""What a program says of itself, whatever the program."""

from __future__ import annotations

import os
import select
from pathlib import Path

import pytest

from conformance.servers import subjects
from conformance.servers.ports import free_port


def program(folder: Path, script: str) -> str:
    """A shell script as a subject."""
    path = folder / "server"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or will be within 5 seconds."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(descriptor):
        return bool(select.select([descriptor], [], [], 5)[0])  # readable once the process has ended


async def test_a_version_is_the_first_line(tmp_path: Path) -> None:
    assert await subjects.version(program(tmp_path, 'echo "Other-2.0"; echo "linux/amd64 $1"')) == "Other-2.0"


async def test_plugins_with_and_without_their_prefix(tmp_path: Path) -> None:
    assert await subjects.plugins(program(tmp_path, "echo dns.cache; echo '  dns.file'; echo on")) == {
        "cache",
        "file",
        "on",
    }


async def test_a_program_that_does_not_end_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "FLAG_TIMEOUT", 0.1)
    assert await subjects.version(program(tmp_path, "exec sleep 60")) == ""


async def test_a_program_that_does_not_know_the_flag_says_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = 'echo "usage: server -conf FILE"; echo "Traceback (most recent call last):" >&2; exit 2'
    assert await subjects.version(program(tmp_path, script)) == ""
    assert capfd.readouterr() == ("", "")


async def test_a_program_that_never_stops_talking_is_cut_short(tmp_path: Path) -> None:
    assert len(await subjects.plugins(program(tmp_path, "yes"))) == 1


async def test_a_file_that_is_no_program_is_told(tmp_path: Path) -> None:
    (tmp_path / "server").write_bytes(b"\x7fELF")
    (tmp_path / "server").chmod(0o755)
    with pytest.raises(subjects.StartError, match="cannot be run: Exec format error"):
        await subjects.version(str(tmp_path / "server"))


async def test_what_a_script_started_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "START_TIMEOUT", 1.0)
    (tmp_path / "Corefile").touch()
    with pytest.raises(subjects.StartError, match="no reply on port"):
        async with subjects.start(
            program(tmp_path, "sleep 60 & echo $! >child; wait"), tmp_path / "Corefile", free_port()
        ):
            pass
    child = int((tmp_path / "child").read_text())
    assert has_ended(child)


async def test_a_program_that_serves_nothing_is_told_before_the_first_job(tmp_path: Path) -> None:
    with pytest.raises(subjects.StartError, match=r"^ended with status 4\nno cheese today$"):
        await subjects.check(program(tmp_path, "echo no cheese today; exit 4"))

"""What a program says of itself, whatever the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import subjects


def program(folder: Path, script: str) -> str:
    """A shell script as a subject."""
    path = folder / "server"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


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

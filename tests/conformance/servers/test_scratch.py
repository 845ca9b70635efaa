"""Temporary files of a run: all in one place, and gone with it or with the next."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from conformance.servers import scratch


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def age(folder: Path) -> None:
    """Makes a folder look old."""
    os.utime(folder, (0, 0))


def test_all_temporary_files_are_in_one_folder_and_gone_with_it(parent: Path) -> None:
    with scratch.run_folder() as folder:
        (Path(tempfile.mkdtemp()) / "file").touch()
        assert [path.parent for path in folder.iterdir() if path.is_dir()] == [folder]
        assert list(parent.iterdir()) == [folder]
    assert list(parent.iterdir()) == []
    assert tempfile.gettempdir() == str(parent)


@pytest.mark.parametrize("locked", [True, False])
def test_what_a_killed_run_left_is_removed_by_the_next(parent: Path, locked: bool) -> None:
    left = parent / "conformance-run-x"
    (left / "conformance-pydns-y").mkdir(parents=True)
    if locked:
        (left / "lock").touch()
    age(left)
    with scratch.run_folder():
        assert not left.exists()


def test_a_run_that_lives_keeps_its_files(parent: Path) -> None:
    with scratch.run_folder() as folder:
        age(folder)
        scratch.sweep(parent)
        assert folder.is_dir()


def test_a_run_that_just_starts_keeps_its_files(parent: Path) -> None:
    (parent / "conformance-run-x").mkdir()
    scratch.sweep(parent)
    assert (parent / "conformance-run-x").is_dir()

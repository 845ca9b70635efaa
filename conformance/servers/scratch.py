"""One folder for all temporary files of a run, and the removal of what killed runs left behind. Knows no jobs."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "conformance-run-"
LOCK = "lock"
"""The file that a run keeps locked as long as it lives: the kernel unlocks it however the run ends."""

YOUNG = 60.0
"""Seconds in which a folder may not have its lock yet."""


@contextmanager
def run_folder() -> Iterator[Path]:
    """Where `tempfile` puts everything until the block ends; then it is gone. Raises `OSError` where none can be."""
    sweep(Path(tempfile.gettempdir()))
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with (folder / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tempfile.tempdir = name
            try:
                yield folder
            finally:
                tempfile.tempdir = before


def sweep(parent: Path) -> None:
    """Removes the folders of runs that no longer live; another user's stay."""
    for folder in parent.glob(f"{PREFIX}*"):
        if _is_left_over(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_left_over(folder: Path) -> bool:
    try:
        if time.time() - folder.stat().st_mtime < YOUNG:
            return False
        with (folder / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return folder.is_dir()
    except OSError:
        return False
    return True

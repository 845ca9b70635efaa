"""The report files that a command line asks for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from conformance.report import document, junit, page
from conformance.report.run import Run
from conformance.spec.requirements import REQUIREMENTS


def write(run: Run, options: argparse.Namespace) -> Iterator[tuple[Path, str]]:
    """Writes the files one after another: each path with the reason why it could not be written, empty when it is."""
    found = document.document(run, REQUIREMENTS)
    writers: dict[str, Callable[[Path], None]] = {
        "json": lambda path: document.write(found, path),
        "junit": lambda path: junit.write(run, path),
        "html": lambda path: page.write(found, path),
    }
    for kind, writer in writers.items():
        path: Path | None = getattr(options, kind)
        if path:
            yield path, _attempt(writer, path)


def _attempt(writer: Callable[[Path], None], path: Path) -> str:
    """A full disk must not take the other reports along."""
    try:
        writer(path)
    except OSError as error:
        return error.strerror or str(error)
    return ""

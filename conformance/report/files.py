"""The report files that a command line asks for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from conformance.report import document, junit, page
from conformance.report.run import Run
from conformance.spec.requirements import REQUIREMENTS


def write(run: Run, options: argparse.Namespace) -> Iterator[Path]:
    """Writes the files one after another, and names each that is there."""
    found = document.document(run, REQUIREMENTS)
    if options.json:
        document.write(found, options.json)
        yield options.json
    if options.junit:
        junit.write(run, options.junit)
        yield options.junit
    if options.html:
        page.write(found, options.html)
        yield options.html

"""Conformance suite: asks a reference server (CoreDNS) and a server under test the same questions and compares.

Duty: judge any DNS server by what it sends. Nothing in this package imports pydns; a subject is a command line
or an address, and only its replies, its log and its HTTP pages are looked at.
"""

from __future__ import annotations

import sys
from types import TracebackType


def tell_missing(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What ends a command of the suite, shown: one line and exit status 2 where a package of others is missing."""
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else __name__
    if package == __name__:
        sys.__excepthook__(kind, error, trace)
        return
    print(
        f"conformance: the Python package {package} is missing: run `make conformance` or `make run` once and use"
        " .venv/bin/python, or pip install -e '.[dev]'",
        file=sys.stderr,
    )
    raise SystemExit(2)


if sys.argv[0] == "-m":  # `python -m conformance…` looks for the module to run, and nothing of it was imported yet
    sys.excepthook = tell_missing

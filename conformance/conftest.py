"""Options of `pytest conformance`."""

from __future__ import annotations

import argparse

import pytest

from conformance.options import subject
from conformance.plan import Plan


def started(text: str) -> str:
    """A server that the suite starts; raises `ArgumentTypeError`."""
    found = subject(text)
    if Plan(found).outside:
        raise argparse.ArgumentTypeError(f"{text} runs already: judge it with python -m conformance --subject {text}")
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    """The same choices as `python -m conformance` has."""
    group = parser.getgroup("conformance")
    group.addoption("--subject", type=started, default="pydns", help="pydns, coredns, or a program")
    group.addoption("--reference", default="auto", choices=("auto", "coredns", "recorded", "expected"))
    group.addoption("--api", default="auto", choices=("auto", "real", "fake"))
    group.addoption("--packet-cache", default="on", choices=("on", "off"))

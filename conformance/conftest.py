"""Options of `pytest conformance`."""

from __future__ import annotations

import pytest

from conformance.options import subject


def pytest_addoption(parser: pytest.Parser) -> None:
    """The same choices as `python -m conformance` has."""
    group = parser.getgroup("conformance")
    group.addoption("--subject", type=subject, default="pydns", help="pydns, coredns, or ADDRESS:PORT")
    group.addoption("--reference", default="auto", choices=("auto", "coredns", "recorded", "expected"))
    group.addoption("--api", default="auto", choices=("auto", "real", "fake"))
    group.addoption("--packet-cache", default="on", choices=("on", "off"))

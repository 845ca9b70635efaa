"""Fixtures for all tests."""

from collections.abc import Iterator

import pytest

from pydns import log


@pytest.fixture
def log_lines() -> Iterator[list[str]]:
    """The log lines written during the test, ``[DEBUG]`` ones left out."""
    lines: list[str] = []
    before = log.OUTPUT.sink
    log.OUTPUT.sink = lines.append
    yield lines
    log.OUTPUT.sink = before

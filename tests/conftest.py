"""Fixtures for all tests."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from pydns import log

settings.register_profile("unhurried", deadline=None)  # a busy machine must not make a test fail
settings.load_profile("unhurried")


@pytest.fixture
def log_lines() -> Iterator[list[str]]:
    """The log lines written during the test, ``[DEBUG]`` ones left out."""
    lines: list[str] = []
    before = log.OUTPUT.sink
    log.OUTPUT.sink = lines.append
    yield lines
    log.OUTPUT.sink = before

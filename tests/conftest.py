"""Fixtures for all tests."""

import gc
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


@pytest.fixture
def collector_as_before() -> Iterator[None]:
    """The garbage collector runs after the test as it did before."""
    before = gc.get_threshold()
    yield
    gc.enable()
    gc.unfreeze()
    gc.set_threshold(*before)

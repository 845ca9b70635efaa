"""*debug* is a setting of its block."""

import pytest

from pydns.corefile.line import CorefileError
from pydns.plugins.debug import Debug
from tests.support import make_block, make_plugin


def test_it_sets_debug() -> None:
    block = make_block()
    make_plugin(Debug, "debug\ndebug", block)
    assert block.settings.debug
    assert not Debug.is_link()


def test_it_takes_no_words() -> None:
    with pytest.raises(CorefileError, match="Wrong argument count or unexpected line ending after 'x'"):
        make_plugin(Debug, "debug x")

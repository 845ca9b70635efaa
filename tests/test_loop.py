"""Which event loop is taken; a module in uvloop's place stands for the installed library."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType

import pytest

from pydns.loop import loop_version, run
from pydns.version import version_lines


class Loop(asyncio.SelectorEventLoop):
    """What stands for uvloop's."""


async def current_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_uvloop_is_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("uvloop")
    module.__dict__.update(new_event_loop=Loop, __version__="0.23.0")
    monkeypatch.setitem(sys.modules, "uvloop", module)
    assert type(run(current_loop())) is Loop
    assert loop_version() == "uvloop0.23.0"
    assert version_lines()[1].endswith(", uvloop0.23.0")


def test_without_it_asyncio_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert isinstance(run(current_loop()), asyncio.SelectorEventLoop)
    assert loop_version() == ""
    assert "uvloop" not in version_lines()[1]

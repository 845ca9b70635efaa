"""The event loop that runs the server: uvloop's where it is installed (the extra ``fast``), else asyncio's own.

Rule: nothing else depends on which one it is; the version lines name it, so that a log tells.
"""

import asyncio
from collections.abc import Coroutine
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, on the fastest loop there is."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's or asyncio's."""
    uvloop = _uvloop()
    loop: asyncio.AbstractEventLoop = asyncio.new_event_loop() if uvloop is None else uvloop.new_event_loop()
    return loop


def loop_version() -> str:
    """Name and version of a loop that is not Python's own, else an empty string."""
    uvloop = _uvloop()
    return "" if uvloop is None else f"uvloop{uvloop.__version__}"


def _uvloop() -> ModuleType | None:
    try:
        return import_module("uvloop")
    except ImportError:
        return None

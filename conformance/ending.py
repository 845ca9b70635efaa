"""How the suite's programs end when they are told to, by Ctrl-C or by SIGTERM: at the first word, and in order.

Further ones leave a program the time to stop what it started. Knows no program.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)

INTERRUPTED = 130
"""The exit status of a program that was ended by one of them, as shells know it of Ctrl-C."""


def heed_signals() -> None:
    """From now on the first signal raises `KeyboardInterrupt` wherever this process is."""

    def told(*_: object) -> None:
        for number in SIGNALS:
            signal.signal(number, _no_more)
        _say()
        raise KeyboardInterrupt

    for number in SIGNALS:
        signal.signal(number, told)


def run(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` of what the first signal cancels; raises `KeyboardInterrupt` when that has come to an end."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        return asyncio.run(_cancelled_by_signals(main))
    except asyncio.CancelledError:
        before = dict.fromkeys(SIGNALS, _no_more)
        raise KeyboardInterrupt from None
    finally:
        for number, heard in before.items():
            signal.signal(number, heard)


async def _cancelled_by_signals(main: Coroutine[Any, Any, T]) -> T:
    task = asyncio.current_task()
    assert task
    cancel_by_signals(task)
    try:
        return await main
    except Exception:
        if task.cancelling():  # Ctrl-C in a terminal goes to all that was started, too: that it fails is no news
            raise asyncio.CancelledError from None
        raise


def cancel_by_signals(task: asyncio.Task[Any]) -> None:
    """The first signal cancels a task of the running loop."""

    def told() -> None:
        if not task.cancelling():
            _say()
            task.cancel()

    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, told)


def _no_more(*_: object) -> None:
    """In place of SIG_IGN, which programs that are started would inherit."""


def _say() -> None:
    """As a signal's handler may: what is printed may be in the midst of another line."""
    os.write(2, "stopping …\n".encode())

"""What is opened at once is open or closed, whatever becomes of the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from conformance.together import together


async def value(of: int) -> int:
    return of


async def test_results_come_in_order() -> None:
    assert await together(value(1), value(2)) == [1, 2]


async def test_what_opens_after_another_failed_is_closed_with_the_rest() -> None:
    events: list[str] = []
    failed = asyncio.Event()

    @asynccontextmanager
    async def late() -> AsyncIterator[None]:
        await failed.wait()
        events.append("opened")
        try:
            yield
        finally:
            events.append("closed")

    async def failing() -> None:
        failed.set()
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        async with AsyncExitStack() as stack:
            await together(stack.enter_async_context(late()), failing())
    assert events == ["opened", "closed"]

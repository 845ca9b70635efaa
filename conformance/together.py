"""Several things done at once, so that nothing of them is left behind when one fails. Knows nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def together(*openings: Awaitable[T]) -> list[T]:
    """All results. Where one fails its error is raised once all have come to an end.

    `asyncio.gather` raises at once, and what opens after that is closed by nobody.
    """
    results = await asyncio.gather(*openings, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]

"""Parent and worker processes as plugins see them (*multisocket*): what a worker is fed, what its parent is told.

It knows neither processes nor how they talk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import ClassVar, Protocol, runtime_checkable


class Workers:
    """The worker processes as plugins of the parent see them; here, that there are none."""

    async def collect(self) -> None:
        """Add what they counted to the process's metrics."""

    def not_ready(self) -> Collection[str]:
        """The names of plugins that are not ready in one of them."""
        return ()


@runtime_checkable
class Feeds(Protocol):
    """A plugin whose data come from outside: a parent fetches them and feeds the same plugin of each worker process."""

    name: ClassVar[str]

    def snapshot(self) -> Iterator[bytes]:
        """All data as they are at this call, in pieces; made of them when they are asked for."""

    def follow(self, tell: Callable[[bytes], None]) -> None:
        """Tell each change from now on, in the loop iteration that applies it."""

    def take(self, piece: bytes) -> None:
        """Apply, in a worker, what the parent's plugin gave."""

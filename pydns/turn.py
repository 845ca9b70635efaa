"""What is put off to the end of a turn, so that datagrams that come up one after the other leave together.

A turn is what is done about one socket that was readable.  A process reads its sockets one after the other, from one
thread, so there is one turn at a time.  Nothing waits for another event: a turn ends before the loop goes on, and what
is put off outside of one is done at once.
"""

from __future__ import annotations

from collections.abc import Callable


class Turn:
    """A context to do the work of a turn in."""

    def __init__(self) -> None:
        self.under_way = False
        self._ends: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        self.under_way = True

    def __exit__(self, *_: object) -> None:
        self.under_way = False
        ends, self._ends = self._ends, []
        for end in ends:
            end()

    def at_end(self, end: Callable[[], None]) -> None:
        """Call ``end`` when the turn ends.  It raises nothing."""
        if self.under_way:
            self._ends.append(end)
        else:
            end()


TURN = Turn()
"""That of this process."""

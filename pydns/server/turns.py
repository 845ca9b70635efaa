"""Whose turn it is: the TCP connections of one address take queries one after the other.

Rules:

1. After `OCTETS` of queries, or one read more, the event loop goes on before any of them takes more: so datagrams,
   timers and queries in flight wait for a part of the busy connections, not for all.
2. None takes more while `BACKLOG` queries have not begun yet, or ``most`` are in flight.  What waits is then with the
   clients, and a query that came by UDP waits behind few.
3. Who may take nothing stands in line.  Whoever comes while others stand there goes to its end, and each is called
   once in a pass of the event loop.

It knows neither sockets nor queries: a connection says what it took.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from pydns.server.listener import HasListener

OCTETS = 8 << 10
"""As one read brings: some 180 queries.  Those that are known take a third of a millisecond."""
BACKLOG = 64
"""As many as one read of a UDP socket may bring, so both have the same part where no query is known."""


class Waiter(Protocol):
    """What may stand in line."""

    def go_on(self) -> None:
        """Its turn has come; it may line up again."""


class Turns:
    """The line of one address.  ``most`` is how many queries of all connections may be in flight."""

    def __init__(self, endpoint: HasListener, most: int) -> None:
        self.in_flight = 0
        self._endpoint = endpoint
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._line: deque[Waiter] = deque()
        self._taken = 0
        self._scheduled = False
        self._calling = False

    def has_room(self) -> bool:
        """Whether more may be taken (rules 1 and 2)."""
        backlog = self._endpoint.listener.backlog
        return self._taken < OCTETS and backlog < BACKLOG and self.in_flight < self._most

    def is_free(self) -> bool:
        """Whether who asks need not line up."""
        return (self._calling or not self._line) and self.has_room()

    def line_up(self, waiter: Waiter) -> None:
        self._line.append(waiter)
        self._schedule()

    def took(self, octets: int) -> None:
        """Count octets of queries that somebody took."""
        self._taken += octets
        if self._taken >= OCTETS:
            self._schedule()

    def enter(self) -> None:
        """Count a query in flight, until it is to `leave`."""
        self.in_flight += 1

    def leave(self) -> None:
        """Count one less."""
        self.in_flight -= 1
        if self._line:
            self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        """Begin a pass: call those who stand in line."""
        self._scheduled = False
        self._taken = 0
        self._calling = True
        try:
            for _ in range(len(self._line)):
                if not self.has_room():
                    break
                self._line.popleft().go_on()
        finally:  # an error of one is not the others'
            self._calling = False
            if self._line and self.in_flight < self._most:
                self._schedule()

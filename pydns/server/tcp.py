"""DNS over TCP: messages behind two octets of length (RFC 1035 section 4.2.2, RFC 7766).

Rules:

1. Queries of one connection are answered as soon as each is ready, so one slow query holds up no other (RFC 7766
   section 7).
2. The first query must be whole within ``read_timeout`` seconds, each later one within ``idle_timeout`` of the last
   query or reply; octets that dribble in gain nothing.
3. A connection has at most ``in_flight`` queries that wait for replies; then reading stops until one is answered.
4. A client that leaves replies unread stops its own connection: nothing more is read, and after ``write_timeout``
   seconds the connection is cut.  So one costs at most the send buffer and the replies in flight.  The kernel's
   buffers are bounded as well (`sockets`).
5. Of more than ``connections`` connections the one that has been silent for longest is closed, if it waits for
   nothing; else the new one.
6. A client with many queries holds up no other: a read brings `READ` octets at most, and what all clients send at a
   time is taken in turns (`turns`).

It knows how to read and send, not what is answered: that is its endpoint's `Listener`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import cast

from pydns.query import Address
from pydns.server.listener import HasListener
from pydns.server.turns import Turns

SEND_BUFFER = 32 << 10
"""Octets of replies that a client may leave unread, beside what the kernel holds, before its connection stops."""
READ = 8 << 10
"""Octets that are read at once: some 170 queries, until others get their turn.  More gain nothing.  A fresh buffer for
each read, as asyncio makes them, may cost more than a query."""
_LENGTH = 2


@dataclass(frozen=True)
class Limits:
    """Bounds of one listening address: connections, queries in flight of one of them and of all."""

    connections: int = 1000
    in_flight: int = 100
    all_in_flight: int = 5000


class TcpConnections:
    """The connections to one listening address."""

    def __init__(self, endpoint: HasListener, limits: Limits | None = None) -> None:
        self.endpoint = endpoint
        self.limits = limits or Limits()
        self.open: set[TcpConnection] = set()
        self.turns = Turns(endpoint, self.limits.all_in_flight)
        self.buffer = memoryview(bytearray(READ))
        """What one connection has just received; each takes it out at once."""

    def admit(self, connection: TcpConnection) -> bool:
        """Whether there is room for one more (rule 5)."""
        if len(self.open) >= self.limits.connections:
            silent = min((other for other in self.open if other.waits_for_nothing()), key=_last_active, default=None)
            if silent is None:
                return False
            silent.cut()
        self.open.add(connection)
        return True

    def finish(self) -> None:
        """Close all connections; those that wait for replies once they have them."""
        for connection in tuple(self.open):
            connection.finish()

    def cut(self) -> None:
        """Close all connections now."""
        for connection in tuple(self.open):
            connection.cut()


def _last_active(connection: TcpConnection) -> float:
    return connection.last_active


class TcpConnection(asyncio.BufferedProtocol):
    """One client, whose address is ``client``."""

    def __init__(self, connections: TcpConnections, client: Address) -> None:
        self.in_flight = 0
        self.last_active = 0.0
        self._client = client
        self._family = 6 if ":" in client[0] else 4
        self._connections = connections
        self._turns = connections.turns
        self._most = connections.limits.in_flight
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._taken = 0
        """Octets of what was received that are not needed any more."""
        self._asked = False
        self._busy = False
        self._in_line = False
        self._unread = False
        self._stopped = False
        """Whether nothing is read."""
        self._finishing = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(SEND_BUFFER)
        self._local: Address = transport.get_extra_info("sockname")[:2]
        self.last_active = self._loop.time()
        if not self._connections.admit(self):
            self._transport.abort()
            return
        self._watch(self._connections.endpoint.listener.settings.read_timeout)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.open.discard(self)
        if self._timer is not None:
            self._timer.cancel()

    # Reading.

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the event loop puts what arrives, right before it calls `buffer_updated`."""
        return self._connections.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._received = self._received[self._taken :] + self._connections.buffer[:nbytes]
        self._taken = 0
        self._read()

    def _read(self) -> None:
        """Take whole messages from what was received, as far as rules 3, 4 and 6 allow."""
        if self._busy:
            return  # an answer that was ready at once; the loop below goes on
        self._busy = True
        try:
            while self._taken < len(self._received) and self._may_take() and self._take():
                pass
        except Exception:
            self._loop.call_soon(self.cut)  # nobody knows how far it got
            raise
        finally:
            self._busy = False
        self._set_reading()

    def _may_take(self) -> bool:
        """Whether more is taken; a connection whose turn it is not lines up."""
        if self._in_line or self._full():
            return False
        if self._turns.is_free():
            return True
        self._in_line = True
        self._turns.line_up(self)
        return False

    def go_on(self) -> None:
        """See `Waiter`."""
        self._in_line = False
        self._read()
        self._finish_if_done()

    def _take(self) -> bool:
        """Answer or submit whole messages, with one write for all known replies; whether there may be more."""
        cache = self._connections.endpoint.listener.cache("tcp", self._family)
        received, taken, size = self._received, self._taken, 0
        replies: list[bytes] = []  # `list[bytes]()` takes as long as a reply from the cache
        length = len(received)
        while taken + 1 < length and (end := taken + _LENGTH + (received[taken] << 8 | received[taken + 1])) <= length:
            message = received[taken + _LENGTH : end]
            taken = end
            reply = None if cache is None else cache.get(message)
            if reply is None:
                self._submit(message)
                if self._full() or not self._turns.has_room():
                    break
            else:
                replies += len(reply).to_bytes(_LENGTH, "big"), reply
                size += len(reply)
                if size > SEND_BUFFER:
                    break
        if taken > self._taken:
            self._note_taken(taken)
        if replies:
            self._send(b"".join(replies))
        return taken + 1 < length and end <= length

    def _submit(self, message: bytes) -> None:
        before = self.in_flight
        self.in_flight += 1
        self._turns.enter()
        listener = self._connections.endpoint.listener
        try:
            listener.submit(message, self._client, self._local, "tcp", self._answered)
        except Exception:
            if self.in_flight > before:  # nobody is going to answer
                self._left()
            raise

    def _left(self) -> None:
        """A query is no longer in flight."""
        self.in_flight -= 1
        self._turns.leave()

    def _note_taken(self, taken: int) -> None:
        """Messages up to there were taken."""
        self._turns.took(taken - self._taken)
        self._taken = taken
        self.last_active = self._loop.time()
        if not self._asked:
            self._asked = True
            self._watch(self._connections.endpoint.listener.settings.idle_timeout)

    def _full(self) -> bool:
        """Whether no more is taken: rules 3 and 4, or there is nobody left to answer."""
        return self.in_flight >= self._most or self._unread or self._transport.is_closing()

    def _set_reading(self) -> None:
        """Stop where nothing is taken; a client in line may send what fits into one read more."""
        full = self.in_flight >= self._most or self._unread
        stopped = full or (self._in_line and len(self._received) - self._taken >= READ)
        if stopped is self._stopped:
            return
        self._stopped = stopped
        if stopped:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def eof_received(self) -> bool:
        """The client asks no more; it still gets its replies."""
        self.finish()
        return True

    # Writing.

    def _send(self, octets: bytes) -> None:
        if not self._transport.is_closing():  # asyncio logs what is written to a client that has gone
            self._transport.write(octets)

    def _answered(self, reply: bytes | None) -> None:
        self._left()
        self.last_active = self._loop.time()
        if reply is not None:
            self._send(_framed(reply))
        self._read()
        self._finish_if_done()

    def pause_writing(self) -> None:
        self._unread = True
        self._watch(self._connections.endpoint.listener.settings.write_timeout)

    def resume_writing(self) -> None:
        self._unread = False
        self.last_active = self._loop.time()
        self._watch(self._connections.endpoint.listener.settings.idle_timeout)
        self._read()
        self._loop.call_soon(self._finish_if_done)  # asyncio, which calls this, would close once more

    # Time.

    def _watch(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._check)

    def _check(self) -> None:
        """Cut the connection if its time is up, else look again when it will be."""
        if self._unread or (not self._asked and not self._in_line):
            self.cut()
            return
        idle = self._connections.endpoint.listener.settings.idle_timeout
        left = self.last_active + idle - self._loop.time()
        if left <= 0 and self.waits_for_nothing():
            self.cut()
        else:
            self._watch(left if left > 0 else idle)

    def finish(self) -> None:
        """Close the connection once the queries that came are answered."""
        self._finishing = True
        self._finish_if_done()

    def _finish_if_done(self) -> None:
        if self._finishing and self.waits_for_nothing() and not self._busy:
            self._transport.close()

    def waits_for_nothing(self) -> bool:
        """Whether no query is in flight, and none waits for its turn or for the client to read replies."""
        return not self.in_flight and not self._in_line and not self._has_whole()

    def _has_whole(self) -> bool:
        """Whether a whole message was received that is not taken yet."""
        start = self._taken + _LENGTH
        length = int.from_bytes(self._received[self._taken : start], "big")
        return start + length <= len(self._received)

    def cut(self) -> None:
        """Close the connection now; what the client has not read is lost."""
        self._connections.open.discard(self)
        if self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()


def _framed(reply: bytes) -> bytes:
    return len(reply).to_bytes(_LENGTH, "big") + reply

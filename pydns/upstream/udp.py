"""Queries to one upstream over UDP.

Rules (RFC 5452):

1. A socket is connected, so that the kernel drops what comes from elsewhere; its port is the kernel's random choice.
2. Sockets take turns: the queries of one turn (`pydns.turn`) leave together by one socket, those of the next by
   another.
3. A socket is replaced after `USES` queries or some seconds, whichever comes first, and closes when its last query is
   over.
4. Queries leave with random IDs that, on one socket, are not in use twice; replies come back with the ID of the query.
5. What does not match ID and question is ignored: the right reply may still come.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from typing import Protocol

from pydns.address import Address
from pydns.dns.message import HEADER, MAX_MESSAGE, Message, Question
from pydns.dns.name import to_wire
from pydns.mmsg import Refused, shared_batch, shared_outgoing
from pydns.tasks import Arrival
from pydns.turn import TURN
from pydns.upstream.reply import ExchangeError, read_datagram
from pydns.upstream.settings import Dialled, Settings, reason

SOCKETS = 8
"""Sockets in use at a time."""
USES = 128
"""Queries that leave by one socket."""
DRAWN = 512
"""Octets of IDs drawn at a time."""


def random_ids(rng: random.Random) -> Iterator[bytes]:
    """IDs that nobody can guess, two octets each, drawn many at a time: each draw is a question to the kernel."""
    while True:
        octets = rng.randbytes(DRAWN)
        for at in range(0, DRAWN, 2):
            yield octets[at : at + 2]


class Wait(Protocol):
    """What waits for a reply.

    ``ident`` are the octets of the ID that its query left with, ``socket`` is where it left, ``until`` the loop's time
    at which it is given up.
    """

    ident: bytes
    socket: UdpSocket
    until: float

    def offer(self, data: bytes) -> bool:
        """Whether ``data`` is the reply, which is then taken."""

    def fail(self, error: ExchangeError) -> None:
        """No reply will come."""


class UdpWait(Arrival[Message]):
    """A query that somebody awaits.

    ``question`` is what was asked, ``asked`` its octets, ``own`` the query's own ID in octets, ``limit`` the octets
    that a reply may have.
    """

    __slots__ = ("asked", "ident", "limit", "own", "question", "socket", "until")

    ident: bytes
    socket: UdpSocket
    until: float

    def __init__(self, wire: bytes, question: Question, limit: int) -> None:
        super().__init__(loop=asyncio.get_running_loop())
        self.own = wire[:2]
        self.question = question
        self.asked = wire[HEADER.size : HEADER.size + 4 + len(to_wire(question.name))]
        self.limit = limit

    def offer(self, data: bytes) -> bool:
        """See `Wait`."""
        reply = read_datagram(self.own + data[2:], self.question, self.limit, self.asked)
        if reply is not None:
            self.bring(reply)
        return reply is not None

    def cancel(self, msg: object = None) -> bool:
        """Nobody waits any longer."""
        self.socket.forget(self)
        return super().cancel(msg)


class UdpSocket:
    """A connected socket and the queries that wait for a reply on it, the oldest first.

    ``left`` is told when queries have left and how many, ``spent`` when the socket is to be used no more.  Raises
    ExchangeError.
    """

    def __init__(
        self, address: Address, settings: Settings, ids: Iterator[bytes], left: Callable[[UdpSocket, int], None],
        spent: Callable[[UdpSocket], None],
    ) -> None:  # fmt: skip
        self._loop = asyncio.get_running_loop()
        self._timeout = settings.read_timeout
        self._ids = ids
        self._left = left
        self._spent = spent
        self._until = 0.0
        self._waits: dict[bytes, Wait] = {}
        self._retired = False
        self.uses = 0
        self.unsent: list[bytes] = []
        """Queries that leave at the end of the turn."""
        self._socket = _connected(address, settings.source)
        self._receive, self._send = _ways(self._socket.family)
        self._path = f"udp {Address(*self._socket.getsockname()[:2])}->{address}"
        self._loop.add_reader(self._socket.fileno(), self._readable)
        self._expiry = self._loop.call_later(settings.expire, spent, self)
        self._timer: asyncio.TimerHandle | None = None

    def send(self, tail: bytes, wait: Wait) -> None:
        """Send a query of which ``tail`` is all but the ID, and offer ``wait`` what comes."""
        self.uses += 1
        ident = next(self._ids)
        while ident in self._waits:
            ident = next(self._ids)
        self._waits[ident] = wait
        wait.ident = ident
        wait.socket = self
        unsent = self.unsent
        unsent.append(ident + tail)
        if len(unsent) > 1:
            wait.until = self._until
        else:
            wait.until = self._until = self._loop.time() + self._timeout
            TURN.at_end(self._flush)

    def forget(self, wait: Wait) -> None:
        """Wait for this reply no longer."""
        if self._waits.pop(wait.ident, None) is not None and self._retired and not self._waits:
            self._close()

    def retire(self) -> None:
        """Close when the last reply has come."""
        if not self._retired:
            self._retired = True
            if not self._waits:
                self._close()

    def _flush(self) -> None:
        queries, self.unsent = self.unsent, []
        if self._timer is None:
            self._timer = self._loop.call_later(self._timeout, self._expire)
        self._left(self, len(queries))
        send = self._send if len(queries) > 1 else _send_singly  # one costs less than to fill a batch
        send(self._socket.fileno(), queries, (), partial(self._refused, queries))

    def _refused(self, queries: Sequence[bytes], position: int, error: OSError) -> None:
        """A query could not be sent; or earlier ones met a host where nobody listens, and it has not left yet."""
        if isinstance(error, ConnectionRefusedError):
            self._fail(error, {query[:2] for query in queries[position:]})
            try:
                self._socket.send(queries[position])
                return
            except OSError as another:
                error = another
        wait = self._waits.get(queries[position][:2])
        if wait is not None:
            self._lose(wait, f"write {self._path}: write: {reason(error)}")

    def _readable(self) -> None:
        try:
            datagrams = self._receive(self._socket.fileno())
        except BlockingIOError:
            return
        except OSError as error:
            self._fail(error)
            return
        waits = self._waits
        with TURN:
            for data in datagrams:
                wait = waits.get(data[:2])
                if wait is not None and wait.offer(data):
                    waits.pop(wait.ident, None)
        if self._retired and not waits:
            self._close()

    def _expire(self) -> None:
        """Give up what was not answered in time."""
        now = self._loop.time()
        for wait in tuple(self._waits.values()):
            if wait.until > now:
                break
            self._lose(wait, f"read {self._path}: i/o timeout")
        oldest = next(iter(self._waits.values()), None)
        self._timer = None if oldest is None else self._loop.call_at(oldest.until, self._expire)

    def _fail(self, error: OSError, unsent: Set[bytes] = frozenset()) -> None:
        """The upstream's host says that nobody listens: that concerns every query sent."""
        for ident, wait in tuple(self._waits.items()):
            if ident not in unsent:
                self._lose(wait, f"read {self._path}: read: {reason(error)}")

    def _lose(self, wait: Wait, why: str) -> None:
        """A query failed; its socket is used no more."""
        self._loop.call_soon(self._spent, self)
        self.forget(wait)
        wait.fail(ExchangeError(why))

    def _close(self) -> None:
        """Called again where the last query is forgotten while others fail."""
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()
            self._expiry.cancel()
            if self._timer is not None:
                self._timer.cancel()


def _connected(address: Address, source: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        connected = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    except OSError as error:
        raise ExchangeError(f"dial udp {address}: socket: {reason(error)}") from None
    try:
        if source:
            connected.bind((source, 0))
        connected.connect((address.host, address.port))
    except OSError as error:
        connected.close()
        raise ExchangeError(f"dial udp {address}: connect: {reason(error)}") from None
    return connected


Receive = Callable[[int], Sequence[bytes]]
Send = Callable[[int, Sequence[bytes], Sequence[bytes], Refused], None]


def _ways(family: int) -> tuple[Receive, Send]:
    """How connected sockets are read and written here (see `pydns.mmsg`)."""
    batch, outgoing = shared_batch(family), shared_outgoing(None)
    if batch is None or outgoing is None:
        return _receive_one, _send_singly
    return batch.receive, outgoing.send


def _receive_one(descriptor: int) -> list[bytes]:
    return [os.read(descriptor, MAX_MESSAGE)]


def _send_singly(descriptor: int, datagrams: Sequence[bytes], _: Sequence[bytes], refused: Refused) -> None:
    for position, datagram in enumerate(datagrams):
        try:
            os.write(descriptor, datagram)
        except OSError as error:
            refused(position, error)


class UdpPool:
    """The sockets to one upstream, used in turn.  ``dialled`` is told of each query, as in `exchange.Upstream`."""

    def __init__(self, address: Address, settings: Settings, rng: random.Random, dialled: Dialled) -> None:
        self._address = address
        self._settings = settings
        self._ids = random_ids(rng)
        self._dialled = dialled
        self._size = min(SOCKETS, settings.max_idle or SOCKETS)
        self._sockets: deque[UdpSocket] = deque()
        self._current: UdpSocket | None = None

    def ask(self, wire: bytes, question: Question, limit: int) -> UdpWait:
        """One exchange, to be awaited.  Both this and the wait raise ExchangeError."""
        wait = UdpWait(wire, question, limit)
        self.send(wire[2:], wait)
        return wait

    def send(self, tail: bytes, wait: Wait) -> None:
        """Send a query of which ``tail`` is all but the ID, and offer ``wait`` what comes.  Raises ExchangeError."""
        current = self._current
        if current is None or not current.unsent:
            current = self._current = self._next()
        current.send(tail, wait)
        if current.uses == USES:
            self._drop(current)
            self._current = None

    def close(self) -> None:
        """Open no more sockets for what is under way; it may still end well."""
        while self._sockets:
            self._sockets.popleft().retire()

    def _next(self) -> UdpSocket:
        """The socket whose turn it is."""
        if len(self._sockets) < self._size:
            self._dialled("udp", False)
            opened = UdpSocket(self._address, self._settings, self._ids, self._count, self._drop)
            self._sockets.append(opened)
        else:
            self._sockets.rotate(-1)
        return self._sockets[-1]

    def _count(self, used: UdpSocket, queries: int) -> None:
        """The first query of a socket was counted when it was opened."""
        again = queries - (used.uses == queries)
        if again:
            self._dialled("udp", True, again)

    def _drop(self, spent: UdpSocket) -> None:
        if spent in self._sockets:
            self._sockets.remove(spent)
        spent.retire()

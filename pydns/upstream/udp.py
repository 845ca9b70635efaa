"""Queries to one upstream over UDP.

Rules (RFC 5452):

1. A socket is connected, so that the kernel drops what comes from elsewhere; its port is the kernel's random choice.
2. It is replaced after `USES` queries or some seconds, whichever comes first, and closes when its last query is over.
3. Queries leave with random IDs that, on one socket, are not in use twice; replies come back with the ID of the query.
4. What does not match ID and question is ignored: the right reply may still come.
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections import deque
from collections.abc import Callable
from typing import Protocol

from pydns.address import Address
from pydns.dns.message import HEADER, MAX_MESSAGE, Message, Question
from pydns.dns.name import to_wire
from pydns.tasks import Arrival
from pydns.upstream.deadlines import Deadlines
from pydns.upstream.reply import ExchangeError, read_datagram
from pydns.upstream.settings import Settings, reason

SOCKETS = 8
"""Sockets in use at a time."""
USES = 128
"""Queries that leave by one socket."""
DRAWN = 512
"""Octets of IDs drawn at a time."""
BATCH = 64
"""Datagrams read in one pass of the loop."""


class Ids:
    """Random IDs, drawn many at a time: each draw is a question to the kernel."""

    def __init__(self, rng: random.Random) -> None:
        self._random = rng
        self._octets = b""
        self._at = 0

    def take(self) -> bytes:
        """The two octets of an ID that nobody can guess."""
        at = self._at
        if at == len(self._octets):
            self._octets = self._random.randbytes(DRAWN)
            at = 0
        self._at = at + 2
        return self._octets[at : at + 2]


class Wait(Protocol):
    """What waits for a reply: the ``ident`` that its query left with, in octets, and the ``socket``."""

    ident: bytes
    socket: UdpSocket

    def done(self) -> bool: ...

    def offer(self, data: bytes) -> bool:
        """Whether ``data`` is the reply, which is then taken."""

    def fail(self, error: ExchangeError) -> None:
        """No reply will come."""

    def expire(self) -> None:
        """Nothing came in time."""


class UdpWait(Arrival[Message]):
    """A query that somebody awaits.

    ``question`` is what was asked, ``asked`` its octets, ``ident`` the ID that left and ``own`` the query's own one in
    octets, ``limit`` the octets that a reply may have.
    """

    __slots__ = ("asked", "ident", "limit", "own", "question", "socket")

    asked: bytes
    ident: bytes
    limit: int
    own: bytes
    question: Question
    socket: UdpSocket

    def offer(self, data: bytes) -> bool:
        """See `Wait`."""
        reply = read_datagram(self.own + data[2:], self.question, self.limit, self.asked)
        if reply is not None:
            self.bring(reply)
        return reply is not None

    def expire(self) -> None:
        """Nothing came in time."""
        self.socket.lose(self, "i/o timeout")

    def cancel(self, msg: object = None) -> bool:
        """Nobody waits any longer."""
        self.socket.forget(self)
        return super().cancel(msg)


class UdpSocket:
    """A connected socket and the queries that wait for a reply on it.

    ``spent`` is called soon after a query failed.  Raises ExchangeError.
    """

    def __init__(
        self,
        address: Address,
        settings: Settings,
        deadlines: Deadlines,
        ids: Ids,
        spent: Callable[[UdpSocket], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadlines = deadlines
        self._ids = ids
        self._spent = spent
        self._waits: dict[bytes, Wait] = {}
        self._retired = False
        self.uses = 0
        self._socket = _connected(address, settings.source)
        self._path = f"udp {Address(*self._socket.getsockname()[:2])}->{address}"
        self._loop.add_reader(self._socket.fileno(), self._readable)

    def ask(self, wire: bytes, question: Question, limit: int) -> UdpWait:
        """Send a query, whose reply is to be awaited."""
        wait = UdpWait(loop=self._loop)
        wait.own = wire[:2]
        wait.question = question
        wait.asked = wire[HEADER.size : HEADER.size + 4 + len(to_wire(question.name))]
        wait.limit = limit
        self.send(wire[2:], wait)
        return wait

    def send(self, tail: bytes, wait: Wait) -> None:
        """Send a query of which ``tail`` is all but the ID, and offer ``wait`` what comes."""
        self.uses += 1
        ident = self._ids.take()
        while ident in self._waits:
            ident = self._ids.take()
        self._send(ident + tail)
        wait.ident = ident
        wait.socket = self
        self._waits[ident] = wait
        self._deadlines.add(wait)

    def forget(self, wait: Wait) -> None:
        """Wait for this reply no longer."""
        if self._waits.pop(wait.ident, None) is not None and self._retired and not self._waits:
            self._close()

    def lose(self, wait: Wait, why: str) -> None:
        """A query failed; its socket is used no more."""
        self._loop.call_soon(self._spent, self)
        self.forget(wait)
        wait.fail(ExchangeError(f"read {self._path}: {why}"))

    def retire(self) -> None:
        """Close when the last reply has come."""
        if not self._retired:
            self._retired = True
            if not self._waits:
                self._close()

    def _send(self, octets: bytes) -> None:
        try:
            try:
                self._socket.send(octets)
            except ConnectionRefusedError as error:
                self._fail(f"read: {reason(error)}")  # what earlier queries met; this one has not left yet
                self._socket.send(octets)
        except OSError as error:
            raise ExchangeError(f"write {self._path}: write: {reason(error)}") from None

    def _readable(self) -> None:
        for _ in range(BATCH):
            try:
                data = self._socket.recv(MAX_MESSAGE)
            except BlockingIOError:
                return
            except OSError as error:
                self._fail(f"read: {reason(error)}")
                return
            self._received(data)
            if not self._waits:
                return

    def _received(self, data: bytes) -> None:
        wait = self._waits.get(data[:2])
        if wait is not None and wait.offer(data):
            self.forget(wait)

    def _fail(self, why: str) -> None:
        """The upstream's host says that nobody listens: that concerns every query sent."""
        for wait in tuple(self._waits.values()):
            self.lose(wait, why)

    def _close(self) -> None:
        """Called again where several replies came at once."""
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()


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


class UdpPool:
    """The sockets to one upstream, used in turn."""

    def __init__(
        self, address: Address, settings: Settings, rng: random.Random, dialled: Callable[[str, bool], None]
    ) -> None:
        self._address = address
        self._settings = settings
        self._ids = Ids(rng)
        self._dialled = dialled
        self._deadlines = Deadlines(settings.read_timeout)
        self._size = min(SOCKETS, settings.max_idle or SOCKETS)
        self._sockets: deque[UdpSocket] = deque()

    def ask(self, wire: bytes, question: Question, limit: int) -> UdpWait:
        """One exchange, to be awaited.  Both this and the wait raise ExchangeError."""
        taken = self._take()
        try:
            return taken.ask(wire, question, limit)
        except ExchangeError:
            self._drop(taken)
            raise

    def send(self, tail: bytes, wait: Wait) -> None:
        """Send a query of which ``tail`` is all but the ID, and offer ``wait`` what comes.  Raises ExchangeError."""
        taken = self._take()
        try:
            taken.send(tail, wait)
        except ExchangeError:
            self._drop(taken)
            raise

    def close(self) -> None:
        """Open no more sockets for what is under way; it may still end well."""
        while self._sockets:
            self._sockets.popleft().retire()

    def _take(self) -> UdpSocket:
        is_new = len(self._sockets) < self._size
        self._dialled("udp", not is_new)
        if is_new:
            return self._open()
        taken = self._sockets.popleft()
        if taken.uses + 1 < USES:
            self._sockets.append(taken)
        else:
            asyncio.get_running_loop().call_soon(taken.retire)
        return taken

    def _open(self) -> UdpSocket:
        opened = UdpSocket(self._address, self._settings, self._deadlines, self._ids, self._drop)
        self._sockets.append(opened)
        asyncio.get_running_loop().call_later(self._settings.expire, self._drop, opened)
        return opened

    def _drop(self, spent: UdpSocket) -> None:
        if spent in self._sockets:
            self._sockets.remove(spent)
        spent.retire()

"""Queries to one upstream over UDP.

Rules (RFC 5452):

1. A socket is connected, so that the kernel drops what comes from elsewhere; its port is the kernel's random choice.
2. It is replaced after `USES` queries or some seconds, whichever comes first, and closes when its last query is over.
3. IDs are random and, on one socket, not in use twice.
4. What does not match ID and question is ignored: the right reply may still come.
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections import deque
from collections.abc import Callable

from pydns.address import Address
from pydns.dns.message import MAX_MESSAGE, Message, Question
from pydns.upstream.deadlines import Deadlines, Wait
from pydns.upstream.reply import ExchangeError, read_datagram
from pydns.upstream.settings import Settings, reason

SOCKETS = 8
"""Sockets in use at a time."""
USES = 128
"""Queries that leave by one socket."""
BATCH = 64
"""Datagrams read in one pass of the loop."""


class UdpSocket:
    """A connected socket and the queries that wait for a reply on it.  Raises ExchangeError."""

    def __init__(self, address: Address, settings: Settings, deadlines: Deadlines, rng: random.Random) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadlines = deadlines
        self._random = rng
        self._waits: dict[int, Wait] = {}
        self._retired = False
        self.uses = 0
        self._socket = _connected(address, settings.source)
        self._path = f"udp {Address(*self._socket.getsockname()[:2])}->{address}"
        self._loop.add_reader(self._socket.fileno(), self._readable)

    async def ask(self, wire: bytes, question: Question, limit: int) -> Message:
        """The reply to a query whose first two octets are still to be chosen."""
        self.uses += 1
        ident = self._free_id()
        self._send(ident.to_bytes(2, "big") + wire[2:])
        waiter: asyncio.Future[Message] = self._loop.create_future()
        wait = self._waits[ident] = Wait(question, limit, f"read {self._path}", waiter)
        self._deadlines.add(wait)
        try:
            return await waiter
        finally:
            wait.waiter = None
            if self._waits.get(ident) is wait:
                del self._waits[ident]
            if self._retired and not self._waits:
                self._close()

    def retire(self) -> None:
        """Close when the last reply has come."""
        if not self._retired:
            self._retired = True
            if not self._waits:
                self._close()

    def _free_id(self) -> int:
        while (ident := self._random.getrandbits(16)) in self._waits:
            pass
        return ident

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
        ident = int.from_bytes(data[:2], "big")
        wait = self._waits.get(ident)
        if wait is None:
            return
        reply = read_datagram(data, wait.question, wait.limit)
        if reply is None:
            return
        del self._waits[ident]
        if wait.waiter is not None and not wait.waiter.done():
            wait.waiter.set_result(reply)

    def _fail(self, why: str) -> None:
        """The upstream's host says that nobody listens: that concerns every query sent."""
        for wait in self._waits.values():
            wait.fail(why)

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
        self._random = rng
        self._dialled = dialled
        self._deadlines = Deadlines(settings.read_timeout)
        self._size = min(SOCKETS, settings.max_idle or SOCKETS)
        self._sockets: deque[UdpSocket] = deque()

    async def ask(self, wire: bytes, question: Question, limit: int) -> Message:
        """One exchange.  Raises ExchangeError."""
        taken = self._take()
        try:
            return await taken.ask(wire, question, limit)
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
        opened = UdpSocket(self._address, self._settings, self._deadlines, self._random)
        self._sockets.append(opened)
        asyncio.get_running_loop().call_later(self._settings.expire, self._drop, opened)
        return opened

    def _drop(self, spent: UdpSocket) -> None:
        if spent in self._sockets:
            self._sockets.remove(spent)
        spent.retire()

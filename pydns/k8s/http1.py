"""One GET of HTTP/1.1 over a channel: the request, and the reply as it arrives.

Rules.  A body ends where its length, its last chunk or, having neither, the connection says so; what ends before that
was cut short, and a fault.  What came before a fault is handed out before it.  Once more than `READ_BUFFER` octets wait
to be read, nothing is received until they are.

Does not know TLS (`channel`), nor which connection a request is for (`session`).
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Self

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from pydns.k8s.channel import Channel
from pydns.k8s.transport import TransportError, describe

READ_BUFFER: Final = 1 << 18
"""Octets received ahead of what is decoded; more would only take memory."""
MAX_HEAD: Final = 1 << 18
"""Octets of the longest header, with what was said before it; what is longer is no API."""
SUCCESS: Final = range(200, 300)


class StaleError(TransportError):
    """The connection ended before the first octet of a reply, as one does that was idle for too long."""


def request(method: str, target: str, headers: Mapping[str, str]) -> bytes:
    """The octets of a request without a body; raises ValueError for a header that is more than a line."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if any(not line.isprintable() for line in lines):
        raise ValueError("a header with control characters")
    return "\r\n".join([*lines, "", ""]).encode()


class Message:
    """What the parser finds in a reply."""

    def __init__(self) -> None:
        self.parser = HttpResponseParser(self)
        self.status = 0
        """Of the reply itself, not of a 1xx before it; 0 until its header is complete."""
        self.reason = b""
        self.pieces: list[bytes] = []
        self.waiting = 0
        """Octets of `pieces`."""
        self.ended = False
        self.reusable = False
        """Whether the connection may bring another reply."""
        self._bounded = False

    def on_message_begin(self) -> None:
        self._bounded = False
        self.reason = b""
        if self.ended:
            self.reusable = False
            raise ValueError("octets after the reply")

    def on_status(self, reason: bytes) -> None:
        self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        name, value = name.lower(), value.lower()
        self._bounded |= name == b"content-length" or (name == b"transfer-encoding" and value.endswith(b"chunked"))

    def on_headers_complete(self) -> None:
        status = self.parser.get_status_code()
        self.status = status if status >= 200 else 0

    def on_body(self, piece: bytes) -> None:
        self.pieces.append(piece)
        self.waiting += len(piece)

    def on_message_complete(self) -> None:
        if self.status:
            self.ended = True
            self.reusable = self.parser.should_keep_alive()

    def end(self) -> None:
        """The connection ended; raises TransportError if the reply did not."""
        self.reusable = False
        if self.ended:
            return
        if not self.status:
            raise TransportError("the connection was closed before there was a reply")
        if self._bounded:
            raise TransportError("the reply was cut short")
        self.ended = True

    def take(self) -> bytes:
        """What there is of the body."""
        pieces, self.pieces, self.waiting = self.pieces, [], 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def give_back(self, piece: bytes) -> None:
        """Have what was taken be there again, if it is anything."""
        if piece:
            self.pieces.insert(0, piece)
            self.waiting += len(piece)


class Reply:
    """A reply as it arrives, which fails when nothing comes for `silence` seconds.

    One timer looks after that, now and then: to set another for each read costs a tenth of reading.
    """

    def __init__(self, channel: Channel, silence: float) -> None:
        self.channel = channel
        self._message = Message()
        self._feed = self._message.parser.feed_data
        self._fault: TransportError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._look_first: Callable[[bytes], bytes] | None = None
        self._paused = False
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._head = 0
        """Octets that came until the status was known."""
        self._timer = self._loop.call_later(silence, self._check_silence)
        self._loop.add_reader(channel.sock, self._receive)

    @property
    def status(self) -> int:
        """0 until `ask` is done."""
        return self._message.status

    @property
    def reason(self) -> str:
        """The words that go with the status."""
        return self._message.reason.decode("latin-1")

    async def ask(self, octets: bytes) -> None:
        """Send a request and wait for the status; raises TransportError, and StaleError where nothing came at all."""
        try:
            await self.channel.send(octets)
        except OSError as error:
            raise StaleError(describe(error)) from error
        while not self._message.status:
            await self._more()

    def show_first(self, look: Callable[[bytes], bytes]) -> None:
        """See Response.show_first: to wake a task first costs half of a watch event, and lets others ask meanwhile."""
        self._look_first = look

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._message.pieces:
            if self._message.ended:
                raise StopAsyncIteration
            await self._more()
        if self._paused and self._fault is None:
            self._paused = False
            self._loop.add_reader(self.channel.sock, self._receive)
        return self._message.take()

    async def _more(self) -> None:
        """Something has come or ended; raises the fault there is."""
        if self._fault is not None:
            raise self._fault
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _receive(self) -> None:
        """Take in what is there to be received."""
        try:
            data = self.channel.receive()
            if data is None:
                return
            if data:
                self._last = self._loop.time()
                if not self._message.status:
                    self._count_head(data)
                self._feed(data)
            if not data or self.channel.ended:
                self._message.end()
        except HttpParserUpgrade:
            self.fail(TransportError("the reply changes to another protocol"))
        except (OSError, HttpParserError, TransportError) as error:
            self.fail(error)
        self._show()
        if self._message.ended or self._message.waiting > READ_BUFFER:
            self._paused = not self._message.ended
            self._loop.remove_reader(self.channel.sock)
        if self._look_first is None or self._message.pieces or self._message.ended:
            self._wake()

    def _show(self) -> None:
        """Show what came to who wants to see it first, if whoever iterates has nothing of before to do."""
        is_awaited = self._waiter is not None and not self._waiter.done()
        if self._look_first is not None and is_awaited and self._message.pieces:
            self._message.give_back(self._look_first(self._message.take()))

    def _count_head(self, data: bytes) -> None:
        """Raises TransportError for a header without an end."""
        self._head += len(data)
        if self._head > MAX_HEAD:
            raise TransportError(f"a reply whose header has more than {MAX_HEAD} octets")

    def fail(self, error: Exception) -> None:
        """Nothing more will come, and this is why."""
        if not self._message.ended and self._fault is None:
            kind = TransportError if self._head or isinstance(error, TimeoutError) else StaleError
            self._fault = kind(describe(error))
            self._fault.__cause__ = error
        self._message.reusable = False
        self._loop.remove_reader(self.channel.sock)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _check_silence(self) -> None:
        """Fail when nothing has come for `silence` seconds; while nothing is received, that is no fault of the peer."""
        left = self._silence if self._paused else self._last + self._silence - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._check_silence)
        else:
            self.fail(TimeoutError(f"nothing came for {self._silence:g} seconds"))

    def leave(self) -> bool:
        """Read no more, but leave the channel as it is; whether it can be used for another request."""
        self._timer.cancel()
        self._loop.remove_reader(self.channel.sock)
        del self._feed, self._message.parser  # they refer to each other
        return self._message.reusable

"""A connection: TCP, with TLS or without.  Does not know what is said over it (`http1`).

TLS is done in memory, so that one read of the socket brings all that there is: OpenSSL on the socket itself reads the
head of a record, the record, and then once more to find that there is nothing.
"""

import asyncio
import os
import socket
import ssl
from contextlib import suppress
from typing import Any, Final

from pydns.k8s.transport import describe

KEEPALIVE: Final = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""A peer that vanished is noticed after a minute, however quiet the watch."""
PORTION: Final = 1 << 16
"""Octets taken from a socket at a time; then others have their turn."""
RECORD: Final = 1 << 14
"""Octets of the longest TLS record (RFC 8446, 5.1)."""


class Channel:
    """A connected socket without TLS."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.ended = False
        """Whether the peer has said that nothing follows what was received."""

    async def send(self, data: bytes) -> None:
        """Send all of it; raises OSError."""
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    def receive(self) -> bytes | None:
        """What has come: no octets at the end, None while there is nothing to be had.  Raises OSError."""
        try:
            return self.sock.recv(PORTION)
        except (BlockingIOError, InterruptedError):
            return None

    def quiet(self) -> bool:
        """Whether nothing has come, not even the end."""
        try:
            return self.receive() is None
        except OSError:
            return False

    def close(self) -> None:
        self.sock.close()


class TlsChannel(Channel):
    """TLS over a connected socket, which it takes over; usable after `shake_hands`."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, name: str) -> None:
        super().__init__(sock)
        self._came, self._to_go = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._came, self._to_go, server_hostname=name)

    async def shake_hands(self) -> None:
        """Raises OSError, of which ssl.SSLError is one, where the peers do not agree."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await super().send(self._to_go.read())
                self._fill(await loop.sock_recv(self.sock, PORTION))
            except ssl.SSLError:
                await super().send(self._to_go.read())
                raise
            else:
                break
        await super().send(self._to_go.read())

    async def send(self, data: bytes) -> None:
        """See Channel.send."""
        self._tls.write(data)
        await super().send(self._to_go.read())

    def receive(self) -> bytes | None:
        """See Channel.receive; an end that TLS was not told of is an OSError."""
        data = super().receive()
        if data is None:
            return None
        self._fill(data)
        opened = self._open()
        if self._to_go.pending:  # a new key of the peer's is answered with one of ours
            self.sock.send(self._to_go.read())
        return opened

    def _fill(self, data: bytes) -> None:
        if data:
            self._came.write(data)
        else:
            self._came.write_eof()

    def _open(self) -> bytes | None:
        """All whole records, in the clear."""
        pieces = []
        try:
            while piece := self._tls.read(RECORD):
                pieces.append(piece)
                if not self._came.pending and not self._tls.pending():
                    break
            else:
                self.ended = True
        except ssl.SSLWantReadError:
            if not pieces:
                return None
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        """Say so to the peer if that is possible at once."""
        with suppress(OSError):
            with suppress(ssl.SSLError):
                self._tls.unwrap()
            self.sock.send(self._to_go.read())
        super().close()


async def reach(host: str, port: int, seconds: float) -> Channel:
    """A connection to the first address of `host` that takes one within `seconds`; raises OSError and UnicodeError."""
    faults: list[OSError] = []
    for family, kind, protocol, _, address in await _look_up(host, port):
        try:
            return Channel(await _connected(socket.socket(family, kind, protocol), address, seconds))
        except OSError as error:
            faults.append(error)
    raise ConnectionError(", ".join(dict.fromkeys(map(reason, faults)))) from faults[-1]


async def _look_up(host: str, port: int) -> list[Any]:
    """As getaddrinfo does, but for a thread only where there is something to look up."""
    with suppress(socket.gaierror):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)


async def _connected(sock: socket.socket, address: Any, seconds: float) -> socket.socket:
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in KEEPALIVE.items():
            if hasattr(socket, option):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        async with asyncio.timeout(seconds):
            await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


def reason(error: Exception) -> str:
    """Why there is no connection, in the system's words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate not trusted: {error.verify_message}"
    if isinstance(error, TimeoutError) and not error.errno:
        return "timed out"
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError | socket.gaierror):
        return os.strerror(error.errno).lower()
    return describe(error)

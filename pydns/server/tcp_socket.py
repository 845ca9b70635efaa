"""Sockets that listen for TCP connections.

Rules:

1. A turn ends after `ACCEPTS` connections: others go on before the next.
2. A process that has no more files or memory says so once, and tries again each `RETRY` seconds; it says so anew only
   after all connections that waited could be taken.  asyncio's own server logs a thousand lines a second.
3. A client that has gone before its connection was taken costs nothing.

It knows nothing of DNS: what arrives is for the connection's protocol.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket

from pydns.address import host_port
from pydns.log import Log
from pydns.server.tcp import TcpConnection, TcpConnections
from pydns.tasks import Tasks

ACCEPTS = 16
"""Connections that one socket may have taken before others get their turn; each costs as much as some queries."""
RETRY = 1.0
"""Seconds without new connections after the process has run out of files or memory."""

_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_log = Log()


class TcpSocket:
    """A listening socket; what it takes belongs to ``connections``."""

    def __init__(self, sock: socket.socket, connections: TcpConnections) -> None:
        sock.setblocking(False)
        self.sock = sock
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._opening = Tasks()
        self._retry: asyncio.TimerHandle | None = None
        self._told = False

    def start(self) -> None:
        self._retry = None
        self._loop.add_reader(self.sock, self.accept)

    def stop(self) -> None:
        """Take no more connections."""
        self._loop.remove_reader(self.sock)
        if self._retry is not None:
            self._retry.cancel()

    def accept(self) -> None:
        """Take the connections that wait, `ACCEPTS` at most."""
        try:
            for _ in range(ACCEPTS):
                sock, peer = self.sock.accept()
                self._opening.run(self._open(TcpConnection(self._connections, peer[:2]), sock))
        except BlockingIOError:
            self._told = False
        except OSError as error:
            if error.errno in _EXHAUSTED:
                self._pause(error)

    async def _open(self, connection: TcpConnection, sock: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: connection, sock)
        except OSError:
            sock.close()  # rule 3

    def _pause(self, error: OSError) -> None:
        if not self._told:
            self._told = True
            where = host_port(*self.sock.getsockname()[:2])
            _log.error(f"TCP connections to {where} wait: {os.strerror(error.errno or 0).lower()}")
        self._loop.remove_reader(self.sock)
        self._retry = self._loop.call_later(RETRY, self.start)

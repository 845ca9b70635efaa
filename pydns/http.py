"""The small HTTP listeners of *health*, *ready* and *prometheus*, shared by the blocks that name the same address.

A listener lives as long as somebody holds a route on it.  Of several handlers of one route the youngest answers: after
a reload the new configuration's, and the old one's again if the new one is taken back.

aiohttp takes a third of a second to import, so that happens only when something listens (``pydns check`` does not).
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiohttp import web

Handler = Callable[[], Awaitable[tuple[int, str, bytes]]]
"""Gives (status, content type, body) for a GET."""


PLAIN_TEXT = "text/plain; charset=utf-8"


@dataclass
class _Listener:
    runner: web.ServerRunner
    routes: dict[str, list[Handler]] = field(default_factory=dict)


def import_early() -> None:
    """Import what a listener needs beside other work: half of that time goes into reading the system's certificates.

    What fails here fails again, and is told, when something listens.
    """
    Thread(target=_import, name="import", daemon=True).start()


def _import() -> None:
    with suppress(ImportError):
        import_module("aiohttp.web")


class HttpListeners:
    """HTTP listeners by address."""

    def __init__(self) -> None:
        self._listeners: dict[str, _Listener] = {}

    async def add(self, address: str, path: str, handler: Handler) -> None:
        """Serve GET ``path`` on ``address`` (``host:port``, ``:port``).  Raises OSError worded as CoreDNS does."""
        listener = self._listeners.get(address)
        if listener is None:
            listener = await self._open(address)
        listener.routes.setdefault(path, []).append(handler)

    async def remove(self, address: str, path: str, handler: Handler) -> None:
        """Take back a route; the listener closes with its last one."""
        listener = self._listeners.get(address)
        handlers = listener.routes.get(path, []) if listener else []
        if listener is None or handler not in handlers:
            return
        handlers.remove(handler)
        if not any(listener.routes.values()):
            del self._listeners[address]
            await listener.runner.cleanup()

    def ports(self) -> dict[str, int]:
        """The port that each address really listens on (they differ where 0 was asked for)."""
        return {address: listener.runner.addresses[0][1] for address, listener in self._listeners.items()}

    async def _open(self, address: str) -> _Listener:
        from aiohttp import web

        host, _, port = address.rpartition(":")
        routes: dict[str, list[Handler]] = {}

        async def answer(request: web.BaseRequest) -> web.Response:
            handlers = routes.get(request.path)
            if not handlers:
                return web.Response(status=404, text="404 page not found\n")
            status, content_type, body = await handlers[-1]()
            return web.Response(status=status, body=body, headers={"Content-Type": content_type})

        server = web.Server(answer, access_log=None, logger=_logger(), keepalive_timeout=5)
        runner = web.ServerRunner(server, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, host.strip("[]") or None, int(port))
        try:
            await site.start()
        except (OSError, UnicodeError) as error:
            await runner.cleanup()
            raise OSError(_worded(error, address)) from None
        listener = _Listener(runner, routes)
        self._listeners[address] = listener
        return listener


class NoHttpListeners(HttpListeners):
    """Of a process that shows nothing over HTTP: another one does so for it."""

    async def add(self, address: str, path: str, handler: Handler) -> None:
        """Leave it to the other process."""


def _worded(error: OSError | UnicodeError, address: str) -> str:
    """What keeps ``address`` from being opened; a UnicodeError says that its host cannot be a name."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return f"listen tcp: lookup {address.rpartition(':')[0]}: no such host"
    return f"listen tcp {address}: bind: {os.strerror(error.errno or 0).lower()}"


def _logger() -> logging.Logger:
    """Where aiohttp writes what goes wrong, except that what a client sent is no HTTP."""
    logger = logging.getLogger("http")
    logger.addFilter(_is_ours)
    return logger


def _is_ours(record: logging.LogRecord) -> bool:
    from aiohttp.http_exceptions import HttpProcessingError

    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


async def probe(url: str, timeout: float) -> str:
    """Ask for ``url`` with GET; what went wrong within ``timeout`` seconds, empty when any answer came."""
    import aiohttp

    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(timeout)) as session, session.get(url):
            return ""
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        return str(error) or "context deadline exceeded"

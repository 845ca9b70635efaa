"""The small HTTP listeners of *health*, *ready* and *prometheus*, shared by the blocks that name the same address.

A listener lives as long as somebody holds a route on it.  After a reload the new plugin's route replaces the old one's;
taking back a route that is no longer one's own does nothing.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web

Handler = Callable[[], Awaitable[tuple[int, str, bytes]]]
"""Gives (status, content type, body) for a GET."""


@dataclass
class _Listener:
    runner: web.ServerRunner
    routes: dict[str, Handler] = field(default_factory=dict)


class HttpListeners:
    """HTTP listeners by address."""

    def __init__(self) -> None:
        self._listeners: dict[str, _Listener] = {}

    async def add(self, address: str, path: str, handler: Handler) -> None:
        """Serve GET ``path`` on ``address`` (``host:port``, ``:port``).  Raises OSError where the port is taken."""
        listener = self._listeners.get(address)
        if listener is None:
            listener = await self._open(address)
        listener.routes[path] = handler

    async def remove(self, address: str, path: str, handler: Handler) -> None:
        """Take back a route; the listener closes with its last one."""
        listener = self._listeners.get(address)
        if listener is None or listener.routes.get(path) != handler:
            return
        del listener.routes[path]
        if not listener.routes:
            del self._listeners[address]
            await listener.runner.cleanup()

    def ports(self) -> dict[str, int]:
        """The port that each address really listens on (they differ where 0 was asked for)."""
        return {address: listener.runner.addresses[0][1] for address, listener in self._listeners.items()}

    async def _open(self, address: str) -> _Listener:
        host, _, port = address.rpartition(":")
        routes: dict[str, Handler] = {}

        async def answer(request: web.BaseRequest) -> web.Response:
            handler = routes.get(request.path)
            if handler is None:
                return web.Response(status=404, text="404 page not found\n")
            status, content_type, body = await handler()
            return web.Response(status=status, body=body, headers={"Content-Type": content_type})

        runner = web.ServerRunner(web.Server(answer, access_log=None, keepalive_timeout=5))
        await runner.setup()
        site = web.TCPSite(runner, host.strip("[]") or None, int(port), shutdown_timeout=1)
        try:
            await site.start()
        except OSError:
            await runner.cleanup()
            raise
        listener = _Listener(runner, routes)
        self._listeners[address] = listener
        return listener

"""Requests to one API: over the connection that was left idle, else over a new one, through a proxy where there is one.

Rules.  One connection at most is kept idle, for the next page of a list, and not for long.  It may have ended at the
other side meanwhile, so a request that gets not one octet over it goes out once more over a new one.

Does not know what is asked for, nor where credentials come from (`client`).
"""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Final

from pydns.k8s.channel import Channel, TlsChannel, reach, reason
from pydns.k8s.http1 import SUCCESS, Reply, StaleError, request
from pydns.k8s.origin import Origin, proxy_for
from pydns.k8s.transport import TransportError, describe

IDLE_SECONDS: Final = 15.0


class Session:
    """`context` is for TLS, `name` what the certificate is for if that is not the URL's host.

    `proxy` is a URL, None for what the environment says; to connect to an address may take `seconds`.
    """

    def __init__(
        self, url: str, context: ssl.SSLContext | None, name: str | None, proxy: str | None, seconds: float
    ) -> None:
        self._url = url
        self._context = context
        self._name = name
        self._proxy = proxy
        self._seconds = seconds
        self._idle: Channel | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._replies: set[Reply] = set()
        self._closed = False

    async def get(self, path: str, headers: Mapping[str, str], silence: float) -> Reply:
        """The reply to a GET of `path` below the URL, once its status is known; raises TransportError."""
        try:
            origin = Origin(self._url)
            proxy = proxy_for(origin, self._proxy)
            octets = _get(origin, proxy, path, headers)
        except ValueError as error:
            raise TransportError(f"{self._url}: {describe(error)}") from error
        idle = self._take_idle()
        if idle is not None:
            try:
                return await self._ask(idle, octets, silence)
            except StaleError:
                pass
        return await self._ask(await self._dial(origin, proxy, silence), octets, silence)

    async def _ask(self, channel: Channel, octets: bytes, silence: float) -> Reply:
        reply = Reply(channel, silence)
        self._replies.add(reply)
        try:
            await reply.ask(octets)
        except BaseException:
            self.finish(reply, reuse=False)
            raise
        return reply

    def finish(self, reply: Reply, *, reuse: bool = True) -> None:
        """Read no more of a reply; its connection is kept if it can be used again."""
        self._replies.discard(reply)
        if not (reply.leave() and reuse) or self._closed or self._idle is not None:
            reply.channel.close()
            return
        self._idle = reply.channel
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._drop_idle)

    def _take_idle(self) -> Channel | None:
        channel, self._idle = self._idle, None
        if self._timer is not None:
            self._timer.cancel()
        if channel is not None and not channel.quiet():
            channel.close()
            return None
        return channel

    def _drop_idle(self) -> None:
        if (channel := self._take_idle()) is not None:
            channel.close()

    async def _dial(self, origin: Origin, proxy: Origin | None, silence: float) -> Channel:
        """A new connection, through a tunnel where a proxy could read along otherwise."""
        channel = await _reach(proxy or origin, self._seconds)
        if self._context is None or not origin.secure:
            return channel
        try:
            if proxy is not None:
                await _tunnel(channel, origin, proxy, silence)
            secured = TlsChannel(channel.sock, self._context, self._name or origin.host.rstrip("."))
            await secured.shake_hands()
        except (OSError, ValueError) as error:
            channel.close()
            raise TransportError(_no_connection(origin, error)) from error
        except BaseException:
            channel.close()
            raise
        return secured

    def close(self) -> None:
        """End what is open."""
        self._closed = True
        self._drop_idle()
        for reply in self._replies:
            reply.fail(ConnectionError("the connection was given up"))


async def _reach(nearest: Origin, seconds: float) -> Channel:
    try:
        return await reach(nearest.host, nearest.port, seconds)
    except (OSError, ValueError) as error:
        raise TransportError(_no_connection(nearest, error)) from error


def _no_connection(origin: Origin, error: Exception) -> str:
    return f"Cannot connect to {origin.authority}: {reason(error)}"


def _get(origin: Origin, proxy: Origin | None, path: str, headers: Mapping[str, str]) -> bytes:
    """A request as the API is to get it, or a proxy that passes on what it can read (RFC 9112, 3.2)."""
    target = origin.path + path
    head = {"Host": origin.host_header, **headers}
    if origin.credentials:
        head.setdefault("Authorization", origin.credentials)
    if proxy is not None and not origin.secure:
        target = f"{origin.scheme}://{origin.host_header}{target}"
        head |= _to_proxy(proxy)
    return request("GET", target, head)


def _to_proxy(proxy: Origin) -> dict[str, str]:
    return {"Proxy-Authorization": proxy.credentials} if proxy.credentials else {}


async def _tunnel(channel: Channel, origin: Origin, proxy: Origin, silence: float) -> None:
    """Have the proxy pass on what is sent from now on (RFC 9110, 9.3.6); raises TransportError."""
    reply = Reply(channel, silence)
    try:
        await reply.ask(request("CONNECT", origin.authority, {"Host": origin.authority, **_to_proxy(proxy)}))
        if reply.status not in SUCCESS:
            said = f"{reply.status} {reply.reason}".rstrip()
            raise TransportError(f"the proxy {proxy.authority} does not connect to {origin.authority}: {said}")
    finally:
        reply.leave()

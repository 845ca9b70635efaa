"""The Kubernetes API over HTTP: TLS and a streaming GET.

Does not know what is asked for (`reflector`), nor where credentials come from (`access`, `kubeconfig`).
"""

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import urlencode, urlsplit

from pydns import __version__
from pydns.k8s.access import Access, RenewableAccess, Tls, by_url, in_cluster
from pydns.k8s.source import Observer, SourceError
from pydns.k8s.transport import CredentialsError, TransportError

CONNECT_SECONDS: Final = 10.0
NO_REPLY: Final = "<error>"
HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # to unpack it costs more than to receive it
    "User-Agent": f"pydns/{__version__}",
}
READ_BUFFER: Final = 1 << 18
"""Octets received ahead of what is decoded; more would only take memory."""
KEEPALIVE: Final = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""A peer that vanished is noticed after a minute, however quiet the watch."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the API is: a kubeconfig file, else a URL, else the cluster that this process is a Pod of.

    `tls` names the files of certificate, key and CA for the URL.
    """

    endpoint: str = ""
    tls: tuple[str, str, str] | None = None
    kubeconfig: str = ""
    context: str = ""


class ApiResponse:
    """A reply as it arrives, which fails when nothing comes for `silence` seconds.

    One timer looks after that, now and then: aiohttp would set another for each read, which costs a tenth of reading.
    """

    def __init__(self, response: Any, silence: float) -> None:
        import aiohttp

        self.status: int = response.status
        self._response = response
        self._faults = (aiohttp.ClientError, OSError, TimeoutError)
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._timer = self._loop.call_later(silence, self._look)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk: bytes = await self._response.content.readany()
        except self._faults as error:
            raise TransportError(describe(error)) from error
        if not chunk:
            raise StopAsyncIteration
        self._last = self._loop.time()
        return chunk

    def _look(self) -> None:
        left = self._last + self._silence - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        else:
            self._response.content.set_exception(TimeoutError(f"nothing came for {self._silence:g} seconds"))

    def close(self) -> None:
        """Read no more."""
        self._timer.cancel()
        self._response.close()


class Client:
    """A Transport to a real API; made by `connect`.  Raises OSError where TLS files are missing or bad."""

    def __init__(self, access: RenewableAccess, observer: Observer) -> None:
        now, self._renew = access
        self.url = now.url
        self._observer = observer
        self._tls = now.tls
        self._session = session(now)
        self._host = urlsplit(self.url).netloc

    @asynccontextmanager
    async def get(self, path: str, params: Mapping[str, str], silence: float) -> AsyncIterator[ApiResponse]:
        """See Transport.get."""
        started = time.monotonic()
        response = await self._send(f"{self.url}{path}?{urlencode(params)}", silence)
        if "watch" not in params:
            self._observer.request_duration("GET", self._host, time.monotonic() - started)
        with closing(ApiResponse(response, silence)) as reading:
            yield reading

    async def _send(self, url: str, silence: float) -> Any:
        import aiohttp

        access = await self._access()
        headers = HEADERS | ({"Authorization": access.authorization} if access.authorization else {})
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
        try:
            async with asyncio.timeout(CONNECT_SECONDS + silence):
                response = await self._session.get(
                    url, headers=headers, timeout=timeout, proxy=access.proxy, server_hostname=access.tls.server_name
                )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            self._observer.request("GET", self._host, NO_REPLY)
            raise TransportError(describe(error)) from error
        self._observer.request("GET", self._host, str(response.status))
        keep_alive(response)
        return response

    async def _access(self) -> Access:
        """The access of now, with a new session where its TLS files are others; raises CredentialsError."""
        try:
            access = await self._renew()
            if access.tls != self._tls:
                old, self._session = self._session, session(access)
                self._tls = access.tls
                await old.close()
        except (OSError, ValueError) as error:
            raise CredentialsError(f"getting credentials: {describe(error)}") from error
        return access

    async def close(self) -> None:
        await self._session.close()


def session(access: Access) -> Any:
    """An HTTP session with the TLS files of `access`; raises OSError where they are missing or bad."""
    import aiohttp

    needed = access.url.startswith("https:") or access.tls != Tls()  # the system's certificates take 20 ms to read
    context = tls_context(access.tls) if needed else True
    connector = aiohttp.TCPConnector(ssl=context)
    return aiohttp.ClientSession(connector=connector, trust_env=True, read_bufsize=READ_BUFFER)


def tls_context(tls: Tls) -> ssl.SSLContext:
    """Go does not insist on what Python calls strict, and kubeadm's own certificates do not meet it."""
    context = ssl.create_default_context(cafile=tls.authority)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if tls.certificate:
        context.load_cert_chain(tls.certificate, keyfile=tls.key)
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


async def connect(connection: Connection, observer: Observer) -> Client:
    """Read the credentials; no request is made yet.  Raises SourceError where they are missing or make no sense."""
    try:
        return Client(await access_of(connection), observer)
    except (OSError, ValueError) as error:
        raise SourceError(f"unable to load {what_is_read(connection)}: {describe(error)}") from error


async def access_of(connection: Connection) -> RenewableAccess:
    if connection.kubeconfig:
        from pydns.k8s.kubeconfig import by_kubeconfig

        return await by_kubeconfig(connection.kubeconfig, connection.context)
    return by_url(connection.endpoint, connection.tls) if connection.endpoint else in_cluster()


def what_is_read(connection: Connection) -> str:
    if connection.kubeconfig:
        return f"kubeconfig {connection.kubeconfig}"
    return f"the files of tls for {connection.endpoint}" if connection.endpoint else "in-cluster configuration"


def keep_alive(response: Any) -> None:
    """Let the kernel probe the peer while a watch is quiet."""
    transport = response.connection.transport if response.connection else None
    sock = transport.get_extra_info("socket") if transport else None
    if sock is None:
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE.items():
        if hasattr(socket, option):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def describe(error: BaseException) -> str:
    """An error in one line, never empty."""
    return " ".join(str(error).split()) or type(error).__name__

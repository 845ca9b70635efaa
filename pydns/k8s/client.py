"""The Kubernetes API over HTTP: a streaming GET with the credentials of now.

Does not know what is asked for (`reflector`), where credentials come from (`access`, `kubeconfig`), nor HTTP
(`session`).
"""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode, urlsplit

from pydns import __version__
from pydns.k8s.access import Access, RenewableAccess, Tls, by_url, in_cluster
from pydns.k8s.http1 import Reply
from pydns.k8s.session import Session
from pydns.k8s.source import Observer, SourceError
from pydns.k8s.transport import CredentialsError, TransportError, describe

CONNECT_SECONDS: Final = 10.0
NO_REPLY: Final = "<error>"
HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # to unpack it costs more than to receive it
    "User-Agent": f"pydns/{__version__}",
}


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the API is: a kubeconfig file, else a URL, else the cluster that this process is a Pod of.

    `tls` names the files of certificate, key and CA for the URL.
    """

    endpoint: str = ""
    tls: tuple[str, str, str] | None = None
    kubeconfig: str = ""
    context: str = ""


class Client:
    """A Transport to a real API; made by `connect`.  Raises OSError where TLS files are missing or bad."""

    def __init__(self, access: RenewableAccess, observer: Observer) -> None:
        now, self._renew = access
        self.url = now.url
        self._observer = observer
        self._way = now.tls, now.proxy
        self._session = session(now)
        self._host = urlsplit(self.url).netloc

    @asynccontextmanager
    async def get(self, path: str, params: Mapping[str, str], silence: float) -> AsyncIterator[Reply]:
        """See Transport.get."""
        started = time.monotonic()
        access = await self._access()
        session = self._session
        reply = await self._send(session, access, f"{path}?{urlencode(params)}", silence)
        if "watch" not in params:
            self._observer.request_duration("GET", self._host, time.monotonic() - started)
        try:
            yield reply
        finally:
            session.finish(reply)

    async def _send(self, session: Session, access: Access, path: str, silence: float) -> Reply:
        headers = HEADERS | ({"Authorization": access.authorization} if access.authorization else {})
        seconds = CONNECT_SECONDS + silence
        try:
            async with asyncio.timeout(seconds):
                reply = await session.get(path, headers, silence)
        except (TransportError, TimeoutError) as error:
            self._observer.request("GET", self._host, NO_REPLY)
            if isinstance(error, TransportError):
                raise
            raise TransportError(f"no reply within {seconds:g} seconds") from error
        self._observer.request("GET", self._host, str(reply.status))
        return reply

    async def _access(self) -> Access:
        """The access of now, with a new session where its TLS files are others; raises CredentialsError."""
        try:
            access = await self._renew()
            if (access.tls, access.proxy) != self._way:
                old, self._session = self._session, session(access)
                self._way = access.tls, access.proxy
                old.close()
        except (OSError, ValueError) as error:
            raise CredentialsError(f"getting credentials: {describe(error)}") from error
        return access

    async def close(self) -> None:
        self._session.close()


def session(access: Access) -> Session:
    """Requests with the TLS files of `access`; raises OSError where they are missing or bad."""
    needed = access.url.startswith("https:") or access.tls != Tls()  # the system's certificates take 20 ms to read
    context = tls_context(access.tls) if needed else None
    return Session(access.url, context, access.tls.server_name, access.proxy, CONNECT_SECONDS)


def tls_context(tls: Tls) -> ssl.SSLContext:
    """Go does not insist on what Python calls strict, and kubeadm's own certificates do not meet it."""
    context = ssl.create_default_context(cafile=tls.authority)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["http/1.1"])
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

"""The Kubernetes API over HTTP: credentials, TLS and a streaming GET.

The only file that imports `kubernetes`, and only when a connection is made: it takes half a second to load.  Of it are
used the reading of kubeconfig files and of a Pod's service account, the renewal of their tokens, and the HTTP session;
not its models.  Does not know what is asked for (`reflector`).
"""

import os
import socket
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import urlencode, urlsplit

import yaml

from pydns import __version__
from pydns.k8s.source import Observer, SourceError
from pydns.k8s.transport import TransportError

CONNECT_SECONDS: Final = 10.0
NO_REPLY: Final = "<error>"
HEADERS: Final = {"Accept": "application/json", "User-Agent": f"pydns/{__version__}"}
KEEPALIVE: Final = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""A peer that vanished is noticed after a minute, however quiet the watch."""
CONFIG_FAULTS: Final = (OSError, yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError)
"""What reading a kubeconfig that is none raises, beside the library's own ConfigException."""


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
    """A reply as it arrives."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self.status: int = response.status

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        import aiohttp

        try:
            chunk: bytes = await self._response.content.readany()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise TransportError(describe(error)) from error
        if not chunk:
            raise StopAsyncIteration
        return chunk


class Client:
    """A Transport to a real API; made by `connect`."""

    def __init__(self, configuration: Any, observer: Observer) -> None:
        from kubernetes.aio.client.rest import RESTClientObject

        self._configuration = configuration
        self._observer = observer
        self._rest = RESTClientObject(configuration)
        self._host = urlsplit(configuration.host).netloc

    @asynccontextmanager
    async def get(self, path: str, params: Mapping[str, str], silence: float) -> AsyncIterator[ApiResponse]:
        """See Transport.get."""
        started = time.monotonic()
        response = await self._send(f"{self._configuration.host}{path}?{urlencode(params)}", silence)
        if "watch" not in params:
            self._observer.request_duration("GET", self._host, time.monotonic() - started)
        try:
            yield ApiResponse(response)
        finally:
            response.close()

    async def _send(self, url: str, silence: float) -> Any:
        import aiohttp
        from kubernetes.aio.config import ConfigException

        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=silence)
        try:
            headers = {**HEADERS, **await self._authorization()}
            reply = await self._rest.request("GET", url, headers=headers, _request_timeout=timeout)
        except (aiohttp.ClientError, ConfigException, OSError, TimeoutError) as error:
            self._observer.request("GET", self._host, NO_REPLY)
            raise TransportError(describe(error)) from error
        self._observer.request("GET", self._host, str(reply.status))
        keep_alive(reply.response)
        return reply.response

    async def _authorization(self) -> dict[str, str]:
        """The credentials of now: reading them renews a token that has expired or whose file has changed."""
        token = (await self._configuration.auth_settings()).get("BearerToken")
        return {"Authorization": token["value"].strip()} if token else {}

    async def close(self) -> None:
        await self._rest.close()


async def connect(connection: Connection, observer: Observer) -> Client:
    """Read the credentials; no request is made yet.  Raises SourceError where they are missing or make no sense."""
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import ConfigException

    # A copy of the process-wide default is not wanted: each server block has its own connection.
    configuration = Configuration()
    # Go does not insist on what Python calls strict, and kubeadm's own certificates do not meet it.
    configuration.disable_strict_ssl_verification = True
    try:
        if connection.kubeconfig:
            await load_kubeconfig(connection, configuration)
        elif connection.endpoint:
            load_endpoint(connection, configuration)
        else:
            load_in_cluster(configuration)
        return Client(configuration, observer)
    except (ConfigException, *CONFIG_FAULTS) as error:
        raise SourceError(f"unable to load {what_is_read(connection)}: {describe(error)}") from error


def what_is_read(connection: Connection) -> str:
    if connection.kubeconfig:
        return f"kubeconfig {connection.kubeconfig}"
    return f"the files of tls for {connection.endpoint}" if connection.endpoint else "in-cluster configuration"


async def load_kubeconfig(connection: Connection, configuration: Any) -> None:
    from kubernetes.aio.config import load_kube_config

    if not os.path.isfile(connection.kubeconfig):
        raise SourceError(f"unable to load kubeconfig {connection.kubeconfig}: no such file")
    loader = await load_kube_config(
        config_file=connection.kubeconfig,
        context=connection.context or None,
        client_configuration=configuration,
        persist_config=False,
    )
    # Asked for before every request: an exec plugin is run again once its token has expired, a token file read again.
    configuration.refresh_api_key_hook = loader.load_and_set


def load_endpoint(connection: Connection, configuration: Any) -> None:
    scheme = "https" if connection.tls else "http"
    url = connection.endpoint if "://" in connection.endpoint else f"{scheme}://{connection.endpoint}"
    configuration.host = url.rstrip("/")
    if connection.tls:
        configuration.cert_file, configuration.key_file, configuration.ssl_ca_cert = connection.tls


def load_in_cluster(configuration: Any) -> None:
    from kubernetes.aio.config import load_incluster_config

    if not (os.environ.get("KUBERNETES_SERVICE_HOST") and os.environ.get("KUBERNETES_SERVICE_PORT")):
        raise SourceError(
            "unable to load in-cluster configuration, "
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"
        )
    load_incluster_config(client_configuration=configuration)


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

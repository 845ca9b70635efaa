"""The Kubernetes API over HTTP: credentials, TLS and a streaming GET.

The only file that imports `kubernetes`, and only when a connection is made: it takes half a second to load.  Of it are
used the reading of kubeconfig files and of a Pod's service account, the renewal of their tokens, and the HTTP session;
not its models, nor what it makes of `exec` plugins: where one fails, it goes on without credentials.  Does not know
what is asked for (`reflector`).
"""

import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlencode, urlsplit

import yaml

from pydns import __version__
from pydns.k8s.exec_plugin import ExecPlugin
from pydns.k8s.source import Observer, SourceError
from pydns.k8s.transport import CredentialsError, TransportError

CONNECT_SECONDS: Final = 10.0
NO_REPLY: Final = "<error>"
HEADERS: Final = {"Accept": "application/json", "User-Agent": f"pydns/{__version__}"}
KEEPALIVE: Final = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""A peer that vanished is noticed after a minute, however quiet the watch."""
CONFIG_FAULTS: Final = (OSError, yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError)
"""What reading a kubeconfig that is none raises, beside the library's own ConfigException."""

Renew = Callable[[], Awaitable[None]]
"""Puts the credentials of now into a configuration."""


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

    def __init__(self, configuration: Any, observer: Observer, renew: Renew) -> None:
        self.url: str = configuration.host
        self._configuration = configuration
        self._observer = observer
        self._renew = renew
        self._rest = session(configuration)
        self._certificate = configuration.cert_file
        self._host = urlsplit(self.url).netloc

    @asynccontextmanager
    async def get(self, path: str, params: Mapping[str, str], silence: float) -> AsyncIterator[ApiResponse]:
        """See Transport.get."""
        started = time.monotonic()
        response = await self._send(f"{self.url}{path}?{urlencode(params)}", silence)
        if "watch" not in params:
            self._observer.request_duration("GET", self._host, time.monotonic() - started)
        try:
            yield ApiResponse(response)
        finally:
            response.close()

    async def _send(self, url: str, silence: float) -> Any:
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=silence)
        headers = {**HEADERS, **await self._authorization()}
        try:
            reply = await self._rest.request("GET", url, headers=headers, _request_timeout=timeout)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            self._observer.request("GET", self._host, NO_REPLY)
            raise TransportError(describe(error)) from error
        self._observer.request("GET", self._host, str(reply.status))
        keep_alive(reply.response)
        return reply.response

    async def _authorization(self) -> dict[str, str]:
        """The credentials of now; raises CredentialsError."""
        from kubernetes.aio.config import ConfigException

        try:
            await self._renew()
            await self._use_certificate()
            token = (await self._configuration.auth_settings()).get("BearerToken")
        except (ConfigException, *CONFIG_FAULTS) as error:
            raise CredentialsError(f"getting credentials: {describe(error)}") from error
        return {"Authorization": token["value"].strip()} if token else {}

    async def _use_certificate(self) -> None:
        """A new client certificate needs new connections."""
        if self._configuration.cert_file != self._certificate:
            old, self._rest = self._rest, session(self._configuration)
            self._certificate = self._configuration.cert_file
            await old.close()

    async def close(self) -> None:
        await self._rest.close()


def session(configuration: Any) -> Any:
    """An HTTP session with the TLS files that the configuration names; raises OSError where they are missing or bad."""
    from kubernetes.aio.client.rest import RESTClientObject

    return RESTClientObject(configuration)


async def connect(connection: Connection, observer: Observer) -> Client:
    """Read the credentials; no request is made yet.  Raises SourceError where they are missing or make no sense."""
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import ConfigException

    # A copy of the process-wide default is not wanted: each server block has its own connection.
    configuration = Configuration()
    # Go does not insist on what Python calls strict, and kubeadm's own certificates do not meet it.
    configuration.disable_strict_ssl_verification = True
    renew: Renew = nothing
    try:
        if connection.kubeconfig:
            renew = await load_kubeconfig(connection, configuration)
        elif connection.endpoint:
            load_endpoint(connection, configuration)
        else:
            load_in_cluster(configuration)
        return Client(configuration, observer, renew)
    except (ConfigException, *CONFIG_FAULTS) as error:
        raise SourceError(f"unable to load {what_is_read(connection)}: {describe(error)}") from error


def what_is_read(connection: Connection) -> str:
    if connection.kubeconfig:
        return f"kubeconfig {connection.kubeconfig}"
    return f"the files of tls for {connection.endpoint}" if connection.endpoint else "in-cluster configuration"


async def load_kubeconfig(connection: Connection, configuration: Any) -> Renew:
    """Read the file, and say how to renew the credentials: an `exec` plugin is run, a token file read again."""
    from kubernetes.aio.config.kube_config import KubeConfigLoader

    config = read_kubeconfig(Path(connection.kubeconfig))
    context = connection.context or None
    loader = KubeConfigLoader(config, context, config_base_path=os.path.dirname(os.path.abspath(connection.kubeconfig)))
    plugin = take_exec_plugin(user_of(config, context))
    loader.set_active_context(context)
    await loader.load_and_set(configuration)

    async def renew() -> None:
        await loader.load_and_set(configuration)
        if plugin is not None:
            await ask(plugin, configuration)

    return renew


def read_kubeconfig(path: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise ValueError((error.strerror or str(error)).lower())
    if config is None:
        raise ValueError("it is empty")
    if not isinstance(config, dict):
        raise ValueError("no kubeconfig: a mapping with clusters, users and contexts is needed")
    return config


def user_of(config: dict[str, Any], context: str | None) -> dict[str, Any]:
    """The context's user; raises ValueError where there is none of that name: the loader would ask as nobody.

    A context that names no user gets one without credentials, for the loader cannot do without.
    """
    chosen = named(config["contexts"], context or config["current-context"])["context"]
    users = config["users"] = config.get("users") or []
    if not chosen.get("user"):
        chosen["user"] = "(none)"
        users.append({"name": "(none)", "user": {}})
    user = named(users, chosen["user"])
    if not user:
        raise ValueError(f"the context's user '{chosen['user']}' is not among its users")
    return user


def take_exec_plugin(user: dict[str, Any]) -> ExecPlugin | None:
    """The user's `exec` plugin, taken out of what the loader reads."""
    spec = (user["user"] or {}).pop("exec", None)
    return None if spec is None else ExecPlugin(spec)


def named(entries: Iterable[dict[str, Any]], name: str) -> dict[str, Any]:
    return next((entry for entry in entries if entry["name"] == name), {})


async def ask(plugin: ExecPlugin, configuration: Any) -> None:
    """Put a plugin's credentials into the configuration; raises CredentialsError."""
    from kubernetes.aio.config.kube_config import FileOrData

    credentials = await plugin.credentials()
    if credentials.token:
        configuration.api_key["BearerToken"] = f"Bearer {credentials.token}"
    if credentials.client_certificate_data:
        pem = f"{credentials.client_certificate_data}\n{credentials.client_key_data}\n"
        configuration.cert_file = FileOrData({"pem-data": pem}, "pem", base64_file_content=False).as_file()
        configuration.key_file = None


async def nothing() -> None:
    """Credentials that are renewed by whoever made the configuration."""


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
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined "
            "(outside a cluster: --kubeconfig FILE for its API, --manifests PATH for objects from files)"
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

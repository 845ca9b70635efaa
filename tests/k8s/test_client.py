"""Requests to an API on loopback, and where credentials come from."""

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from pydns import __version__
from pydns.k8s.access import Access, Tls
from pydns.k8s.client import Client, Connection, connect
from pydns.k8s.source import Observer, SourceError
from pydns.k8s.transport import CredentialsError, TransportError
from tests.k8s.peer import NAME, Pair, mutual, shown


class Requests(Observer):
    def __init__(self) -> None:
        self.codes: list[str] = []
        self.durations = 0

    def request(self, method: str, host: str, code: str) -> None:
        self.codes.append(code)

    def request_duration(self, verb: str, host: str, seconds: float) -> None:
        self.durations += 1


MORE = 4
"""Pieces of a slow reply after the first."""


class Api:
    """A small HTTP server on the loopback address that notes the headers it is sent."""

    def __init__(self) -> None:
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.ended = asyncio.Event()
        self.go_on = asyncio.Event()
        """Lets a slow reply go on by one piece."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        if request.path.endswith("/forbidden"):
            return web.Response(status=403, text="no")
        if request.path.endswith("/mute"):
            await self.ended.wait()
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"one")
        for _ in range(MORE if request.path.startswith("/slow") else 0):
            await self.go_on.wait()
            self.go_on.clear()
            await response.write(b"more")
        if request.path.endswith("/silent"):
            await self.ended.wait()
        if request.path.endswith("/cut"):
            assert request.transport is not None
            request.transport.abort()
        return response


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Api]:
    api = Api()
    application = web.Application()
    application.router.add_get("/{path:.*}", api.answer)
    runner = web.AppRunner(application, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    host, port = runner.addresses[0][:2]
    api.url = f"{'https' if tls else 'http'}://{host}:{port}"
    yield api
    api.ended.set()
    await runner.cleanup()


async def body(client: Client, path: str, silence: float = 5, **params: str) -> tuple[int, bytes]:
    async with client.get(path, params, silence) as response:
        return response.status, b"".join([chunk async for chunk in response])


async def test_streaming_get() -> None:
    requests = Requests()
    async with serving() as api:
        client = await connect(Connection(endpoint=api.url), requests)
        assert await body(client, "/api/v1/services", limit="500") == (200, b"one")
        assert await body(client, "/api/v1/services", watch="true") == (200, b"one")
        assert await body(client, "/forbidden") == (403, b"no")
        await client.close()
    assert api.headers[0]["Accept"] == "application/json"
    assert api.headers[0]["User-Agent"] == f"pydns/{__version__}"
    assert "Authorization" not in api.headers[0]
    assert requests.codes == ["200", "200", "403"]
    assert requests.durations == 2


@pytest.mark.parametrize(
    "path, error", [("/cut", "^the reply was cut short$"), ("/silent", "^nothing came for 0.05 seconds$")]
)
async def test_broken_and_silent_streams(path: str, error: str) -> None:
    async with serving() as api:
        client = await connect(Connection(endpoint=api.url), Observer())
        with pytest.raises(TransportError, match=error):
            await body(client, path, silence=0.05)
        await client.close()


async def test_a_slow_stream_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, late = asyncio.get_running_loop(), 0.0
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + late)
    async with serving() as api:
        client = await connect(Connection(endpoint=api.url), Observer())
        async with client.get("/slow/silent", {}, silence=30) as response:
            assert await anext(response) == b"one"
            for _ in range(MORE):
                late += 20
                api.go_on.set()
                assert await anext(response) == b"more"
            late += 31
            with pytest.raises(TransportError, match="nothing came for 30 seconds"):
                await anext(response)
        await client.close()


async def test_no_reply_at_all() -> None:
    requests = Requests()
    async with serving() as api:
        client = await connect(Connection(endpoint=api.url), requests)
        with pytest.raises(TransportError, match=r"^nothing came for 0\.05 seconds$"):
            await body(client, "/mute", silence=0.05)
        await client.close()
    assert requests.codes == ["<error>"]


async def test_nobody_listens() -> None:
    requests = Requests()
    async with serving() as api:
        url = api.url.removeprefix("http://")
    client = await connect(Connection(endpoint=url), requests)
    with pytest.raises(TransportError, match=r"^Cannot connect to 127\.0\.0\.1:\d+: connection refused$"):
        await body(client, "/api/v1/services")
    await client.close()
    assert requests.codes == ["<error>"]


@pytest.mark.parametrize(
    ("cluster", "status"),
    [
        ({"certificate-authority": "cert.pem", "tls-server-name": NAME}, 200),
        ({"insecure-skip-tls-verify": True}, 200),
        ({"certificate-authority": "cert.pem"}, None),
        ({"tls-server-name": NAME}, None),
    ],
    ids=["the API's name and CA", "anything goes", "another name", "another CA"],
)
async def test_whom_the_client_trusts(pair: Pair, cluster: dict[str, object], status: int | None) -> None:
    user = {"client-certificate": "cert.pem", "client-key": "key.pem"}
    async with serving(mutual(pair)) as api:
        kubeconfig = write_kubeconfig(pair.certificate.parent, api.url, cluster, **user)
        client = await connect(Connection(kubeconfig=kubeconfig, context="here"), Observer())
        if status:
            assert await body(client, "/") == (status, b"one")
        else:
            with pytest.raises(TransportError, match="certificate"):
                await body(client, "/")
        await client.close()


async def test_the_client_shows_its_certificate(pair: Pair) -> None:
    async with serving(mutual(pair)) as api:
        kubeconfig = write_kubeconfig(pair.certificate.parent, api.url, {"insecure-skip-tls-verify": True})
        client = await connect(Connection(kubeconfig=kubeconfig, context="here"), Observer())
        with pytest.raises(TransportError):
            await body(client, "/")
        await client.close()


def write_kubeconfig(path: Path, server: str, cluster: Mapping[str, object] = {}, /, **user: object) -> str:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "c", "cluster": {"server": server, **cluster}},
            {"name": "nowhere", "cluster": {"server": "http://127.0.0.1:1"}},
        ],
        "users": [{"name": "u", "user": user}],
        "contexts": [
            {"name": "here", "context": {"cluster": "c", "user": "u"}},
            {"name": "there", "context": {"cluster": "nowhere", "user": "u"}},
        ],
        "current-context": "there",
    }
    file = path / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return str(file)


@pytest.mark.parametrize(
    ("user", "authorization"),
    [
        ({"token": "secret"}, "Bearer secret"),
        ({"username": "ann", "password": "pw"}, f"Basic {base64.b64encode(b'ann:pw').decode()}"),
        ({"tokenFile": "token"}, "Bearer from-file"),
        (
            {
                "exec": {
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "command": "echo",
                    "args": [
                        '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", '
                        '"status": {"token": "from-plugin"}}'
                    ],
                }
            },
            "Bearer from-plugin",
        ),
    ],
    ids=["token", "password", "token file", "exec plugin"],
)
async def test_kubeconfig(tmp_path: Path, user: dict[str, object], authorization: str) -> None:
    (tmp_path / "token").write_text("from-file\n")
    async with serving() as api:
        kubeconfig = write_kubeconfig(tmp_path, api.url, **user)
        client = await connect(
            Connection(endpoint="http://127.0.0.1:1", kubeconfig=kubeconfig, context="here"), Observer()
        )
        await body(client, "/api/v1/services")
        await client.close()
    assert api.headers[0]["Authorization"] == authorization


async def test_token_file_is_read_again(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first")
    async with serving() as api:
        kubeconfig = write_kubeconfig(tmp_path, api.url, tokenFile="token")
        client = await connect(Connection(kubeconfig=kubeconfig, context="here"), Observer())
        await body(client, "/")
        token.write_text("second")
        await body(client, "/")
        await client.close()
    assert [headers["Authorization"] for headers in api.headers] == ["Bearer first", "Bearer second"]


async def test_a_context_without_a_user(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(
        "clusters: [{name: c, cluster: {server: https://a}}]\n"
        "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"
    )
    client = await connect(Connection(kubeconfig=str(file)), Observer())
    assert client.url == "https://a"
    await client.close()


async def test_other_files_of_tls_are_used_from_then_on(pair: Pair) -> None:
    """As an exec plugin gives them; a watch that goes on over the old ones ends."""
    now = Access("", Tls(str(pair.certificate), server_name=NAME))
    later = replace(now, tls=replace(now.tls, certificate=str(pair.certificate), key=str(pair.key)))

    async def renew() -> Access:
        return replace(now, url=api.url)

    async with serving(shown(pair)) as api:
        client = Client((replace(now, url=api.url), renew), Observer())
        async with client.get("/silent", {"watch": "true"}, 5) as watch:
            assert await anext(watch) == b"one"
            now = later
            assert await body(client, "/") == (200, b"one")
            with pytest.raises(TransportError, match=r"^the connection was given up$"):
                await anext(watch)
        now = replace(now, tls=Tls("nosuch"))
        with pytest.raises(CredentialsError, match="No such file"):
            await body(client, "/")
        await client.close()


CERTIFICATE = {"clientCertificateData": "no", "clientKeyData": "certificate"}


@pytest.mark.parametrize(
    ("command", "output", "error"),
    [
        ("aws-nosuch", {}, "getting credentials: exec: executable aws-nosuch not found"),
        ("echo", CERTIFICATE, "getting credentials: "),
    ],
)
async def test_nothing_is_asked_without_the_credentials_that_were_named(
    tmp_path: Path, command: str, output: dict[str, str], error: str
) -> None:
    spec = {"apiVersion": "client.authentication.k8s.io/v1", "command": command}
    spec["args"] = [json.dumps({"status": output})]  # type: ignore[assignment]
    async with serving() as api:
        kubeconfig = write_kubeconfig(tmp_path, api.url, exec=spec, username="ann", password="pw")
        client = await connect(Connection(kubeconfig=kubeconfig, context="here"), Observer())
        for _ in range(2):
            with pytest.raises(CredentialsError) as caught:
                await body(client, "/api/v1/services")
            assert str(caught.value).startswith(error)
        await client.close()
    assert api.headers == []


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("kind: [", "unable to load kubeconfig {file}: "),
        ("- a\n- b\n", "unable to load kubeconfig {file}: no kubeconfig: a mapping with clusters, users and contexts "),
        ("clusters: []\ncontexts: []\n", "unable to load kubeconfig {file}: Invalid kube-config file. "),
        ("", "unable to load kubeconfig {file}: it is empty"),
        (
            "clusters: [{name: c, cluster: {server: https://a}}]\n"
            "contexts: [{name: x, context: {cluster: c, user: ann}}]\ncurrent-context: x\n",
            "unable to load kubeconfig {file}: the context's user 'ann' is not among its users",
        ),
        (
            "clusters: [{name: c, cluster: {server: https://a}}]\nusers: [{name: u, user: {exec: {args: []}}}]\n"
            "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n",
            "unable to load kubeconfig {file}: Object missing required field `command`",
        ),
        (None, "unable to load kubeconfig {file}: no such file"),
    ],
    ids=["no YAML", "no mapping", "no context", "empty", "no such user", "no command", "missing"],
)
async def test_kubeconfig_that_is_none(tmp_path: Path, text: str | None, error: str) -> None:
    file = tmp_path / "kubeconfig"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SourceError) as caught:
        await connect(Connection(kubeconfig=str(file)), Observer())
    assert str(caught.value).startswith(error.format(file=file))
    assert "\n" not in str(caught.value)


async def test_files_of_tls_that_are_missing() -> None:
    connection = Connection(endpoint="api.example.com:6443", tls=("cert.pem", "key.pem", "ca.pem"))
    with pytest.raises(
        SourceError, match=r"unable to load the files of tls for api\.example\.com:6443: .*No such file"
    ):
        await connect(connection, Observer())


async def test_not_in_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(SourceError) as caught:
        await connect(Connection(), Observer())
    assert str(caught.value) == (
        "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined "
        "(outside a cluster: --kubeconfig FILE for its API, --manifests PATH for objects from files)"
    )

"""Requests over connections that are new, idle, stale, refused, secured and proxied, to peers that follow scripts."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

import pytest

from pydns.k8s.access import Tls
from pydns.k8s.client import tls_context
from pydns.k8s.session import IDLE_SECONDS, Session
from pydns.k8s.transport import TransportError
from tests.k8s.peer import NAME, OK, Act, Pair, To, mutual, peer, shown
from tests.support import settle

READ, RESET, HANG = Act.READ, Act.RESET, Act.HANG


def to(port: int, proxy: str | None = None, host: str = "127.0.0.1") -> Session:
    return Session(f"http://{host}:{port}", None, None, proxy, 5)


def securely(
    port: int, pair: Pair, proxy: str | None = None, host: str = "127.0.0.1", name: str | None = NAME
) -> Session:
    context = tls_context(Tls(str(pair.certificate), str(pair.certificate), str(pair.key)))
    return Session(f"https://{host}:{port}/base", context, name, proxy, 5)


async def got(session: Session, path: str = "/a") -> tuple[int, bytes]:
    reply = await session.get(path, {"Accept": "x"}, 5)
    try:
        return reply.status, b"".join([piece async for piece in reply])
    finally:
        session.finish(reply)


async def test_the_pages_of_a_list_come_over_one_connection() -> None:
    async with peer([READ, OK, READ, OK, READ, OK, HANG]) as api:
        with closing(to(api.port)) as session:
            for path in ("/a", "/b?continue=x", "/c"):
                assert await got(session, path) == (200, b"one")
        await api.ended.wait()
    assert api.requests[1] == f"GET /b?continue=x HTTP/1.1\r\nHost: 127.0.0.1:{api.port}\r\nAccept: x\r\n\r\n"
    assert api.connections == 1


@pytest.mark.parametrize(
    "script",
    [
        [READ, OK],
        [READ, OK, RESET],
        [READ, OK, READ],
        [READ, OK, READ, RESET],
        [READ, OK + b"HTTP/1.1 408 Request Timeout\r\n\r\n"],
        [READ, b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\none", HANG],
        [READ, b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\none", HANG],
    ],
    ids=["ended", "reset", "ended when asked", "reset when asked", "more than a reply", "said to end", "HTTP/1.0"],
)
async def test_a_connection_that_is_no_longer_good_is_not_missed(script: list[bytes | Act]) -> None:
    async with peer(script, [READ, OK, HANG]) as api:
        with closing(to(api.port)) as session:
            assert await got(session) == (200, b"one")
            assert await got(session) == (200, b"one")
    assert api.connections == 2


async def test_a_reply_that_has_begun_is_not_asked_for_again() -> None:
    async with peer([READ, OK, READ, b"HTTP/1.1 2"]) as api:
        with closing(to(api.port)) as session:
            await got(session)
            with pytest.raises(TransportError, match="closed before there was a reply"):
                await got(session)
    assert len(api.requests) == 2


@pytest.mark.parametrize(
    ("script", "error"),
    [([READ], "closed before there was a reply"), ([READ, RESET], "[Rr]eset"), ([RESET], "[Rr]eset|closed before")],
    ids=["ended", "reset", "reset at once"],
)
async def test_a_new_connection_that_ends_is_not_tried_again(script: list[Act], error: str) -> None:
    async with peer(script) as api:
        with closing(to(api.port)) as session, pytest.raises(TransportError, match=error):
            await got(session)


async def test_a_reply_that_is_not_read_to_its_end_takes_its_connection_with_it() -> None:
    async with peer([READ, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\non", HANG], [READ, OK]) as api:
        with closing(to(api.port)) as session:
            reply = await session.get("/", {}, 5)
            assert await anext(reply) == b"on"
            session.finish(reply)
            await api.ended.wait()
            await got(session)


async def test_one_connection_is_kept_and_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, late = asyncio.get_running_loop(), 0.0
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + late)
    async with peer([READ, OK, HANG], [READ, OK, HANG]) as api:
        with closing(to(api.port)) as session:
            first, second = await session.get("/", {}, 5), await session.get("/", {}, 5)
            for reply in (first, second):
                assert await anext(reply) == b"one"
                session.finish(reply)
            await api.ended.wait()
            api.ended.clear()
            late += IDLE_SECONDS
            await api.ended.wait()


async def test_what_is_open_ends_with_the_session() -> None:
    async with peer([READ, b"HTTP/1.1 200 OK\r\n\r\n", HANG]) as api:
        session = to(api.port)
        reply = await session.get("/", {}, 5)
        reading = asyncio.create_task(anext(reply))
        await settle()
        session.close()
        with pytest.raises(TransportError, match="given up"):
            await reading
        session.finish(reply)
        await api.ended.wait()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://127.0.0.1:{port}", r"^Cannot connect to 127\.0\.0\.1:{port}: connection refused$"),
        ("http://localhost:{port}", r"^Cannot connect to localhost:{port}: connection refused$"),
        ("https://[::1]:{port}", r"^Cannot connect to \[::1\]:{port}: connection refused$"),
        ("http://no.such.host.invalid", r"^Cannot connect to no\.such\.host\.invalid:80: "),
        ("http://" + "a" * 64, "^Cannot connect to a{{64}}:80: "),
        ("http://:80", "^http://:80: not a URL of http or https with a host$"),
        ("http://a:99999", "^http://a:99999: Port out of range"),
    ],
)
async def test_whom_nobody_answers_for(url: str, error: str) -> None:
    port = free_port()
    with (
        closing(Session(url.format(port=port), ssl.create_default_context(), None, None, 5)) as session,
        pytest.raises(TransportError, match=error.format(port=port)),
    ):
        await got(session)


async def test_a_host_that_takes_no_connection_in_time() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for sock in (first, second):
            sock.setblocking(False)
            sock.connect_ex(full.getsockname())
        port = full.getsockname()[1]
        with (
            closing(Session(f"http://127.0.0.1:{port}", None, None, None, 0.01)) as session,
            pytest.raises(TransportError, match=r"timed out$"),
        ):
            await got(session)


async def test_the_next_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async with peer([READ, OK]) as api:
        addresses = [("::1", free_port(), 0, 0), ("127.0.0.1", free_port()), ("127.0.0.1", api.port)]

        async def getaddrinfo(host: str, port: int, *, type: int) -> list[Any]:
            return [(socket.AF_INET6 if len(one) == 4 else socket.AF_INET, type, 0, "", one) for one in addresses]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
        with closing(to(1, host="api.example")) as session:
            assert await got(session) == (200, b"one")


async def test_ipv6() -> None:
    async with peer([READ, OK], host="::1") as api:
        with closing(to(api.port, host="[::1]")) as session:
            assert await got(session) == (200, b"one")
    assert f"Host: [::1]:{api.port}\r\n" in api.requests[0]


# TLS


async def test_tls(pair: Pair) -> None:
    async with peer([READ, OK, READ, OK, HANG], tls=mutual(pair)) as api:
        with closing(securely(api.port, pair)) as session:
            assert await got(session) == (200, b"one")
            assert await got(session) == (200, b"one")
        await api.ended.wait()
    assert api.requests[0].startswith("GET /base/a HTTP/1.1\r\n")


async def test_much_over_tls(pair: Pair) -> None:
    octets = bytes(range(256)) * (1 << 14)
    header = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(octets)
    async with peer([READ, header + octets, READ, OK], tls=shown(pair)) as api:
        with closing(securely(api.port, pair)) as session:
            assert await got(session) == (200, octets)
            assert await got(session) == (200, b"one")
    assert api.connections == 1


async def test_a_reply_until_the_end_of_tls(pair: Pair) -> None:
    async with peer([READ, b"HTTP/1.1 200 OK\r\n\r\n", b"all of it"], tls=shown(pair)) as api:
        with closing(securely(api.port, pair)) as session:
            assert await got(session) == (200, b"all of it")


async def test_an_end_that_tls_was_not_told_of(pair: Pair) -> None:
    async with peer([READ, b"HTTP/1.1 200 OK\r\n\r\n", b"all of it?", RESET], tls=shown(pair)) as api:
        with closing(securely(api.port, pair)) as session, pytest.raises(TransportError):
            await got(session)


@pytest.mark.parametrize(
    ("name", "trusted", "error"),
    [
        (None, True, "certificate not trusted: IP address mismatch"),
        ("other.example.com", True, "certificate not trusted: Hostname mismatch"),
        (NAME, False, "certificate not trusted: self.signed certificate"),
    ],
)
async def test_certificates_that_are_not_trusted(pair: Pair, name: str | None, trusted: bool, error: str) -> None:
    context = tls_context(Tls(str(pair.certificate) if trusted else None))
    async with peer([HANG], tls=shown(pair)) as api:
        with (
            closing(Session(f"https://127.0.0.1:{api.port}", context, name, None, 5)) as session,
            pytest.raises(TransportError, match=rf"^Cannot connect to 127\.0\.0\.1:{api.port}: {error}"),
        ):
            await got(session)


@pytest.mark.parametrize("script", [[OK, HANG], [], [RESET]], ids=["plain HTTP", "ended", "reset"])
async def test_a_peer_without_tls(pair: Pair, script: list[bytes | Act]) -> None:
    async with peer(script) as api:
        with (
            closing(securely(api.port, pair)) as session,
            pytest.raises(TransportError, match=rf"^Cannot connect to 127\.0\.0\.1:{api.port}: "),
        ):
            await got(session)


# proxies


@asynccontextmanager
async def proxied(pair: Pair, user: str, *script: bytes | Act) -> AsyncIterator[tuple[Session, list[str], int]]:
    """A session through a proxy that says `script`, then passes on."""
    async with peer([READ, OK, READ, OK], tls=shown(pair)) as api, peer([READ, *script, To(api.port)]) as proxy:
        with closing(securely(api.port, pair, f"http://{user}127.0.0.1:{proxy.port}")) as session:
            yield session, proxy.requests, api.port


PASSES = b"HTTP/1.1 200 Connection established\r\n\r\n"


@pytest.mark.parametrize(
    ("user", "credentials"),
    [
        ("", ""),
        ("ann:p%40w@", "Proxy-Authorization: Basic YW5uOnBAdw==\r\n"),
        ("ann@", "Proxy-Authorization: Basic YW5uOg==\r\n"),
    ],
    ids=["nobody", "with a password", "without"],
)
@pytest.mark.parametrize("passes", [PASSES, b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"])
async def test_tls_goes_through_a_tunnel(pair: Pair, user: str, credentials: str, passes: bytes) -> None:
    async with proxied(pair, user, passes) as (session, requests, port):
        assert await got(session) == (200, b"one")
        assert await got(session) == (200, b"one")
    there = f"127.0.0.1:{port}"
    assert requests == [f"CONNECT {there} HTTP/1.1\r\nHost: {there}\r\n{credentials}\r\n"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            "407 Proxy Authentication Required",
        ),
        (b"HTTP/1.1 502\r\n\r\n", "502"),
    ],
)
async def test_a_proxy_that_refuses(pair: Pair, reply: bytes, said: str) -> None:
    async with proxied(pair, "", reply, HANG) as (session, _, port):
        with pytest.raises(
            TransportError, match=rf"^the proxy 127\.0\.0\.1:\d+ does not connect to .*:{port}: {said}$"
        ):
            await got(session)


async def test_a_proxy_is_told_the_whole_url_of_plain_http() -> None:
    async with peer([READ, OK, READ, b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno"]) as proxy:
        session = Session("http://api.example/base", None, None, f"http://a:b@127.0.0.1:{proxy.port}", 5)
        with closing(session):
            assert await got(session) == (200, b"one")
            assert await got(session) == (502, b"no")
    assert proxy.requests[0] == (
        "GET http://api.example/base/a HTTP/1.1\r\nHost: api.example\r\nAccept: x\r\n"
        "Proxy-Authorization: Basic YTpi\r\n\r\n"
    )


async def test_a_proxy_that_is_not_there() -> None:
    port = free_port()
    with (
        closing(to(80, f"http://127.0.0.1:{port}", "api.example")) as session,
        pytest.raises(TransportError, match=rf"^Cannot connect to 127\.0\.0\.1:{port}: connection refused$"),
    ):
        await got(session)

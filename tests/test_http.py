"""HTTP listeners over real sockets on loopback."""

import asyncio
import subprocess
import sys

import aiohttp
import pytest

from pydns.http import PLAIN_TEXT, Handler, HttpListeners, probe

ADDRESS = "127.0.0.1:0"


def says(body: str, status: int = 200) -> Handler:
    async def handler() -> tuple[int, str, bytes]:
        return status, PLAIN_TEXT, body.encode()

    return handler


async def get(listeners: HttpListeners, path: str, address: str = ADDRESS) -> tuple[int, str, str]:
    url = f"http://127.0.0.1:{listeners.ports()[address]}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, response.headers["Content-Type"], await response.text()


async def test_blocks_share_a_listener() -> None:
    listeners = HttpListeners()
    health, ready = says("OK"), says("kubernetes", 503)
    await listeners.add(ADDRESS, "/health", health)
    await listeners.add(ADDRESS, "/ready", ready)
    assert await get(listeners, "/health") == (200, PLAIN_TEXT, "OK")
    assert await get(listeners, "/ready") == (503, PLAIN_TEXT, "kubernetes")
    assert (await get(listeners, "/"))[::2] == (404, "404 page not found\n")
    await listeners.remove(ADDRESS, "/health", health)
    assert (await get(listeners, "/health"))[0] == 404
    await listeners.remove(ADDRESS, "/ready", ready)
    assert listeners.ports() == {}


async def test_the_youngest_handler_answers_and_gives_way_to_the_one_before() -> None:
    listeners = HttpListeners()
    old, new = says("old"), says("new")
    await listeners.add(ADDRESS, "/ready", old)
    port = listeners.ports()[ADDRESS]
    await listeners.add(ADDRESS, "/ready", new)
    assert (await get(listeners, "/ready"))[2] == "new"
    await listeners.remove(ADDRESS, "/ready", new)
    assert (await get(listeners, "/ready"))[2] == "old"
    assert listeners.ports()[ADDRESS] == port
    await listeners.remove(ADDRESS, "/ready", old)


async def test_taking_back_what_is_not_there_does_nothing() -> None:
    listeners = HttpListeners()
    await listeners.remove(ADDRESS, "/ready", says(""))
    kept = says("kept")
    await listeners.add(ADDRESS, "/ready", kept)
    await listeners.remove(ADDRESS, "/ready", says("another"))
    assert (await get(listeners, "/ready"))[2] == "kept"
    await listeners.remove(ADDRESS, "/ready", kept)


async def test_a_port_in_use_is_an_error() -> None:
    first, second = HttpListeners(), HttpListeners()
    handler = says("OK")
    await first.add(ADDRESS, "/health", handler)
    taken = f"127.0.0.1:{first.ports()[ADDRESS]}"
    with pytest.raises(OSError, match=f"^listen tcp {taken}: bind: address already in use$"):
        await second.add(taken, "/health", handler)
    assert second.ports() == {}
    await first.remove(ADDRESS, "/health", handler)


async def test_a_host_that_is_none_is_named() -> None:
    listeners = HttpListeners()
    with pytest.raises(OSError, match=r"^listen tcp: lookup a\.\.b: no such host$"):
        await listeners.add("a..b:0", "/health", says("OK"))
    assert listeners.ports() == {}


async def test_a_probe_tells_what_went_wrong() -> None:
    listeners = HttpListeners()
    handler = says("no", 503)
    await listeners.add(ADDRESS, "/health", handler)
    url = f"http://127.0.0.1:{listeners.ports()[ADDRESS]}/health"
    assert await probe(url, 3) == ""
    await listeners.remove(ADDRESS, "/health", handler)
    assert "Connect call failed" in await probe(url, 3)


@pytest.mark.parametrize(
    "octets",
    [
        b"no HTTP\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET http://[/ HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_not_news(octets: bytes, caplog: pytest.LogCaptureFixture) -> None:
    listeners = HttpListeners()
    health = says("OK")
    await listeners.add(ADDRESS, "/health", health)
    reader, writer = await asyncio.open_connection("127.0.0.1", listeners.ports()[ADDRESS])
    writer.write(octets)
    assert (await reader.readline()).split()[1] == b"400"
    writer.close()
    await listeners.remove(ADDRESS, "/health", health)
    assert caplog.messages == []


async def test_a_handler_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fails() -> tuple[int, str, bytes]:
        raise ValueError("a bug")

    listeners = HttpListeners()
    await listeners.add(ADDRESS, "/health", fails)
    assert (await get(listeners, "/health"))[0] == 500
    await listeners.remove(ADDRESS, "/health", fails)
    assert [str(record.exc_info and record.exc_info[1]) for record in caplog.records] == ["a bug"]


def test_importing_early_happens_beside_other_work() -> None:
    script = (
        "import sys, threading\nfrom pydns.http import import_early\nimport_early()\n"
        "[one.join() for one in threading.enumerate() if one.name == 'import']\nprint('aiohttp.web' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"

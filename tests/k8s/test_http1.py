"""Replies over a pair of sockets, cut into any pieces."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pydns.k8s.channel import PORTION, Channel
from pydns.k8s.http1 import READ_BUFFER, Reply, StaleError, request
from pydns.k8s.transport import TransportError
from tests.support import settle


@asynccontextmanager
async def exchange(silence: float = 5) -> AsyncIterator[tuple[Reply, socket.socket]]:
    near, far = socket.socketpair()
    with near, far:
        near.setblocking(False)
        far.setblocking(False)
        reply = Reply(Channel(near), silence)
        yield reply, far
        asyncio.get_running_loop().remove_reader(near)


async def body(reply: Reply) -> bytes:
    return b"".join([piece async for piece in reply])


async def whole(pieces: list[bytes], ends: bool) -> tuple[int, bytes, bool]:
    """Status, body and whether the connection is good for more."""
    async with exchange() as (reply, far):
        reading = asyncio.create_task(taken(reply))
        for piece in pieces:
            far.send(piece)
            await settle()
        if ends:
            far.shutdown(socket.SHUT_WR)
        status, octets = await reading
        return status, octets, reply.leave()


async def taken(reply: Reply) -> tuple[int, bytes]:
    await reply.ask(b"")
    return reply.status, await body(reply)


REPLIES = {
    "a length": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", False, (200, b"hello", True)),
    "no body": (b"HTTP/1.1 403 Forbidden\r\ncontent-length:0\r\n\r\n", False, (403, b"", True)),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", False, (204, b"", True)),
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n",
        False,
        (200, b"hello0123456789", True),
    ),
    "extensions of chunks, and trailers": (
        b"HTTP/1.1 200\r\nTransfer-Encoding: Chunked\r\nTrailer: X\r\n\r\n"
        b'3;name="a;b";x\r\none\r\n3;y=1\r\ntwo\r\n0;last\r\nX: 1\r\n\r\n',
        False,
        (200, b"onetwo", True),
    ),
    "others before it": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        False,
        (200, b"ok", True),
    ),
    "HTTP/1.0 until the end": (b"HTTP/1.0 200 OK\r\n\r\nall of it", True, (200, b"all of it", False)),
    "HTTP/1.0 with a length": (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", False, (200, b"ok", False)),
    "another coding until the end": (  # RFC 9112 section 6.3, rule 4
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nall of it",
        True,
        (200, b"all of it", False),
    ),
    "HTTP/1.1 until the end": (b"HTTP/1.1 200 OK\r\n\r\nall of it", True, (200, b"all of it", False)),
    "the last one": (
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        False,
        (200, b"ok", False),
    ),
}


@pytest.mark.parametrize("octets, ends, expected", REPLIES.values(), ids=REPLIES)
async def test_replies_in_any_pieces(octets: bytes, ends: bool, expected: tuple[int, bytes, bool]) -> None:
    assert await whole([octets], ends) == expected
    assert await whole([octets[at : at + 1] for at in range(len(octets))], ends) == expected
    for at in range(1, len(octets)):
        assert await whole([octets[:at], octets[at:]], ends) == expected


@pytest.mark.parametrize("more", [b"HTTP/1.1 408 Request Timeout\r\n\r\n", b"junk"])
async def test_octets_after_a_reply(more: bytes) -> None:
    octets = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    assert await whole([octets + more], False) == (200, b"ok", False)


CUT = "^the reply was cut short$"


@pytest.mark.parametrize(
    ("octets", "came", "error"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", b"hell", CUT),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", b"", CUT),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", b"hel", CUT),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", b"hello", CUT),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n", b"hello", "chunk size"),
    ],
    ids=["length", "length, nothing", "within a chunk", "between chunks", "no chunk"],
)
async def test_what_came_before_a_fault_is_handed_out(octets: bytes, came: bytes, error: str) -> None:
    async with exchange() as (reply, far):
        far.send(octets)
        far.shutdown(socket.SHUT_WR)
        await reply.ask(b"")
        pieces = []
        with pytest.raises(TransportError, match=error):
            async for piece in reply:
                pieces.append(piece)
        assert b"".join(pieces) == came
        assert not reply.leave()


@pytest.mark.parametrize(
    ("octets", "kind", "error"),
    [
        (b"", StaleError, "^the connection was closed before there was a reply$"),
        (b"HTTP/1.1 2", TransportError, "^the connection was closed before there was a reply$"),
        (b"SSH-2.0-OpenSSH_9\r\n", TransportError, "HTTP"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            TransportError,
            "^the reply changes to another protocol$",
        ),
    ],
    ids=["nothing", "half a line", "no HTTP", "another protocol"],
)
async def test_no_reply(octets: bytes, kind: type[Exception], error: str) -> None:
    async with exchange() as (reply, far):
        far.send(octets)
        far.shutdown(socket.SHUT_WR)
        with pytest.raises(TransportError, match=error) as caught:
            await taken(reply)
        assert type(caught.value) is kind


async def test_a_header_without_end() -> None:
    async with exchange() as (reply, far):
        far.send(b"HTTP/1.1 200 OK\r\nX: ")
        assert await stuff(far, 8 << 20, b"x") < 4 << 20
        with pytest.raises(TransportError, match=r"^a reply whose header has more than 262144 octets$"):
            await reply.ask(b"")


async def test_what_is_not_read_is_not_received() -> None:
    size = 8 << 20
    async with exchange() as (reply, far):
        far.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        await reply.ask(b"")
        sent = await stuff(far, size)
        assert sent < size // 4 and sent > READ_BUFFER
        piece = await anext(reply)
        assert READ_BUFFER < len(piece) <= READ_BUFFER + PORTION
        sending = asyncio.create_task(asyncio.get_running_loop().sock_sendall(far, bytes(size - sent)))
        assert len(piece + await body(reply)) == size
        await sending
        assert reply.leave()


async def stuff(far: socket.socket, most: int, octet: bytes = b"\0") -> int:
    """Send until the other side takes no more; how much that was."""
    sent = 0
    try:
        while sent < most:
            sent += far.send(octet * PORTION)
            await settle()
    except BlockingIOError:
        pass
    return sent


async def test_silence_is_no_fault_of_a_peer_that_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, late = asyncio.get_running_loop(), 0.0
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + late)
    async with exchange(silence=30) as (reply, far):
        far.send(b"HTTP/1.1 200 OK\r\n\r\n")
        await reply.ask(b"")
        await stuff(far, 8 << 20)
        late += 31
        await settle()
        reading = asyncio.create_task(body(reply))
        await settle()
        late += 31
        with pytest.raises(TransportError, match=r"^nothing came for 30 seconds$"):
            await reading


async def test_silence_before_a_reply_is_no_connection_that_was_idle_for_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The request was taken; another connection would wait as long."""
    loop, late = asyncio.get_running_loop(), 0.0
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + late)
    async with exchange(silence=30) as (reply, _):
        asking = asyncio.create_task(reply.ask(b""))
        await settle()
        late += 31
        with pytest.raises(TransportError, match=r"^nothing came for 30 seconds$") as caught:
            await asking
        assert type(caught.value) is TransportError


async def test_pieces_of_a_watch_are_handed_out_as_they_come() -> None:
    async with exchange() as (reply, far):
        far.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await reply.ask(b"")
        for line in (b"one\n", b"two\n"):
            far.send(b"4\r\n%s\r\n" % line)
            assert await anext(reply) == line
        far.send(b"1\r\na\r\n1\r\nb\r\n")
        assert await anext(reply) == b"ab"


async def test_pieces_are_shown_to_who_wants_to_see_them_first() -> None:
    """Only those that nothing of before waits in front of; in their order, whatever is given back."""
    shown: list[bytes] = []

    def look(piece: bytes) -> bytes:
        shown.append(piece)
        return piece.removeprefix(b"done ")

    async with exchange() as (reply, far):
        far.send(b"HTTP/1.1 200 OK\r\nContent-Length: 36\r\n\r\n")
        await reply.ask(b"")
        reply.show_first(look)
        far.send(b"nobody awaits it. ")
        await settle()
        assert shown == []
        assert await anext(reply) == b"nobody awaits it. "
        reading = asyncio.create_task(anext(reply))
        await settle()
        far.send(b"done ")
        await settle()
        far.send(b"done left ")
        assert await reading == b"left "
        last = asyncio.create_task(body(reply))
        await settle()
        far.send(b"end")
        assert await last == b"end"
        assert shown == [b"done ", b"done left ", b"end"]
        assert reply.leave()


async def test_a_reply_ends_where_all_of_it_was_dealt_with_at_once() -> None:
    async with exchange() as (reply, far):
        far.send(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
        await reply.ask(b"")
        reply.show_first(lambda _: b"")
        reading = asyncio.create_task(body(reply))
        await settle()
        far.send(b"all")
        assert await reading == b""


def test_request() -> None:
    assert request("GET", "/a?b=c", {"Host": "x"}) == b"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n"
    with pytest.raises(ValueError, match="control"):
        request("GET", "/", {"Authorization": "Bearer a\r\nX: y"})

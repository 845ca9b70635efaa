"""Zone transfers, from a server that sends the messages it is given."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from conformance.wire.message import TIMEOUT, Reply, encode, parse_record
from conformance.wire.question import parse_question
from conformance.wire.transfer import is_transfer, transfer

SOA = "test. 5 SOA ns.test. admin.test. 1 2 3 4 5"


def message(*records: str, rcode: str = "NOERROR") -> bytes:
    return encode(Reply(rcode, frozenset({"qr", "aa"}), answer=tuple(map(parse_record, records))), 0x1234, b"")


@asynccontextmanager
async def sending(*packets: bytes, ends: bool = True) -> AsyncIterator[int]:
    done = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
        writer.write(b"".join(len(packet).to_bytes(2, "big") + packet for packet in packets))
        if not ends:
            await reader.read()
        writer.close()
        await writer.wait_closed()
        done.set()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
        await done.wait()


async def transferred(*packets: bytes, ends: bool = True) -> Reply:
    async with sending(*packets, ends=ends) as port:
        return await transfer(parse_question("test. AXFR +tcp +timeout=0.2", "."), port)


A, ALIAS, TEXT = "a.test. 5 A 192.0.2.1", "z.test. 5 CNAME a.test.", 'b.test. 5 TXT "x"'


@pytest.mark.parametrize(
    "packets",
    [
        (message(SOA, A, ALIAS, TEXT, SOA),),
        (message(SOA), message(TEXT, ALIAS), message(A, SOA)),
        (message(SOA, ALIAS), message(TEXT, A), message(SOA)),
    ],
)
async def test_messages_are_one_reply_in_one_order(packets: tuple[bytes, ...]) -> None:
    reply = await transferred(*packets, ends=False)
    assert [record.rtype for record in reply.answer] == ["SOA", "CNAME", "A", "TXT", "SOA"]
    assert reply.rcode == "NOERROR"


async def test_a_refusal_is_one_message() -> None:
    assert (await transferred(message(rcode="REFUSED"), ends=False)).rcode == "REFUSED"


@pytest.mark.parametrize("ends", [True, False])
async def test_a_transfer_without_its_end_is_none(ends: bool) -> None:
    assert await transferred(message(SOA, A), ends=ends) == TIMEOUT


async def test_a_message_that_does_not_parse() -> None:
    assert (await transferred(message(SOA, A)[:-1])).rcode == "MALFORMED"


async def test_what_does_not_open_with_a_soa_ends_with_its_message() -> None:
    reply = await transferred(message(A, TEXT), ends=False)
    assert [record.rtype for record in reply.answer] == ["A", "TXT"]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("test. AXFR +tcp", True), ("test. AXFR", False), ("test. IXFR +tcp", False), ("test. SOA +tcp", False)],
)
def test_which_questions_are_transfers(text: str, is_one: bool) -> None:
    assert is_transfer(parse_question(text, ".")) is is_one

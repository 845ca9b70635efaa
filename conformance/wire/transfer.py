"""A zone transfer over TCP: its messages read as one reply (AXFR, RFC 5936 section 2.2). Knows no cases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

from conformance.wire.framing import frame, read_message
from conformance.wire.message import MALFORMED, TIMEOUT, MalformedReply, Record, Reply, decode
from conformance.wire.question import Question


def is_transfer(question: Question) -> bool:
    """Whether a question may be answered by several messages."""
    return question.qtype == "AXFR" and question.transport == "tcp" and question.opcode == "QUERY"


async def transfer(question: Question, port: int) -> Reply:
    """The header of the first message with the records of all: SOA, the CNAMEs, everything else, SOA.

    What stands between the SOAs is sorted, since a zone has no order. `TIMEOUT` when the transfer does not end within
    the question's time-out (seconds) or the server closes in its midst; rcode MALFORMED with the reason for a message
    that does not parse.
    """
    try:
        async with asyncio.timeout(question.timeout), aclosing(_messages(question, port)) as messages:
            return _joined([message async for message in messages])
    except (TimeoutError, ConnectionError, EOFError):
        return TIMEOUT
    except MalformedReply as error:
        return Reply(MALFORMED, question=str(error))


async def _messages(question: Question, port: int) -> AsyncGenerator[Reply, None]:
    reader, writer = await asyncio.open_connection(question.server, port)
    try:
        packet = question.wire()
        writer.write(frame(packet))
        seen: list[Record] = []
        while not seen or not _is_whole(seen):
            message = decode(await read_message(reader))
            yield message
            if message.rcode != "NOERROR" or not message.answer:
                return
            seen += message.answer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def _is_whole(records: Sequence[Record]) -> bool:
    """The SOA that opened a transfer closes it; what opens with another record is one message long."""
    return records[0].rtype != "SOA" or (len(records) > 1 and records[-1].rtype == "SOA")


def _joined(messages: Sequence[Reply]) -> Reply:
    records = [record for message in messages for record in message.answer]
    if len(records) > 1 and records[0].rtype == "SOA":
        records[1:-1] = sorted(records[1:-1], key=lambda record: (record.rtype != "CNAME", record))
    return messages[0].with_sections({"answer": records})

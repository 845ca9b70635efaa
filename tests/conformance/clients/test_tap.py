"""The tap: what it notes, and what it lets through."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from conformance.clients.tap import DROP, Recording, Tap, manner
from conformance.results import Heard
from conformance.servers import upstream
from conformance.servers.ports import free_port
from conformance.servers.script import Script, parse_script
from conformance.wire.blocks import split_blocks
from conformance.wire.client import ask
from conformance.wire.message import decode
from conformance.wire.question import Question, parse_question

SCRIPT = ["upstream", "    a.test. 60 A 192.0.2.7", "    b.lost.test. 60 A 192.0.2.8"]

MUSL_WITH_A_DOT = bytes.fromhex("52e501000001000000000000066e6f737563682e0001000100")
"""What musl 1.2.3 sends for `nosuch` and the search domain `.`: the dot stands where a length should."""


@pytest.fixture
async def server() -> AsyncIterator[tuple[str, int]]:
    (block,) = split_blocks("tap", SCRIPT)
    async with upstream.serve(upstream.Upstream(Script(parse_script(block)))) as port:
        yield "127.0.0.1", port


@pytest.fixture
async def tap() -> AsyncIterator[Tap]:
    port = free_port()
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams, socket.socket() as streams:
        for sock in (datagrams, streams):
            sock.bind(("127.0.0.1", port))
            sock.setblocking(False)
        streams.listen()
        async with Tap([datagrams, streams]) as tap:
            tap.port = port  # type: ignore[attr-defined]
            yield tap


async def asked(tap: Tap, text: str) -> str:
    """The rcode and the records that come back through the tap; NOTHING for no reply."""
    question = replace(parse_question(text, "."), timeout=0.3)
    packet = await ask(question, tap.port)  # type: ignore[attr-defined]
    if packet is None:
        return "NOTHING"
    reply = decode(packet)
    assert reply.question == f"{question.name} IN {question.qtype}"
    return " ".join([reply.rcode, *(record.rdata for record in reply.answer)])


@pytest.mark.parametrize(
    ("rcode", "lost", "text", "reply"),
    [
        ("", "", "a.test. A", "NOERROR 192.0.2.7"),
        ("", "", "a.test. A +tcp", "NOERROR 192.0.2.7"),
        ("", "", "a.test. AAAA", "NOERROR"),
        ("", "", "nosuch.test. A", "NXDOMAIN"),
        ("SERVFAIL", "", "a.test. A", "SERVFAIL"),
        ("SERVFAIL", "", "a.test. A +tcp +edns", "SERVFAIL"),
        ("REFUSED", "", "a.test. A +edns", "REFUSED"),
        (DROP, "", "a.test. A", "NOTHING"),
        (DROP, "", "a.test. A +tcp", "NOTHING"),
        ("", "lost.test.", "a.test. A", "NOERROR 192.0.2.7"),
        ("", "lost.test.", "b.lost.test. A", "NOTHING"),
        ("", "lost.test.", "B.Lost.test. A +tcp", "NOTHING"),
        ("", "", "b.lost.test. A", "NOERROR 192.0.2.8"),
    ],
)
async def test_what_comes_back(tap: Tap, server: tuple[str, int], rcode: str, lost: str, text: str, reply: str) -> None:
    recording = Recording(server, rcode, lost)
    await tap.record(recording)
    assert await asked(tap, text) == reply
    name, qtype = text.split()[:2]
    (heard,) = recording.asked
    assert heard == Heard(heard.milliseconds, name, qtype, "tcp" if "+tcp" in text else "udp")


async def test_flags_and_options_are_in_the_words(tap: Tap, server: tuple[str, int]) -> None:
    recording = Recording(server)
    await tap.record(recording)
    await asked(tap, "a.test. A +edns=1200 +ad")
    assert recording.words == ["a.test. IN A udp +rd +ad +edns=1200"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a.test. IN A udp +rd", "+rd"),
        ("a.test. IN A udp +rd +ad +edns=1232 +opt=10:6f3f776e6ccdc058", "+rd +ad +edns=1232 +opt=10"),
        ("a.test. IN A tcp +rd +edns=1232 +opt=8:0001", "+rd +edns=1232 +opt=8:0001"),
    ],
)
def test_the_manner_of_a_question(words: str, said: str) -> None:
    assert manner(words) == said


async def test_a_name_that_cannot_be_read_ends_in_two_dots(tap: Tap, server: tuple[str, int]) -> None:
    recording = Recording(server)
    await tap.record(recording)
    assert await ask(Question("musl", packet=MUSL_WITH_A_DOT, timeout=0.1), tap.port) is None  # type: ignore[attr-defined]
    assert [(heard.name, heard.qtype) for heard in recording.asked] == [("nosuch..", "A")]


async def test_many_at_once_are_all_noted_in_their_order(tap: Tap, server: tuple[str, int]) -> None:
    recording = Recording(server)
    await tap.record(recording)
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        for number in range(40):
            client.sendto(parse_question(f"n{number}.test. A", ".").wire(), ("127.0.0.1", tap.port))  # type: ignore[attr-defined]
    tap.catch_up()
    assert [heard.name for heard in recording.asked] == [f"n{number}.test." for number in range(40)]


async def test_what_was_asked_before_does_not_count(tap: Tap, server: tuple[str, int]) -> None:
    first, second = Recording(server), Recording(server)
    await tap.record(first)
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(parse_question("early.test. A", ".").wire(), ("127.0.0.1", tap.port))  # type: ignore[attr-defined]
    await tap.record(second)
    await asked(tap, "a.test. A")
    assert [[heard.name for heard in each.asked] for each in (first, second)] == [["early.test."], ["a.test."]]


async def test_a_server_that_is_gone_is_silence(tap: Tap) -> None:
    await tap.record(Recording(("127.0.0.1", free_port())))
    assert [await asked(tap, "a.test. A"), await asked(tap, "a.test. A +tcp")] == ["NOTHING", "NOTHING"]


async def test_how_long_a_reply_took(tap: Tap, server: tuple[str, int]) -> None:
    recording = Recording(server)
    await tap.record(recording)
    await asked(tap, "a.test. A")
    await asyncio.sleep(0)
    assert 0 < recording.slowest < 300

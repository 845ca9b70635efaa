"""What tests share: queries and replies in presentation format, plugins from Corefile lines, a clock that turns."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import TypedDict, TypeVar

from pydns.corefile.line import Line
from pydns.corefile.parser import Corefile, parse
from pydns.dns import Edns, Flag, Message, Question
from pydns.dns.message import RR, pack
from pydns.dns.text import record, to_text
from pydns.dns.types import type_name, type_number
from pydns.http import HttpListeners
from pydns.metrics import Metrics
from pydns.plugin import Block, Plugin, Process
from pydns.query import Dropped, Failure, Query, Serve
from pydns.registry import ORDER

P = TypeVar("P", bound=Plugin)


class Clock:
    """Time that stands still until a test turns it; ``sleep`` takes the place of ``asyncio.sleep``."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []
        self._asleep = asyncio.Event()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + seconds, future))
        self._asleep.set()
        await future

    async def until_asleep(self) -> None:
        """Wait for somebody to sleep: what was woken has done its work, over the network too."""
        while not self._sleepers:
            self._asleep.clear()
            await self._asleep.wait()

    async def advance(self, seconds: float) -> None:
        """Turn the clock on, waking every sleeper at its own time, in order, and let what they do settle."""
        await settle()
        end = self.now + seconds
        while due := [sleeper for sleeper in self._sleepers if sleeper[0] <= end]:
            sleeper = min(due, key=lambda item: item[0])
            self._sleepers.remove(sleeper)
            self.now = max(self.now, sleeper[0])
            if not sleeper[1].done():
                sleeper[1].set_result(None)
            await settle()
        self.now = end


async def settle() -> None:
    """Let every task run that can run without time passing or anybody else's help."""
    for _ in range(20):
        await asyncio.sleep(0)


class Sections(TypedDict):
    """Keyword arguments for `Query.reply`."""

    answer: tuple[RR, ...]
    authority: tuple[RR, ...]
    additional: tuple[RR, ...]


class FakeServer:
    """The listener that a query of `make_query` came in by; ``answers`` maps "name. TYPE" to what `resolve` returns."""

    def __init__(self, label: str = "dns://:53", answers: dict[str, Message] | None = None) -> None:
        self.label = label
        self.answers = answers or {}
        self.asked: list[str] = []

    async def resolve(self, query: Query) -> Message:
        text = question_text(query)
        self.asked.append(text)
        return self.answers[text]


def question_text(query: Query) -> str:
    """The question in the form that `make_query` takes."""
    return f"{query.qname} {type_name(query.qtype)}"


def make_query(
    question: str,
    *,
    edns: Edns | None = None,
    transport: str = "udp",
    client: str = "127.0.0.1",
    flags: int = Flag.RD,
    cls: int = 1,
    zone: str = ".",
    received: float = 1000.0,
    server: FakeServer | None = None,
) -> Query:
    """A client's query for ``"name. TYPE"``, with ID 4711 from port 40212."""
    name, qtype = question.split()
    message = Message(4711, flags, 0, Question(name, type_number(qtype), cls), edns=edns)
    local = "127.0.0.1" if ip_address(client).version == 4 else "::1"
    query = Query(
        message,
        (client, 40212),
        (local, 53),
        transport,
        server or FakeServer(),
        size=len(pack(message)),
        received=received,
    )
    query.zone = zone
    return query


def make_block(*keys: str, clock: Clock | None = None, seed: int = 1) -> Block:
    """A server block for ``keys`` (``.:53``), with its own process: no API, a clock that stands still, known luck."""
    process = Process(metrics=Metrics(), http=HttpListeners(), random=random.Random(seed))
    process.clock = clock or Clock()
    process.wall = process.clock
    if isinstance(process.clock, Clock):
        process.sleep = process.clock.sleep
    return Block(parse_corefile("", *keys).blocks[0].keys, process)


def parse_corefile(text: str, *keys: str) -> Corefile:
    """A Corefile of one server block with ``text`` on its second line."""
    head = " ".join(keys or (".:53",))
    return parse(f"{head} {{\n{text}\n}}", environ={}, plugins=ORDER)


def corefile_lines(text: str) -> Sequence[Line]:
    """The plugin lines of a server block with the content ``text``."""
    return parse_corefile(text).blocks[0].lines


def make_plugin(kind: type[P], text: str, block: Block | None = None, next: Serve | None = None) -> P:
    """The plugin that the lines ``text`` make, put into ``block``, with ``next`` behind it.  Raises CorefileError."""
    block = block or make_block()
    plugin = kind.setup(block, corefile_lines(text))
    block.plugins[kind.name] = plugin
    if next is not None:
        plugin.next = next
    return plugin


def sections(*records: str) -> Sections:
    """The sections that ``records`` belong to: ``"authority: org. 5 IN NS ns.org."``, without a word the answer."""
    parts = Sections(answer=(), authority=(), additional=())
    for text in records:
        section, colon, rest = text.partition(": ")
        where = section if colon else "answer"
        parts[where] = (*parts[where], record(rest if colon else text))  # type: ignore[literal-required]
    return parts


def answer(
    *records: str, rcode: int = 0, flags: int = Flag.AA, change: Callable[[Message], Message] | None = None
) -> Serve:
    """A chain end that answers every query with ``records``: one text each, authority and additional ones marked.

    ``"example.org. 5 IN A 192.0.2.1"`` is an answer; ``"authority: …"`` and ``"additional: …"`` are of those sections.
    """
    parts = sections(*records)

    async def serve(query: Query) -> Message:
        reply = query.reply(rcode, flags=flags, **parts)
        return change(reply) if change else reply

    return serve


def fail(rcode: int = 2, why: str = "") -> Serve:
    """A chain end that writes nothing."""

    async def serve(query: Query) -> Message:
        raise Failure(rcode, why)

    return serve


async def drop(query: Query) -> Message:
    """A chain end that sends no reply."""
    raise Dropped


def texts(records: Sequence[RR]) -> list[str]:
    """Records in presentation format."""
    return [to_text(item) for item in records]

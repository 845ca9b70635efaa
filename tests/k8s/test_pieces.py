"""A watch in whatever pieces its octets come, and wherever its connection breaks: the same changes in one order."""

from __future__ import annotations

import asyncio
import json
import random
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import accumulate, pairwise, product
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydns.k8s.channel import Channel
from pydns.k8s.health import ApiHealth
from pydns.k8s.http1 import Reply
from pydns.k8s.objects import Kind, Object
from pydns.k8s.reflector import PORTION, Reflector
from pydns.k8s.source import Observer
from pydns.k8s.store import Change, Store
from pydns.k8s.wire import RESOURCES
from pydns.tasks import Tasks
from tests.k8s.api import Wire, bookmark, error, service
from tests.support import settle

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(octets: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(octets), octets)


def raw(kind: str, item: Wire, end: bytes = b"\n") -> bytes:
    """An event as Go writes it: what is not ASCII in UTF-8."""
    return json.dumps({"type": kind, "object": item}, ensure_ascii=False).encode() + end


def noted(name: str, version: int, note: str = "\u00e9\u20ac\U0001f600\n", **more: Any) -> Wire:
    item = service(name, version=version, **more)
    item["metadata"]["annotations"] = {"note": note}
    return item


FIRST = 10
BOOKMARK = bookmark(FIRST, end=True)
"""Ends the first list."""
LISTED = (noted("caf\u00e9", 3), service("gone", version=4))
EVENTS = {
    11: raw("ADDED", noted("\u65e5\u672c", 11), b"\r\n"),
    12: raw("MODIFIED", noted("caf\u00e9", 12, ip="10.96.2.2")),
    13: b"\n \r\n" + raw("DELETED", service("gone", version=13)),
    14: bookmark(14),
    15: raw("MODIFIED", noted("caf\u00e9", 15, note="x", ip="10.96.2.2")),
    16: raw("ADDED", {"metadata": {"name": "odd", "resourceVersion": "16"}, "spec": {"ports": 1}}),
    17: raw("ADDED", {"metadata": 5}),
    18: raw("ADDED", service("gone", ip="fd00::1", version=18)),
}
"""What happened after version `FIRST`, by the version that came of it."""
NEW = (noted("\u65e5\u672c", 20, ip="10.96.9.9"), service("new", version=19))
"""What a second list has."""
ENDS = {
    "silence": b"",
    "gone": error(410, "too old"),
    "another error": error(500, "no"),
    "half an event": raw("ADDED", service("half"))[:60] + b"\n",
    "no event": b"[]\n",
    "no UTF-8": raw("ADDED", service("half")).replace(b"half", b"\xff\xfe"),
}


def listed(items: Iterable[Wire], version: int) -> list[bytes]:
    return [*(raw("ADDED", item) for item in items), bookmark(version, end=True)]


class Outcome(NamedTuple):
    """What the store told and has, what was seen of it, and what the API was asked."""

    changes: list[Change]
    objects: list[Object]
    seen: list[Object]
    asked: list[str]


Cut = Callable[[bytes], Sequence[bytes]]


class Api:
    """Lists, and watches from where it is asked to; sends `last` behind all, and after that has only `NEW` to say.

    Its octets come as `cut` cuts them, and `passes` gives how often the event loop turns between two pieces.  The first
    connection brings `first`, if it is given, and ends.
    """

    url = "https://api.example.com"

    def __init__(self, cut: Cut, last: bytes, first: bytes | None, passes: Callable[[], int]) -> None:
        self.asked: list[str] = []
        self.feeding = 0
        self._cut = cut
        self._last = last
        self._first = first
        self._passes = passes
        self._said = False
        self._tasks = Tasks()

    def body(self, params: Mapping[str, str]) -> list[bytes]:
        if self._said:
            return listed(NEW, 20)
        self._said = bool(self._last)
        since = int(params.get("resourceVersion", "0"))
        happened = [octets for version, octets in EVENTS.items() if version > since]
        return [*([] if since else listed(LISTED, FIRST)), *happened, *([self._last] if self._last else [])]

    @asynccontextmanager
    async def get(self, path: str, params: Mapping[str, str], silence: float) -> AsyncIterator[Reply]:
        self.asked.append(params.get("resourceVersion", "list"))
        octets = HEAD + b"".join(map(chunk, self.body(params)))
        near, far = socket.socketpair()
        for sock in (near, far):
            sock.setblocking(False)
        reply = Reply(Channel(near), silence)
        with near, far:
            feeding = self._tasks.run(self._feed(far, octets))
            try:
                await reply.ask(b"GET")
                yield reply
            finally:
                reply.leave()
                feeding.cancel()
                await asyncio.wait([feeding])

    async def _feed(self, far: socket.socket, octets: bytes) -> None:
        first, self._first = self._first, None
        self.feeding += 1
        try:
            for piece in self._cut(octets if first is None else first):
                await asyncio.get_running_loop().sock_sendall(far, piece)
                for _ in range(self._passes()):
                    await asyncio.sleep(0)
            if first is not None:
                far.shutdown(socket.SHUT_WR)
        finally:
            self.feeding -= 1

    async def close(self) -> None:
        await self._tasks.stop()


class Ticking:
    """A clock that goes on by `step` seconds whenever it is looked at."""

    def __init__(self, step: float) -> None:
        self._now = 0.0
        self._step = step

    def __call__(self) -> float:
        self._now += self._step
        return self._now


async def outcome(
    cut: Cut = lambda octets: [octets],
    last: bytes = b"",
    *,
    first: bytes | None = None,
    passes: Callable[[], int] = lambda: 0,
    step: float = 0.0,
) -> Outcome:
    api, store = Api(cut, last, first, passes), Store([Kind.SERVICE], lambda: 0.0)
    changes: list[Change] = []
    seen: list[Object] = []
    store.on_change(changes.append)
    clock = Ticking(step)
    reflector = Reflector(
        RESOURCES[Kind.SERVICE], api, store, ApiHealth(api.url, Observer(), clock),
        seen=seen.append, sleep=lambda _: asyncio.sleep(0), clock=clock, rng=random.Random(1),
    )  # fmt: skip
    tasks = Tasks()
    tasks.run(reflector.run())
    quiet = 0
    while quiet < 3:
        await settle()
        quiet = 0 if api.feeding else quiet + 1
    await tasks.stop()
    await api.close()
    return Outcome(changes, list(store.objects()), seen, api.asked)


def even(size: int) -> Cut:
    return lambda octets: [octets[at : at + size] for at in range(0, len(octets), size)]


def at(*places: int) -> Cut:
    return lambda octets: [octets[begin:end] for begin, end in pairwise((0, *sorted(places), len(octets)))]


def stream(last: bytes = b"") -> list[bytes]:
    """The octets of a list that goes on as a watch: its head and its chunks."""
    return [HEAD, *(chunk(part) for part in (*listed(LISTED, FIRST), *EVENTS.values(), last) if part)]


def between_chunks(last: bytes = b"") -> list[int]:
    return list(accumulate(map(len, stream(last))))[:-1]


def length(last: bytes = b"") -> int:
    return len(b"".join(stream(last)))


STEPS = (0.0, PORTION / 3, 1.0)
"""All that came is one portion; some events are; one is."""


async def test_the_whole_at_once() -> None:
    """What the other tests compare with is what it should be."""
    whole = await outcome(last=ENDS["gone"])
    told = [(change.name, change.old is None, change.new is None) for change in whole.changes]
    assert told[:6] == [
        ("caf\u00e9", True, False),
        ("gone", True, False),
        ("\u65e5\u672c", True, False),
        ("caf\u00e9", False, False),
        ("gone", False, True),
        ("gone", True, False),
    ]
    assert [item.name for item in whole.objects] == ["\u65e5\u672c", "new"]
    assert whole.asked == ["list", "list"]


@pytest.mark.parametrize("last", ENDS.values(), ids=ENDS)
async def test_even_pieces(last: bytes, log_lines: list[str]) -> None:
    whole = await outcome(last=last)
    for size, turns, step in product((7, 97), (0, 1, 2, 20), STEPS):
        assert await outcome(even(size), last, passes=partial(int, turns), step=step) == whole, (size, turns, step)


async def test_two_pieces(log_lines: list[str]) -> None:
    last = ENDS["gone"]
    whole = await outcome(last=last)
    for place in range(1, length(last)):
        assert await outcome(at(place), last, passes=lambda: 4) == whole, place


@pytest.mark.parametrize("step", STEPS)
async def test_whole_events(step: float, log_lines: list[str]) -> None:
    """Also some that come while those before them are applied one by one."""
    whole = await outcome()
    for first, second in product(between_chunks(), between_chunks()):
        for turns in range(5):
            pieces = at(*{first, second})
            assert await outcome(pieces, passes=partial(int, turns), step=step) == whole, (first, second, turns)


@settings(max_examples=100)
@given(
    places=st.sets(st.integers(1, length() - 1) | st.sampled_from(between_chunks()), max_size=30),
    last=st.sampled_from(list(ENDS.values())),
    step=st.sampled_from(STEPS),
    turns=st.randoms(use_true_random=False),
)
def test_any_pieces(places: set[int], last: bytes, step: float, turns: random.Random) -> None:
    passes = partial(turns.choice, (0, 0, 1, 2, 3, 9))
    assert asyncio.run(outcome(at(*places), last, passes=passes, step=step)) == asyncio.run(outcome(last=last))


async def test_a_connection_that_ends_anywhere(log_lines: list[str]) -> None:
    """What it has brought is kept, and what it has not is brought by the next one; nothing comes twice."""
    whole, octets = await outcome(), b"".join(stream())
    ends = [octets[:place] for place in range(len(octets) + 1)]
    ends += [part + END for part in accumulate(stream()) if BOOKMARK in part]
    for first in ends:
        broken = await outcome(first=first, passes=lambda: 3)
        assert broken[:3] == whole[:3], first[-40:]
        assert len(broken.asked) == 2, first[-40:]

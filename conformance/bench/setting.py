"""What the lines of one run share: options, the API, and the servers that run at the moment."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from conformance.bench import contestants, machine
from conformance.bench.api import Api
from conformance.bench.contestants import Contestant, Place, Server
from conformance.bench.finding import Finding
from conformance.bench.processes import BenchError
from conformance.bench.questions import Asked

Points = dict[str, dict[int, float]]
"""Figures by what they are, each by the number of Services."""


@dataclass(frozen=True)
class Options:
    """`subject` is a server as `conformance.servers.subjects` takes it; `seconds` is the length of a counted run."""

    subject: str = "pydns"
    rounds: int = 5
    seconds: float = 2.0
    quick: bool = False


class Way(Protocol):
    """How the figures of a line are made."""

    @property
    def needs(self) -> Sequence[str]:
        """Programs without which nothing can be measured."""

    def seconds(self, options: Options) -> float:
        """About how long it takes."""

    async def run(self, setting: Setting) -> Finding:
        """Measures. Raises `BenchError`."""


@dataclass
class Setting:
    """Leave with `close`, which ends every server."""

    options: Options
    api: Api
    folder: Path
    say: Callable[[str], None] = lambda _: None
    points: Points = field(default_factory=dict)
    """Of the server under test."""
    their_points: Points = field(default_factory=dict)
    """Of CoreDNS."""
    _servers: dict[tuple[Contestant, str], tuple[Server, AsyncExitStack]] = field(default_factory=dict)
    _upstream: int = 0
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def grow(self, services: int) -> None:
        """A larger cluster. The servers of before are ended: they would watch it grow."""
        if services > self.api.services:
            await self.only([], "")
            await asyncio.to_thread(self.api.grow, services)

    async def server(self, contestant: Contestant, corefile: str, ready: Sequence[Asked]) -> Server:
        """A server that lives on to the next line if that wants it, too; the answers to `ready` are right by now."""
        key = contestant, corefile
        if key not in self._servers:
            stack = AsyncExitStack()
            server = await stack.enter_async_context(await self.fresh(contestant, corefile, ready))
            self._servers[key] = server, stack
        return self._servers[key][0]

    async def only(self, wanted: Sequence[Contestant], corefile: str) -> None:
        """Ends all servers but these, so that nothing else runs while a line is measured."""
        for contestant, text in [key for key in self._servers if key[0] not in wanted or key[1] != corefile]:
            await self._servers.pop((contestant, text))[1].aclose()

    async def fresh(
        self, contestant: Contestant, corefile: str, ready: Sequence[Asked] = ()
    ) -> AbstractAsyncContextManager[Server]:
        """A server of one's own. Raises `BenchError` when it is opened and what it needs is missing."""
        if lacking := machine.missing(contestant.needs):
            raise BenchError(lacking)
        place = Place(self.folder, self.api.line, await self._shared_upstream() if "upstream" in corefile else 0)
        return contestants.started(contestant, self.options.subject, corefile, place, ready)

    async def _shared_upstream(self) -> int:
        if not self._upstream:
            place = Place(self.folder, self.api.line)
            self._upstream = await self._open.enter_async_context(contestants.upstream(place))
        return self._upstream

    def note(self, what: str, value: float, theirs: float = math.nan) -> None:
        """Keeps a figure of the server under test, and CoreDNS's where there is one, at this size of the cluster."""
        self.points.setdefault(what, {})[self.api.services] = value
        self.their_points.setdefault(what, {})[self.api.services] = theirs

    async def close(self) -> None:
        """Ends everything."""
        await self.only([], "")
        await self._open.aclose()

"""What a run's demands are asked on: servers that serve the same objects, and the demands on them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.spec.demand import Demand
from conformance.spec.wants import Got
from conformance.wire.client import Asker
from conformance.wire.message import TIMEOUT, read_reply
from conformance.wire.question import Question

AT_ONCE = 32
"""How many questions are under way at a time: few enough for a server's socket buffer."""

SILENCES = 10
"""Questions in turn without a reply, after which a server is taken for a silent one."""


class GroundError(Exception):
    """Objects or servers that a run needs are not to be had; the message says why, and what to do."""


@dataclass(frozen=True)
class Server:
    """A server by the name that reports have for it. `tries` is how often a question is asked that gets no reply."""

    name: str
    asker: Asker
    tries: int = 1

    async def ask(self, question: Question) -> Got:
        """The reply: `TIMEOUT` for none, rcode MALFORMED with the reason for what does not parse."""
        for _ in range(self.tries):
            if packet := await self.asker.ask(question):
                return Got(read_reply(packet), len(packet))
        return Got(TIMEOUT)


@dataclass
class Ground:
    """Servers, the subject last. `alike`: they have one configuration, so whole replies must be the same.

    `api` is the kind of API the objects came from, `zone` the cluster domain. `silent` is how many questions in turn a
    server left without a reply.
    """

    servers: Sequence[Server]
    demands: Sequence[Demand]
    api: str = ""
    alike: bool = True
    zone: str = ""
    silent: Counter[str] = field(default_factory=Counter)
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def ask(self, server: Server, question: Question) -> Got:
        """One question, when its turn comes; once only where it is no longer the network that loses replies."""
        async with self.slots:
            tries = 1 if self.silent[server.name] >= SILENCES else server.tries
            got = await replace(server, tries=tries).ask(question)
        self.silent[server.name] = 0 if got.size else self.silent[server.name] + 1
        return got

    async def ask_all(self, questions: Iterable[Question]) -> Mapping[tuple[str, Question], Got]:
        """Every question once of every server."""
        asked = [(server, question) for question in dict.fromkeys(questions) for server in self.servers]
        got = await asyncio.gather(*(self.ask(*each) for each in asked))
        return {(server.name, question): reply for (server, question), reply in zip(asked, got, strict=True)}

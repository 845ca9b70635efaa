"""Names that stand for another name: ExternalName Services, followed to the addresses asked for.

A target in the same zone is looked up here, any other through the server, as if the client had asked for it (CoreDNS
plugin.A).  It does not know the store.
"""

from __future__ import annotations

from collections.abc import Callable

from pydns.dns.message import RR, Message
from pydns.dns.name import from_wire, is_below
from pydns.dns.replay import Replay
from pydns.dns.types import Type
from pydns.plugins.kubernetes.consent import consent, joined
from pydns.plugins.kubernetes.records import Asked, Item, Outcome
from pydns.plugins.kubernetes.tree import Found
from pydns.query import Dropped, Query

MAX_CHAIN = 10
"""CNAME records that may stand before one that is still followed."""

Chain = tuple[bytes, ...]
"""The targets followed so far, as rdata."""


class _Gathered:
    """The records found so far, each once, and the consent that all parts of them give."""

    def __init__(self, replay: Replay | None) -> None:
        self.records: dict[RR, None] = {}
        self.replay = replay
        self.truncated = False

    def add(self, *records: RR) -> None:
        self.records |= dict.fromkeys(records)


class External:
    """``find`` tells what a name holds, in its zone; ``ttl`` is in seconds."""

    def __init__(self, find: Callable[[str, str], Found], ttl: int) -> None:
        self._find = find
        self._ttl = ttl

    async def follow(self, query: Query, asked: Asked, found: Found, chain: Chain = ()) -> Outcome:
        """The records that ``found`` leads to.

        A CNAME whose target in the zone has no such records is left out; one whose target outside has none stands
        alone.
        """
        gathered = _Gathered(consent(*found.tags))
        for item in found.items:
            if item.type == asked.type:
                gathered.add(RR(asked.owner, item.type, self._ttl, item.rdata))
            elif item.type == Type.CNAME:
                await self._follow_name(query, asked, item, chain, gathered)
        return Outcome(found.exists, gathered.replay, tuple(gathered.records), truncated=gathered.truncated)

    async def _follow_name(self, query: Query, asked: Asked, item: Item, chain: Chain, gathered: _Gathered) -> None:
        target = from_wire(item.rdata, 0)[0]
        name = target.lower()
        if is_below(name, asked.name) or len(chain) > MAX_CHAIN or item.rdata in chain:
            return
        link = RR(asked.owner, Type.CNAME, self._ttl, item.rdata)
        if is_below(name, asked.zone):
            inner = asked._replace(name=name, owner=target)
            outcome = await self.follow(query, inner, self._find(inner.name, inner.zone), (*chain, item.rdata))
            gathered.replay = joined(gathered.replay, outcome.replay)
            gathered.truncated |= outcome.truncated
            if outcome.answer:
                gathered.add(link, *outcome.answer)
            return
        message = await _resolve(query, target, asked.type)
        gathered.replay = joined(gathered.replay, message.replay if message else None)
        if message:
            gathered.truncated |= message.truncated
            gathered.add(link, *message.answer)


async def _resolve(query: Query, name: str, qtype: int) -> Message | None:
    """The server's own reply for a name; None where it would send none."""
    try:
        return await query.server.resolve(query.ask(name, qtype))
    except Dropped:
        return None

"""From the octets of a query to the octets of its reply: zone, chain, EDNS, size.

Rules, in the order in which they are checked (CoreDNS ``Server.ServeDNS``):

1. What `accept` drops or rejects.
2. A class other than IN: REFUSED, unless a plugin of any block of the listener takes all classes.
3. An EDNS version other than 0: BADVERS (RFC 6891 section 6.1.3), version 0 and size 0 in the reply.
4. The longest zone's chain answers; for DS the shortest one's below the root, because DS lives in the parent.
5. No zone, or a block without plugins: REFUSED.
6. `Failure` becomes an empty reply with its rcode, `Dropped` no reply, any other exception SERVFAIL and a log line;
   with *debug* it ends the process.
7. The reply has an OPT record where the query has one: the client's size, the upper eight flags of the client (DO is
   one), and only the options that a plugin put there (RFC 6891 section 6.1.1).  Without one a response code above 15
   cannot be told and is SERVFAIL.
8. The reply is cut at the client's size.
9. A `Replay` holds for common queries only: opcode QUERY, no records, no EDNS option that could matter.  Its `Pattern`
   holds where every link in front of its maker treats such names alike, and no other zone lies below its zone.

It names no plugin and opens no socket.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from pydns.dns.edns import DO, KEPT_FLAGS, MIN_SIZE, Edns, OptionCode
from pydns.dns.message import Message, Question, pack, parse, ring_of, uncompressed_size
from pydns.dns.name import is_below, labels, suffixes, tail
from pydns.dns.packed import Ring
from pydns.dns.replay import Pattern, Replay
from pydns.dns.types import OPCODE_MASK, RCODE_MASK, Class, Flag, Rcode, Type, new
from pydns.errand import Errand
from pydns.log import Log
from pydns.plugin import Counts, Plugin, Process, Settings
from pydns.query import Address, Dropped, Failure, Query, Serve
from pydns.server.accept import Rejected, accept

MAX_DEPTH = 8
"""Look-ups inside the server that one query may cause, each below the last."""
MAX_DATAGRAM = 65507
"""Octets that fit into a UDP datagram over IPv4."""

_HARMLESS = frozenset((OptionCode.COOKIE, OptionCode.KEEPALIVE, OptionCode.PADDING))
_NO_QUESTION = Question(".", Type.NONE, 0)

_log = Log()


class Reply(NamedTuple):
    """What is sent, for how long it may be sent again (None: only this once), and what of it may then change places."""

    octets: bytes
    replay: Replay | None = None
    ring: Ring | None = None


@dataclass(frozen=True)
class Chain:
    """The plugins of a server block as ``links``; ``first`` is None for a block without any."""

    first: Serve | None
    replay_safe: bool = False
    any_class: bool = False
    links: tuple[Plugin, ...] = ()

    def treats_alike(self, pattern: Pattern) -> bool:
        """Whether the maker of ``pattern`` is here, and each link in front of it treats the names alike."""
        in_front = takewhile(lambda link: link is not pattern.maker, self.links)
        return pattern.maker in self.links and all(link.treats_alike(pattern.zone) for link in in_front)


@dataclass
class Dispatcher:
    """What answers on one address: the chains of all blocks that listen there, by zone (lower-case).

    ``label`` is CoreDNS's name for the address (``dns://:53``), ``counts`` is told of queries that no chain saw.
    """

    label: str
    process: Process
    zones: dict[str, Chain]
    settings: Settings = field(default_factory=Settings)
    counts: Counts | None = None

    def __post_init__(self) -> None:
        self._depth = max((len(labels(zone)) for zone in self.zones), default=0)
        self._any_class = any(chain.any_class for chain in self.zones.values())
        self._treats_alike = cache(self._ask_treats_alike)
        self._panics = self.process.metrics.counter("panics_total", "A metrics that counts the number of panics.")

    async def handle(
        self,
        data: bytes,
        client: Address,
        local: Address,
        transport: str,
        variant: int = 0,
        errand: Errand | None = None,
    ) -> Reply | None:
        """Answer one message; None where nothing is to be sent.  Raises nothing.

        ``variant`` is that of `Query`; ``errand`` has read the message, and may have been on its way already.
        """
        try:
            message = accept(data) if errand is None else errand.message()
        except Rejected as rejected:
            message = rejected.reply._replace(question=rejected.reply.question or _NO_QUESTION)
            query = Query(message, client, local, transport, self, size=len(data))
            self._count(query, rejected.reply)
            return Reply(pack(rejected.reply))
        if message is None:
            return None
        query = Query(message, client, local, transport, self, size=len(data), received=self.process.clock())
        query.variant = variant
        if errand is not None and errand.outcome is not None:
            query.errand = errand
            query.received = errand.received
        return await self._reply(query)

    async def _reply(self, query: Query) -> Reply | None:
        """Rules 2 to 9."""
        limit = query.max_size
        if limit > MAX_DATAGRAM and query.transport != "tcp":
            limit = MAX_DATAGRAM
        try:
            chain = self._chain(query)
            if chain is None or chain.first is None:
                return Reply(pack(self._turn_away(query), limit))
            try:
                reply = await chain.first(query)
            except Failure as failure:
                reply = query.reply(failure.rcode)
            return self._packed(query, _with_edns(reply, query), limit, chain)
        except Dropped:
            return None
        except Exception as bug:  # noqa: BLE001  rule 6: a bug costs one query
            return Reply(pack(self._recover(query, bug)))

    def recover(self, errand: Errand, bug: Exception) -> bytes:
        """The reply to a query whose errand met a bug (rule 6)."""
        asker = errand.asker
        query = Query(errand.message(), asker.address, asker.local, "udp", self, size=len(errand.data))
        return pack(self._recover(query, bug))

    async def resolve(self, query: Query) -> Message:
        """Answer ``query`` as if its client had asked it (CoreDNS ``upstream.Lookup``).

        RD is set, DO and the size are kept, and the reply is cut at that size.  Failures are replies; a look-up more
        than `MAX_DEPTH` deep is SERVFAIL.
        """
        query = query.with_message(_plain(query))
        if query.depth > MAX_DEPTH:
            return query.reply(Rcode.SERVFAIL)
        reply = await self._reply(query)
        if reply is None:
            return query.reply(Rcode.SERVFAIL)
        return parse(reply.octets)._replace(edns=None, replay=reply.replay and reply.replay.for_composite())

    def _packed(self, query: Query, reply: Message, limit: int, chain: Chain) -> Reply:
        """Rules 8 and 9."""
        octets = pack(reply, limit)
        replay = reply.replay and self._consent(query, reply.replay, chain)
        if replay is None or not replay.any_order:
            return new(Reply, (octets, replay, None))
        ring = ring_of(reply, len(octets))
        return Reply(octets, ring and replay, ring)

    def _consent(self, query: Query, replay: Replay, chain: Chain) -> Replay | None:
        """As much of a reply's `Replay` as rule 9 lets be, with what the links count."""
        if not chain.replay_safe or not _is_common(query.message):
            return None
        if replay.pattern is not None and not self._treats_alike(chain, replay.pattern):
            replay = replay.with_pattern(None)
        return replay.with_counters(*query.counters)

    def _ask_treats_alike(self, chain: Chain, pattern: Pattern) -> bool:
        below = any(is_below(zone, pattern.zone) for zone in self.zones if zone != pattern.zone)
        return not below and chain.treats_alike(pattern)

    def _chain(self, query: Query) -> Chain | None:
        """The chain of rule 4, its zone noted in ``query``; None where rules 2, 3 and 5 turn the query away."""
        if query.qclass != Class.IN and not self._any_class:
            return None
        edns = query.message.edns
        if edns is not None and edns.version:
            return None
        zone = self.zone_of(query.name)
        if zone is None:
            return None
        if query.qtype == Type.DS:
            zone = self._shortest(zone)
        query.zone = zone
        return self.zones[zone]

    def zone_of(self, name: str) -> str | None:
        """The longest zone around ``name`` (lower-case)."""
        if not self._depth:
            return "." if self.zones else None
        for zone in suffixes(tail(name, self._depth)):
            if zone in self.zones:
                return zone
        return None

    def _shortest(self, longest: str) -> str:
        """For DS: the shortest zone around ``longest``; not the root, and none behind a block without plugins."""
        shortest = longest
        for zone in suffixes(longest):
            if zone in self.zones and zone != ".":
                shortest = zone
                if self.zones[zone].first is None:
                    break
        return shortest

    def _turn_away(self, query: Query) -> Message:
        """What a query without a chain gets (rules 2, 3 and 5)."""
        edns = query.message.edns
        takes_class = query.qclass == Class.IN or self._any_class
        if takes_class and edns is not None and edns.version:
            reply = query.reply(Rcode.BADVERS, edns=Edns())
        else:
            reply = _with_edns(query.reply(Rcode.REFUSED), query)
        self._count(query, reply)
        return reply

    def _count(self, query: Query, reply: Message) -> None:
        if self.counts is not None:
            self.counts.refused(query, reply, uncompressed_size(reply))

    def _recover(self, query: Query, bug: Exception) -> Message:
        """A bug costs one query, or with *debug* the process."""
        self._panics.inc()
        stack = (
            f"\n{''.join(traceback.format_exception(bug))}" if self.settings.stacktrace or self.settings.debug else ""
        )
        text = f'Recovered from panic in server: "{self.label}" {type(bug).__name__}: {bug}{stack}'
        if self.settings.debug:
            _log.fatal(text)
            self.process.fatal()
        else:
            _log.error(text)
        return _with_edns(query.reply(Rcode.SERVFAIL), query)


def _is_common(query: Message) -> bool:
    """Rule 9."""
    if query.flags & OPCODE_MASK or query.answer or query.authority or query.additional:
        return False
    edns = query.edns
    return edns is None or not edns.options or all(code in _HARMLESS for code, _ in edns.options)


def _with_edns(reply: Message, query: Query) -> Message:
    """The reply with the client's ID and the OPT record of rule 7."""
    ident, asked = query.message.id, query.message.edns
    edns, rcode = reply.edns, reply.rcode
    if asked is None:
        if rcode > RCODE_MASK and edns is None:
            rcode = Rcode.SERVFAIL
    elif edns is None:
        edns = asked.echoed()
    else:
        edns = Edns(asked.size, edns.flags & KEPT_FLAGS | asked.flags & DO, 0, edns.options)
    if edns is reply.edns and rcode == reply.rcode and ident == reply.id:
        return reply
    # written out because ``_replace`` takes eight times as long
    sections = reply.answer, reply.authority, reply.additional
    head = ident, reply.flags, rcode, reply.question
    return new(Message, (*head, *sections, edns, reply.replay, False, reply.packed))


def _plain(query: Query) -> Message:
    size = query.max_size
    edns = Edns(size, DO if query.do else 0) if query.do or size > MIN_SIZE else None
    return Message(query.message.id, Flag.RD, question=query.question, edns=edns)

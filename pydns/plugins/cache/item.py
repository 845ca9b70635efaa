"""A reply that is kept, and the replies made of it."""

from __future__ import annotations

from pydns.dns.message import RR, Message
from pydns.dns.replay import Lease
from pydns.dns.types import Flag, new
from pydns.query import Query

_KEPT = Flag.AA | Flag.RA | Flag.AD

Sections = tuple[tuple[RR, ...], tuple[RR, ...], tuple[RR, ...]]


class Item:
    """A stored reply, with the flags that it came with; ``ttl`` is the seconds that it lasts from ``now``.

    The records keep the spelling in which they came.
    """

    __slots__ = (
        "_sections", "_shown", "_since", "flags", "hits", "last_hit", "lease", "rcode", "refreshing", "retry_at",
        "stored", "ttl",
    )  # fmt: skip

    def __init__(self, rcode: int, flags: int, sections: Sections, ttl: int, now: float) -> None:
        self.rcode = rcode
        self.flags = flags & _KEPT
        self.ttl = ttl
        self.stored = now
        self.hits = 0
        self.last_hit = now
        self.refreshing = False
        self.retry_at = 0.0
        self.lease: Lease | None = None
        """The last that replies got."""
        self._sections = sections
        self._shown = ttl
        self._since = now

    @classmethod
    def of(cls, reply: Message, flags: int, ttl: int, now: float) -> Item:
        """The item of ``reply``.  AA is as in ``flags``, but clear for what *forward* brought: a copy is not the
        authority's word (RFC 1035 section 4.1.1).
        """
        if reply.forwarded:
            flags &= ~Flag.AA
        return cls(reply.rcode, flags, (reply.answer, reply.authority, reply.additional), ttl, now)

    def left(self, now: float) -> int:
        """Whole seconds until the reply has expired; 0 or less when it has."""
        return self.ttl - int(now - self.stored)

    def next_tick(self, now: float) -> float:
        """When the whole seconds that are left change; also when the item ends, at the last of them."""
        return self.stored + int(now - self.stored) + 1

    def reply(self, query: Query, ttl: int) -> Message:
        """The reply to ``query``, each record with ``ttl``; AD only for who asked for it (RFC 6840 section 5.8)."""
        flags = self.flags if wants_ad(query) else self.flags & ~Flag.AD
        answer, authority, additional = self._with_ttl(ttl)
        return query.reply(self.rcode, flags=flags, answer=answer, authority=authority, additional=additional)

    def count(self, at: float, times: int, gap: float) -> None:
        """Note hits at ``at``, for prefetch; a gap of more than ``gap`` seconds starts the count anew.

        They may be told late, after others: what was before the count began is no part of it.
        """
        if at - self.last_hit > gap:
            self.hits, self._since = 0, at
        if at >= self._since:
            self.hits += times
            self.last_hit = max(self.last_hit, at)

    def begin_refresh(self, now: float) -> bool:
        """Whether a refresh may start: none is under way, and the last did not fail a moment ago."""
        if self.refreshing or now < self.retry_at:
            return False
        self.refreshing = True
        return True

    def end_refresh(self, now: float, recheck: float, succeeded: bool) -> None:
        """Allow another refresh, after a failure only ``recheck`` seconds from now."""
        self.retry_at = 0.0 if succeeded else now + recheck
        self.refreshing = False

    def _with_ttl(self, ttl: int) -> Sections:
        """The sections, made once for each second."""
        if ttl != self._shown:
            answer, authority, additional = self._sections
            self._sections = (with_ttl(answer, ttl), with_ttl(authority, ttl), with_ttl(additional, ttl))
            self._shown = ttl
        return self._sections


def with_ttl(records: tuple[RR, ...], ttl: int) -> tuple[RR, ...]:
    """The records, each with ``ttl``."""
    for record in records:
        if record.ttl != ttl:
            return tuple([new(RR, (name, rrtype, ttl, rdata, cls)) for name, rrtype, _, rdata, cls in records])
    return records


def wants_ad(query: Query) -> bool:
    """Whether the client understands AD: it set that bit, or DO."""
    return bool(query.message.flags & Flag.AD) or query.do

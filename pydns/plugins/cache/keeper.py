"""From a reply that came from below to the reply that goes up, and what is kept of it.

Every record of a reply leaves with one TTL, kept or not: the lowest one within the bounds of its kind.
"""

from __future__ import annotations

from pydns.dns.message import RR, Message
from pydns.dns.name import longest_zone
from pydns.dns.types import Class, Flag, Rcode, new
from pydns.errand import Errand
from pydns.plugin import Process, Query
from pydns.plugins.cache.classify import Kind, classify, is_about, is_storable, lowest_ttl
from pydns.plugins.cache.counters import KINDS, Counters
from pydns.plugins.cache.item import Item, wants_ad, with_ttl
from pydns.plugins.cache.options import CacheOptions
from pydns.plugins.cache.store import DENIAL, SUCCESS, Key, Store

Kept = tuple[Message, Item | None]
"""The reply for the client, and the item where it was stored."""


class Keeper:
    """Judges replies by the bounds of ``conf`` and puts them into ``store``."""

    def __init__(self, conf: CacheOptions, store: Store, process: Process) -> None:
        self._conf = conf
        self._store = store
        self._process = process
        self._success_bounds = conf.success_bounds
        self._denial_bounds = conf.denial_bounds
        self._disabled = {kind: conf.disabled_zones(kind) for kind in KINDS}

    def keep(self, query: Query, key: Key, reply: Message, counters: Counters, *, refreshes: bool = False) -> Kept:
        """Keep ``reply`` if such a reply is kept.  With ``refreshes`` a positive one does away with a denial."""
        kind = classify(reply, self._process.wall() if reply.edns is not None else 0.0)
        ttl = self._ttl(reply, kind)
        shown = self._shown(query, reply, ttl)
        if ttl <= 0 or not is_storable(reply, kind):
            return shown, None
        if not is_about(reply, query.question):
            counters.drops.inc()
            return shown, None
        where = DENIAL if kind in (Kind.DENIAL, Kind.FAILURE) else SUCCESS
        if self._disabled[where] and in_zones(query.name, self._disabled[where]):
            return shown, None
        item = Item.of(shown, reply.flags, ttl, self._process.clock())
        if refreshes and where == SUCCESS and self._store.forget_denial(key):
            counters.sizes[DENIAL] = self._store.size(DENIAL)
        self._put(where, key, item, counters)
        return shown, item

    def keep_plain(self, errand: Errand, counters: Counters) -> None:
        """The same for a plain reply: its TTL is set, and it is kept."""
        least, most = self._success_bounds
        errand.ttl = ttl = min(max(errand.ttl, least), most)
        if ttl <= 0 or (self._disabled[SUCCESS] and in_zones(errand.name, self._disabled[SUCCESS])):
            return
        record = new(RR, (errand.qname, errand.shape.qtype, ttl, errand.rdata, Class.IN))
        flags = errand.flags & ~Flag.AA
        self._put(
            SUCCESS,
            (errand.name, *errand.shape.key),
            Item(Rcode.NOERROR, flags, ((record,), (), ()), ttl, errand.now),
            counters,
        )

    def _put(self, where: str, key: Key, item: Item, counters: Counters) -> None:
        if evicted := self._store.put(where, key, item):
            counters.evictions[where].inc(evicted)
        counters.sizes[where] = self._store.size(where)

    def _ttl(self, reply: Message, kind: Kind) -> int:
        if kind is Kind.FAILURE:
            return int(self._conf.servfail)
        least, most = self._denial_bounds if kind is Kind.DENIAL else self._success_bounds
        return min(max(lowest_ttl(reply, kind), least), most)

    @staticmethod
    def _shown(query: Query, reply: Message, ttl: int) -> Message:
        """The reply with its one TTL, without OPT, and with AD only for who asked for it."""
        ident, flags, rcode, question, answer, authority, additional, _, replay, forwarded, packed = reply
        if not wants_ad(query):
            flags &= ~Flag.AD
        if packed is not None and not packed.is_of(reply):
            packed = None
        answer, authority, additional = with_ttl(answer, ttl), with_ttl(authority, ttl), with_ttl(additional, ttl)
        if packed is not None:
            packed = packed.with_ttl(ttl, answer, authority, additional)
        fields = ident, flags, rcode, question, answer, authority, additional, None, replay, forwarded, packed
        return new(Message, fields)


def in_zones(name: str, zones: tuple[str, ...]) -> bool:
    """Whether ``name`` is in one of ``zones``, all in lower case."""
    return longest_zone(name, zones) is not None

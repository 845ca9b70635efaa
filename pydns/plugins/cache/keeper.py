"""From a reply that came from below to the reply that goes up, and what is kept of it.

Every record of a reply leaves with one TTL, kept or not: the lowest one within the bounds of its kind.
"""

from __future__ import annotations

from pydns.dns.message import RR, Message
from pydns.dns.name import is_below
from pydns.dns.types import Class, Flag, Rcode, new
from pydns.errand import Errand
from pydns.plugin import Process
from pydns.plugins.cache.classify import Kind, classify, is_about, is_storable, lowest_ttl, ttls_of
from pydns.plugins.cache.counters import KINDS, Counters
from pydns.plugins.cache.item import Item, wants_ad, with_ttl
from pydns.plugins.cache.options import CacheOptions
from pydns.plugins.cache.store import DENIAL, SUCCESS, Key, Store
from pydns.query import Query

_IN = int(Class.IN)
_NOERROR = int(Rcode.NOERROR)
_NOT_AA = ~int(Flag.AA)

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
        disabled = [zone for zones in self._disabled.values() for zone in zones]
        self._ignored = tuple(
            [zone for zone in disabled if all(in_zones(zone, self._disabled[kind]) for kind in KINDS)]
        )

    def ignores(self, name: str) -> bool:
        """Whether nothing about ``name`` (lower-case) is kept."""
        return bool(self._ignored) and in_zones(name, self._ignored)

    def keep(
        self, query: Query, key: Key | None, reply: Message, counters: Counters, *, refreshes: bool = False
    ) -> Kept:
        """Keep ``reply`` if such a reply is kept; ``key`` is None for a name that is ignored.

        With ``refreshes`` a positive one does away with a denial.
        """
        kind = classify(reply, self._process.wall() if reply.edns is not None else 0.0)
        ttls = ttls_of(reply)
        ttl = self._ttl(kind, lowest_ttl(reply, kind, ttls))
        shown = _shown(query, reply, ttl, ttls)
        if not is_about(reply, query.question):
            if ttl > 0 and is_storable(reply, kind):
                counters.drops.inc()
            return shown, None
        if key is None:
            return shown, None
        where = DENIAL if kind is Kind.DENIAL or kind is Kind.FAILURE else SUCCESS
        if not self._keeps(where, query.name, ttl) or not is_storable(reply, kind):
            return shown, None
        item = Item.of(shown, reply.flags, ttl, self._process.clock())
        if refreshes and where == SUCCESS and self._store.forget_denial(key):
            counters.sizes[DENIAL] = self._store.size(DENIAL)
        self._put(where, key, item, counters)
        return shown, item

    def keep_plain(self, errand: Errand, counters: Counters) -> None:
        """The same for a plain reply: its TTL is set, and it is kept."""
        errand.ttl = ttl = self._ttl(Kind.ANSWER, errand.ttl)
        if self._keeps(SUCCESS, errand.name, ttl):
            qname, shape = errand.qname, errand.shape
            records = tuple([new(RR, (qname, shape.qtype, ttl, rdata, _IN)) for rdata in errand.rdatas])
            item = Item(_NOERROR, errand.flags & _NOT_AA, (records, (), ()), ttl, errand.now)
            self._put(SUCCESS, (errand.name, *shape.key), item, counters)

    def _keeps(self, where: str, name: str, ttl: int) -> bool:
        disabled = self._disabled[where]
        return ttl > 0 and not (disabled and in_zones(name, disabled))

    def _put(self, where: str, key: Key, item: Item, counters: Counters) -> None:
        if evicted := self._store.put(where, key, item):
            counters.evictions[where].inc(evicted)
        counters.sizes[where] = self._store.size(where)

    def _ttl(self, kind: Kind, lowest: int) -> int:
        """The one TTL of a reply whose records agree to ``lowest`` seconds."""
        if kind is Kind.FAILURE:
            return int(self._conf.servfail)
        least, most = self._denial_bounds if kind is Kind.DENIAL else self._success_bounds
        return min(max(lowest, least), most)


def _shown(query: Query, reply: Message, ttl: int, ttls: set[int]) -> Message:
    """The reply, whose records have ``ttls``, with its one TTL, without OPT, and with AD only for who asked for it."""
    ident, flags, rcode, question, answer, authority, additional, edns, replay, forwarded, packed = reply
    if flags & Flag.AD and not wants_ad(query):
        flags &= ~Flag.AD
    elif edns is None and ttls <= {ttl}:
        return reply
    if packed is not None and not packed.is_of(reply):
        packed = None
    answer, authority, additional = with_ttl(answer, ttl), with_ttl(authority, ttl), with_ttl(additional, ttl)
    if packed is not None:
        packed = packed.with_ttl(ttl, answer, authority, additional)
    fields = ident, flags, rcode, question, answer, authority, additional, None, replay, forwarded, packed
    return new(Message, fields)


def in_zones(name: str, zones: tuple[str, ...]) -> bool:
    """Whether ``name`` is in one of ``zones``, all in lower case."""
    for zone in zones:  # noqa: SIM110  a generator takes twice as long
        if is_below(name, zone):
            return True
    return False

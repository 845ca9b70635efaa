"""Replies remembered as templates: one answers for every name of its length that does not exist, one for every name
that has one address, one for every name without the data asked for.

Rules:

1. A reply becomes a template where its `Replay` has a `Pattern`; it ends with that `Replay`, or has its lease renewed.
2. A template is for queries of one shape: the same octets in front of the name (ID aside) and behind it, the same
   length of the name, and the zone at its end in the same letter case.  So each has a reply of the same octets but for
   ID, question and address: names in replies are compressed by pointers into the question, as far as it has the same
   labels.
3. Hence a name that shares one more label in front of the zone with a name in the reply has no template, unless that
   is the owner of a record and the whole of the name asked for.
4. Only plain queries have templates: a question alone, or with an OPT record without options.
5. Names are read as the chain reads them, and one with escapes or pointers is left to the chain (`plain_name`).
6. Of each name `Pattern.part` is asked, at each query: nothing is remembered about names.

It knows no zones and no plugins; who puts a template sees to it that its shape was met before.
"""

from __future__ import annotations

from collections.abc import Callable

from pydns.dns.message import HEADER, parse
from pydns.dns.name import BadName, is_below, labels, plain_name, to_wire
from pydns.dns.packed import overwritten
from pydns.dns.rdata import names_in
from pydns.dns.replay import Part, Pattern, Replay
from pydns.dns.types import RCODE_MASK
from pydns.server.replayed import Replayed

MAX_SHAPES = 1024
"""Shapes that have templates in one cache; one too many wipes them all, because they are made again in no time."""
_TYPE_AND_CLASS = 4
_PLAIN_OPT = 11
"""Octets of an OPT record without options."""
_ADDRESS = 12
"""Octets between the question and the address behind it: the head of a record whose owner is a pointer."""

Shape = tuple[int, bytes, bytes]
"""Where the name ends, what stands in front of it, and what stands behind it and in its last labels."""
Kind = tuple[int, int]
"""Rcode, and how many answers there are: none or one."""


class Template(Replayed):
    """A reply without ID, question and address."""

    __slots__ = ("_behind", "_head", "_places", "_replay", "_rest", "_shared", "_start")

    def __init__(self, reply: bytes, start: int, behind: int, replay: Replay, zone: str) -> None:
        """The zone's name starts at ``start``, the question ends at ``behind``."""
        super().__init__(replay.counters)
        self._head = reply[2 : HEADER.size]
        self._rest = reply[behind:]
        self._start = start
        self._behind = behind
        self._shared = _labels_before(zone, reply)
        self._replay = replay
        places = replay.lease.places(reply)
        self._places = None if places is None else tuple([place - behind for place in places])

    def is_compressed_alike(self, query: bytes) -> bool:
        """Whether the reply to ``query``, which has this shape, has its names compressed as this one has (rule 3)."""
        return not query.endswith(self._shared, HEADER.size, self._start)

    def reply_to(self, query: bytes, part: Part) -> bytes:
        """The reply without its ID."""
        rest, address = self._rest, part.octets
        if address:
            rest = rest[:_ADDRESS] + address + rest[_ADDRESS + len(address) :]
        return self._head + query[HEADER.size : self._behind] + rest

    def replay(self, part: Part) -> Replay:
        """Consent to send the reply for one name again, until its data change."""
        return Replay(self._replay.until, part.tags, 1, self.counters, lease=self._replay.lease)

    def has_ended(self, now: float) -> bool:
        return self._replay.has_ended(now)

    def goes_on(self, now: float) -> bool:
        """Whether the template is good, if need be with its lease renewed."""
        return not self.has_ended(now) or (self._replay.until > now and self._renew())

    def _renew(self) -> bool:
        lease = self._replay.lease.latest()
        if lease is None or self._places is None:
            return False
        self._rest = overwritten(self._rest, self._places, lease.octets)
        self._replay = self._replay.with_lease(lease)
        return True


class _Family:
    """The templates for queries of one shape, all of one ``pattern``, by their kind."""

    __slots__ = ("_end", "_qtype", "pattern", "templates")

    def __init__(self, pattern: Pattern, end: int, qtype: int) -> None:
        """The name in a query stops at ``end``."""
        self.pattern = pattern
        self.templates: dict[Kind, Template] = {}
        self._end = end
        self._qtype = qtype

    def part(self, query: bytes) -> Part | None:
        """What is its own in the reply to a query; None where only the chain knows."""
        name = _name(query, self._end)
        return None if name is None else self.pattern.part(name, self._qtype)


class Templates:
    """The templates of one packet cache; ``counters`` are those of each, beside its reply's."""

    def __init__(self, counters: tuple[Callable[[int], None], ...] = ()) -> None:
        self._counters = counters
        self._families: dict[Shape, _Family] = {}
        self._lengths: dict[int, None] = {}

    def __len__(self) -> int:
        return sum(len(family.templates) for family in self._families.values())

    def find(self, query: bytes, now: float) -> tuple[Template, Part] | None:
        """The template for a query, and what is its own in the reply."""
        family = self._family(query)
        part = None if family is None else family.part(query)
        if family is None or part is None:
            return None
        template = family.templates.get((part.rcode, 1 if part.octets else 0))
        if template is None or not template.goes_on(now) or not template.is_compressed_alike(query):
            return None
        return template, part

    def _family(self, query: bytes) -> _Family | None:
        end = query.find(0, HEADER.size) + 1
        for length in self._lengths:
            family = self._families.get((end, query[2 : HEADER.size], query[end - length :]))
            if family is not None:
                return family
        return None

    def put(
        self, query: bytes, reply: bytes, replay: Replay, now: float, met_before: Callable[[tuple[Shape, Kind]], bool]
    ) -> None:
        """Make a template of a reply that may be one, if its shape and kind were ``met_before``, which notes them."""
        pattern = replay.pattern
        end = query.find(0, HEADER.size) + 1
        behind = end + _TYPE_AND_CLASS
        asked = query[HEADER.size : behind]
        if pattern is None or not _is_plain(query, behind) or reply[HEADER.size : behind] != asked:
            return
        start = end - len(to_wire(pattern.zone))
        shape = end, query[2 : HEADER.size], query[start:]
        kind = reply[3] & RCODE_MASK, int.from_bytes(reply[6:8], "big")
        family = self._families.get(shape)
        old = None if family is None else family.templates.get(kind)
        if (old is not None and not old.has_ended(now)) or not met_before((shape, kind)):
            return
        name, qtype = _name(query, end), int.from_bytes(query[end : end + 2], "big")
        if name is None or not _is_below(name, pattern.zone):
            return
        template = Template(reply, start, behind, replay.with_counters(*self._counters), pattern.zone)
        if _gives(template, pattern.part(name, qtype), query, reply):
            if family is None or family.pattern != pattern:
                family = _Family(pattern, end, qtype)
            self._add(shape, end - start, family)
            family.templates[kind] = template

    def _add(self, shape: Shape, length: int, family: _Family) -> None:
        old = self._families.get(shape)
        if old is None and len(self._families) >= MAX_SHAPES:
            self.clear()
        elif old is not None:
            _flush(old)
        self._lengths[length] = None
        self._families[shape] = family

    def flush(self) -> None:
        """Tell all counters what they do not know of yet."""
        for family in self._families.values():
            _flush(family)

    def clear(self) -> None:
        """Forget everything."""
        self.flush()
        self._families.clear()
        self._lengths.clear()


def _flush(family: _Family) -> None:
    for template in family.templates.values():
        template.flush()


def _gives(template: Template, part: Part | None, query: bytes, reply: bytes) -> bool:
    """Whether a template gives the reply that it was made of, and may."""
    return part is not None and template.is_compressed_alike(query) and template.reply_to(query, part) == reply[2:]


def _name(query: bytes, end: int) -> str | None:
    """The name asked for in lower case, if it is read up to ``end`` as it stands (rule 5)."""
    try:
        name, stop = plain_name(query, HEADER.size)
    except (BadName, IndexError):
        return None
    return name.lower() if stop == end else None


def _is_below(name: str, zone: str) -> bool:
    return is_below(name, zone) and name != zone


def _is_plain(query: bytes, behind: int) -> bool:
    """Rule 4: nothing but such a record takes so few octets."""
    return len(query) - behind in (0, _PLAIN_OPT)


def _labels_before(zone: str, reply: bytes) -> tuple[bytes, ...]:
    """The labels that stand in front of ``zone`` in the names of a reply's records, each with its length."""
    message = parse(reply)
    asked = message.question and message.question.name
    owners = {record.name for record in message.records() if record.name != asked}
    targets = {name for record in message.records() for name in names_in(record.type, record.rdata)}
    names = {name.lower() for name in owners | targets}
    below = (name for name in names if _is_below(name, zone))
    return tuple(to_wire(labels(name[: len(name) - len(zone)])[-1] + ".")[:-1] for name in below)

"""Denials remembered as templates: one reply that answers for every name of its length that does not exist.

Rules:

1. A reply becomes a template where its `Replay` has a `Denial`; it ends with that `Replay`, or has its lease renewed.
2. A template is for queries of one shape: the same octets in front of the name (ID aside) and behind it, the same
   length of the name, and the zone at its end in the same letter case.  So each has a reply of the same octets but for
   ID and question: names in replies are compressed by pointers into the question, as far as it has the same labels.
3. Hence a name that shares one more label in front of the zone with a name in the reply has no template.
4. Only plain queries have templates: a question alone, or with an OPT record without options.
5. Names are read as the chain reads them (`from_wire`), and one with escapes or pointers is left to the chain.
6. Of each name `Denial.absence` is asked, at each query: nothing is remembered about names.

It knows no zones and no plugins; who puts a template sees to it that its shape was met before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from pydns.dns.message import HEADER, parse
from pydns.dns.name import BadName, from_wire, is_below, labels, to_wire
from pydns.dns.packed import overwritten
from pydns.dns.rdata import names_in
from pydns.dns.replay import Denial, Replay
from pydns.server.replayed import Replayed

MAX_TEMPLATES = 1024
"""Templates of one cache; one too many wipes them all, because they are made again in no time."""
_TYPE_AND_CLASS = 4
_PLAIN_OPT = 11
"""Octets of an OPT record without options."""

Shape = tuple[int, bytes, bytes]
"""Where the name ends, what stands in front of it, and what stands behind it and in its last labels."""


class Template(Replayed):
    """A reply without ID and question."""

    __slots__ = ("_absence", "_behind", "_head", "_places", "_replay", "_rest", "_shared", "_start")

    def __init__(self, reply: bytes, start: int, behind: int, replay: Replay, denial: Denial) -> None:
        """The zone's name starts at ``start``, the question ends at ``behind``."""
        super().__init__(replay.counters)
        self._head = reply[2 : HEADER.size]
        self._rest = reply[behind:]
        self._start = start
        self._behind = behind
        self._absence = denial.absence
        self._shared = _labels_before(denial.zone, reply)
        self._replay = replay.with_denial(None)
        places = replay.lease.places(reply)
        self._places = None if places is None else tuple([place - behind for place in places])

    def has_room(self, query: bytes) -> bool:
        """Whether the name in ``query``, which has this shape, is compressed as it is here (rule 3)."""
        return not query.endswith(self._shared, HEADER.size, self._start)

    def denies(self, query: bytes) -> tuple[Hashable, ...] | None:
        """The tags of the data by which the name in ``query``, which has this shape, does not exist; None to ask the
        chain."""
        name = _name(query, self._behind - _TYPE_AND_CLASS)
        return None if name is None or not self.has_room(query) else self._absence(name)

    def reply_to(self, query: bytes) -> bytes:
        """The reply without its ID; counts."""
        self.hits += 1
        return self._head + query[HEADER.size : self._behind] + self._rest

    def replay(self, tags: tuple[Hashable, ...]) -> Replay:
        """Consent to send the reply for one name again, until the data of ``tags`` change."""
        return Replay(self._replay.until, tags, 1, self.counters, lease=self._replay.lease)

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


class Templates:
    """The templates of one packet cache; ``counters`` are those of each, beside its reply's."""

    def __init__(self, counters: tuple[Callable[[int], None], ...] = ()) -> None:
        self._counters = counters
        self._templates: dict[Shape, Template] = {}
        self._lengths: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._templates)

    def find(self, query: bytes, now: float) -> Template | None:
        """The template for queries of this shape."""
        end = query.find(0, HEADER.size) + 1
        for length in self._lengths:
            template = self._templates.get((end, query[2 : HEADER.size], query[end - length :]))
            if template is not None and template.goes_on(now):
                return template
        return None

    def put(self, query: bytes, reply: bytes, replay: Replay, now: float, is_known: Callable[[Shape], bool]) -> None:
        """Make a template of a reply that may be one, if its shape ``is_known``."""
        denial = replay.denial
        end = query.find(0, HEADER.size) + 1
        behind = end + _TYPE_AND_CLASS
        if denial is None or not _is_plain(query, behind) or query[HEADER.size : behind] != reply[HEADER.size : behind]:
            return
        start = end - len(to_wire(denial.zone))
        shape = end, query[2 : HEADER.size], query[start:]
        old = self._templates.get(shape)
        if (old is None or old.has_ended(now)) and is_known(shape) and _is_below(_name(query, end), denial.zone):
            template = Template(reply, start, behind, replay.with_counters(*self._counters), denial)
            if template.has_room(query):
                self._add(shape, end - start, template)

    def _add(self, shape: Shape, length: int, template: Template) -> None:
        if len(self._templates) >= MAX_TEMPLATES:
            self.clear()
        old = self._templates.get(shape)
        if old is not None:
            old.flush()
        self._lengths[length] = None
        self._templates[shape] = template

    def flush(self) -> None:
        """Tell all counters what they do not know of yet."""
        for template in self._templates.values():
            template.flush()

    def clear(self) -> None:
        """Forget everything."""
        self.flush()
        self._templates.clear()
        self._lengths.clear()


def _name(query: bytes, end: int) -> str | None:
    """The name asked for in lower case, if it is read up to ``end`` as it stands (rule 5)."""
    try:
        name, stop = from_wire(query, HEADER.size)
    except BadName:
        return None
    return name.lower() if stop == end and "\\" not in name else None


def _is_below(name: str | None, zone: str) -> bool:
    return name is not None and is_below(name, zone) and name != zone


def _is_plain(query: bytes, behind: int) -> bool:
    """Rule 4: nothing but such a record takes so few octets."""
    return len(query) - behind in (0, _PLAIN_OPT)


def _labels_before(zone: str, reply: bytes) -> tuple[bytes, ...]:
    """The labels that stand in front of ``zone`` in the names of a reply's records, each with its length."""
    records = parse(reply).records()
    names = {name.lower() for record in records for name in (record.name, *names_in(record.type, record.rdata))}
    below = (name for name in names if _is_below(name, zone))
    return tuple(to_wire(labels(name[: len(name) - len(zone)])[-1] + ".")[:-1] for name in below)

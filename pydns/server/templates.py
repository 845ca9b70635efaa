"""Denials remembered as templates: one reply that answers for every name of its length that does not exist.

Rules:

1. A reply becomes a template where its `Replay` has a `Denial`; it ends with that `Replay`.
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
from typing import NamedTuple

from pydns.dns.message import HEADER, Denial, Replay, parse
from pydns.dns.name import BadName, from_wire, is_below, labels, to_wire
from pydns.dns.rdata import names_in

MAX_TEMPLATES = 1024
"""Templates of one cache; one too many wipes them all, because they are made again in no time."""
_TYPE_AND_CLASS = 4
_PLAIN_OPT = 11
"""Octets of an OPT record without options."""

Shape = tuple[int, bytes, bytes]
"""Where the name ends, what stands in front of it, and what stands behind it and in its last labels."""


class Template:
    """A reply without ID and question, ``hits`` times sent since that was last told to ``counters``."""

    __slots__ = ("absence", "counters", "head", "hits", "rest", "shared", "until", "zone")

    def __init__(self, reply: bytes, behind: int, replay: Replay, denial: Denial, shared: tuple[bytes, ...]) -> None:
        self.head = reply[2 : HEADER.size]
        self.rest = reply[behind:]
        self.until = replay.until
        self.counters = replay.counters
        self.absence = denial.absence
        self.zone = denial.zone
        self.shared = shared
        """Labels (with their lengths) of rule 3."""
        self.hits = 0

    def flush(self) -> None:
        if self.hits:
            for count in self.counters:
                count(self.hits)
            self.hits = 0


class Denied(NamedTuple):
    """A reply without its ID, its consent, which is for this one name, and the template that it was made from."""

    octets: bytes
    tags: tuple[Hashable, ...]
    template: Template


class Templates:
    """The templates of one packet cache."""

    def __init__(self) -> None:
        self._templates: dict[Shape, Template] = {}
        self._lengths: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._templates)

    def find(self, query: bytes, now: float) -> Denied | None:
        """The denial of the name asked for; None where the chain must be asked."""
        end = query.find(0, HEADER.size) + 1
        for length in self._lengths:
            template = self._templates.get((end, query[2 : HEADER.size], query[end - length :]))
            if template is not None and template.until > now:
                return _fill(template, query, end, length)
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
        if (old is None or old.until <= now) and is_known(shape) and _name_below(query, end, denial.zone):
            shared = _shared(reply, denial.zone)
            if not query.endswith(shared, HEADER.size, start):
                self._add(shape, end - start, Template(reply, behind, replay, denial, shared))

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


def _fill(template: Template, query: bytes, end: int, length: int) -> Denied | None:
    """The reply for the name in ``query``, which has the template's shape."""
    name = _name_below(query, end, template.zone)
    if name is None or query.endswith(template.shared, HEADER.size, end - length):
        return None
    tags = template.absence(name)
    if tags is None:
        return None
    template.hits += 1
    return Denied(template.head + query[HEADER.size : end + _TYPE_AND_CLASS] + template.rest, tags, template)


def _name_below(query: bytes, end: int, zone: str) -> str | None:
    """The name asked for in lower case, if it lies below ``zone`` and is read up to ``end`` as it stands (rule 5)."""
    try:
        text, stop = from_wire(query, HEADER.size)
    except BadName:
        return None
    name = text.lower()
    return name if stop == end and "\\" not in name and is_below(name, zone) and name != zone else None


def _is_plain(query: bytes, behind: int) -> bool:
    """Rule 4: nothing but such a record takes so few octets."""
    return len(query) - behind in (0, _PLAIN_OPT)


def _shared(reply: bytes, zone: str) -> tuple[bytes, ...]:
    """The labels that stand in front of ``zone`` in the names of a reply's records, each with its length."""
    records = parse(reply).records()
    names = {name.lower() for record in records for name in (record.name, *names_in(record.type, record.rdata))}
    below = (name for name in names if is_below(name, zone) and name != zone)
    return tuple(to_wire(labels(name[: len(name) - len(zone)])[-1] + ".")[:-1] for name in below)

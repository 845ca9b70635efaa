"""Which names a resolver tries for a name as typed, and in which order: a pure function of four families.

Reference: resolvers, section 1 (order, ndots) and section 7 (what each resolver makes of its file).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from conformance.clients.model import ResolvConf

MOST_NAME = 253
"""Characters of a name without its final dot (RFC 1035 section 2.3.4: 255 octets on the wire)."""


class Family(Enum):
    """In which order the search list and the name itself are tried."""

    TRY_ALL = auto()
    """Always both: the list first below ndots, the name first otherwise."""
    SEARCH_OR_NAME = auto()
    """Below ndots the list, then the name; otherwise the name only."""
    BUSYBOX = auto()
    """Without a dot the whole list and never the name, with one the name only."""
    NEVER = auto()
    """The name only."""


class Root(Enum):
    """What `.` in a search list means."""

    ONCE = auto()
    """The name itself, tried at this place and not again at the end."""
    AGAIN = auto()
    """The name itself, tried at this place and at the end."""
    SKIP = auto()
    """Nothing."""
    MALFORMED = auto()
    """A name that cannot be sent as it is: its last octet is no label. No server answers it."""


class Long(Enum):
    """What becomes of a candidate that is too long for a name."""

    SKIP = auto()
    """The next one is tried."""
    END = auto()
    """The rest of the list is not tried, the name itself is."""
    FAIL = auto()
    """The look-up fails before anything is asked."""
    IN_TURN = auto()
    """The look-up fails when it is its turn."""


@dataclass(frozen=True)
class Rules:
    """How one resolver reads its file; None means no limit.

    `most_ndots` is what a larger value counts as, `bad_ndots` what a value that is no number counts as. A search line
    of more than `most_line` characters is dropped, one of more than `cut_line` ends there; `most_domains` come first
    in the list, and only the first `most_nameservers` are asked.
    """

    family: Family
    most_ndots: int | None = None
    bad_ndots: int = 1
    most_line: int | None = None
    cut_line: int | None = None
    most_domains: int | None = None
    most_nameservers: int | None = 3
    unique: bool = False
    root: Root = Root.ONCE
    long: Long = Long.SKIP


GLIBC = Rules(Family.TRY_ALL, most_ndots=15, bad_ndots=0, long=Long.END)
MUSL_OLD = Rules(Family.SEARCH_OR_NAME, most_ndots=15, most_line=254, root=Root.MALFORMED)
"""musl before 1.2.4. Its line buffer has 256 octets, a newline and a final zero among them."""
MUSL = Rules(Family.SEARCH_OR_NAME, most_ndots=15, most_line=254, root=Root.SKIP)
GO = Rules(Family.TRY_ALL, most_ndots=15, bad_ndots=0, root=Root.SKIP)
CARES = Rules(Family.TRY_ALL, most_line=518, most_nameservers=None, unique=True, root=Root.ONCE, long=Long.IN_TURN)
"""What stands behind `search ` may have 511 characters: seen on the wire with 1.34.9."""
CARES_QUERY = Rules(Family.NEVER, most_nameservers=None)
DNSPYTHON = Rules(Family.TRY_ALL, most_nameservers=None, root=Root.AGAIN, long=Long.FAIL)
BUSYBOX = Rules(Family.BUSYBOX, cut_line=511, most_nameservers=None, root=Root.MALFORMED)
"""A search list of `.` alone is none at all."""
BIND = Rules(Family.SEARCH_OR_NAME, most_domains=8, root=Root.AGAIN)


class NameTooLong(ValueError):
    """A candidate is too long for a resolver that then asks nothing."""


def order(name: str, listed: Sequence[str], ndots: int, family: Family) -> list[str]:
    """The candidates for a name among those that the search list makes of it (section 1).

    A name with a final dot is tried as it is by every resolver; names come back as they were given.
    """
    if name.endswith(".") or family is Family.NEVER:
        return [name]
    if family is Family.BUSYBOX:
        return list(listed) if listed and "." not in name else [name]
    if name.count(".") < ndots:
        return [*listed, name]
    return [name, *listed] if family is Family.TRY_ALL else [name]


def candidates(rules: Rules, name: str, conf: ResolvConf) -> list[str]:
    """The absolute names, with their final dots, that a resolver tries one after the other.

    `Long.IN_TURN` leaves those in that are too long. Raises `NameTooLong` where one of them ends it all at once.
    """
    domains = search_list(rules, conf)
    tried = [f"{name}." if domain == "." else f"{name}.{domain}" for domain in domains]
    if rules.root is Root.MALFORMED:
        tried = [f"{name}.." if domain == "." else found for domain, found in zip(domains, tried, strict=True)]
    names = order(name, _short(rules, tried), ndots(rules, conf), rules.family)
    if rules.root is Root.ONCE and names[-1] == name and f"{name}." in names:
        names = names[:-1]
    absolute = [candidate if candidate.endswith(".") else f"{candidate}." for candidate in names]
    return list(dict.fromkeys(absolute)) if rules.unique else absolute


def _short(rules: Rules, tried: Sequence[str]) -> list[str]:
    """Those that are not too long for a name, by the resolver's way with those that are."""
    fits = [not too_long(name) for name in tried]
    if all(fits) or rules.long is Long.IN_TURN:
        return list(tried)
    if rules.long is Long.FAIL:
        raise NameTooLong(tried[fits.index(False)])
    if rules.long is Long.END:
        return list(tried[: fits.index(False)])
    return [name for name, fit in zip(tried, fits, strict=True) if fit]


def too_long(name: str) -> bool:
    """Whether a name has no place in a message."""
    return len(name.removesuffix(".")) > MOST_NAME


def search_list(rules: Rules, conf: ResolvConf) -> list[str]:
    """The search domains that a resolver takes from its file (section 7)."""
    line = " ".join(("search", *conf.search))
    if rules.most_line is not None and len(line) > rules.most_line:
        return []
    domains = line[: rules.cut_line].split()[1:]
    if rules.unique:
        domains = _unique(domains)
    if rules.family is Family.BUSYBOX and domains == ["."]:
        return []
    if rules.root is Root.SKIP:
        domains = [domain for domain in domains if domain != "."]
    return domains[: rules.most_domains]


def _unique(domains: Iterable[str]) -> list[str]:
    first: dict[str, str] = {}
    for domain in domains:
        first.setdefault(domain.casefold(), domain)
    return list(first.values())


def ndots(rules: Rules, conf: ResolvConf) -> int:
    """How many dots make a resolver take a name as it is (section 1): 1 where the file says nothing."""
    value = option(conf, "ndots")
    if value is None:
        return 1
    if not value.isdigit():
        return rules.bad_ndots
    return int(value) if rules.most_ndots is None else min(int(value), rules.most_ndots)


def option(conf: ResolvConf, name: str) -> str | None:
    """The value of the last such option, empty for one without a value; None where there is none."""
    return next((value for key, _, value in _options(reversed(conf.options)) if key == name), None)


def number(conf: ResolvConf, name: str, otherwise: int, least: int = 1, most: int | None = None) -> int:
    """The value of an option that is a number, within bounds."""
    value = option(conf, name)
    if value is None or not value.isdigit():
        return otherwise
    return max(least, int(value) if most is None else min(int(value), most))


def _options(options: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    return (option.partition(":") for option in options)


def nameservers(rules: Rules, conf: ResolvConf) -> int:
    """How many name servers a resolver asks; without one in its file it asks this machine's own."""
    return max(1, len(conf.nameservers[: rules.most_nameservers]))

"""Which names are tried, and in which order: the tables of the reference (resolvers, sections 1 and 7)."""

from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from conformance.clients.candidates import (
    BIND,
    BUSYBOX,
    CARES,
    DNSPYTHON,
    GLIBC,
    GO,
    MUSL,
    MUSL_OLD,
    Family,
    NameTooLong,
    Rules,
    candidates,
    nameservers,
    ndots,
    number,
    order,
    search_list,
    too_long,
)
from conformance.clients.model import ResolvConf

# Section 1, for the search list 1 2: columns are ndots, rows the dots in a name. F1 / F2 where they differ.

NDOTS = (None, 0, 1, 2, 5, 15, 16)
ORDER = """
 0 | 12N   | N12/N | 12N   | 12N   | 12N   | 12N   | 12N
 1 | N12/N | N12/N | N12/N | 12N   | 12N   | 12N   | 12N
 2 | N12/N | N12/N | N12/N | N12/N | 12N   | 12N   | 12N
 3 | N12/N | N12/N | N12/N | N12/N | 12N   | 12N   | 12N
 4 | N12/N | N12/N | N12/N | N12/N | 12N   | 12N   | 12N
 5 | N12/N | N12/N | N12/N | N12/N | N12/N | 12N   | 12N
 6 | N12/N | N12/N | N12/N | N12/N | N12/N | 12N   | 12N
14 | N12/N | N12/N | N12/N | N12/N | N12/N | 12N   | 12N
15 | N12/N | N12/N | N12/N | N12/N | N12/N | N12/N | 12N
16 | N12/N | N12/N | N12/N | N12/N | N12/N | N12/N | N12/N
"""
CAPPED = {(15, 16): "N12/N"}
"""What is different for glibc, Go and musl, whose ndots end at 15."""
RULES = {"F1": (CARES, DNSPYTHON), "F1 capped": (GLIBC, GO), "F2": (BIND,), "F2 capped": (MUSL, MUSL_OLD)}


def table() -> Iterator[tuple[int, int | None, str]]:
    """DOTS, NDOTS and CELL."""
    for line in ORDER.strip().splitlines():
        dots, *cells = line.split("|")
        yield from ((int(dots), column, cell.strip()) for column, cell in zip(NDOTS, cells, strict=True))


CELLS = {(dots, column): cell for dots, column, cell in table()}


def named(dots: int) -> str:
    return ".".join("abcdefghijklmnopqrstuvwxyz"[: dots + 1])


def conf_of(search: Sequence[str], column: int | None) -> ResolvConf:
    return ResolvConf(("192.0.2.53",), tuple(search), () if column is None else (f"ndots:{column}",))


def cell_of(dots: int, column: int | None, rules: str) -> str:
    """What the table says for one kind of resolver."""
    cell = CELLS[dots, column]
    if rules.endswith("capped") and column is not None:
        cell = CAPPED.get((dots, column), cell)
    first, _, second = cell.partition("/")
    return second or first if rules.startswith("F2") else first


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("column", NDOTS)
@pytest.mark.parametrize("dots", [0, 1, 2, 3, 4, 5, 6, 14, 15, 16])
def test_the_order_table(dots: int, column: int | None, rules: str) -> None:
    """The full product: each cell, a final dot or none, 0 to 32 search domains."""
    cell = cell_of(dots, column, rules)
    name = named(dots)
    for resolver, length in product(RULES[rules], range(33)):
        listed = [f"s{place}.test" for place in range(length)]
        taken = [] if resolver in (MUSL, MUSL_OLD) and length > 28 else listed[: resolver.most_domains]
        parts = {"N": [f"{name}."], "1": [f"{name}.{domain}." for domain in taken], "2": []}
        conf = conf_of(listed, column)
        assert candidates(resolver, name, conf) == [found for place in cell for found in parts[place]]
        assert candidates(resolver, f"{name}.", conf) == [f"{name}."]


@pytest.mark.parametrize("dots", [0, 1, 2, 3, 4, 5, 6, 14, 15, 16])
def test_busybox_and_those_that_never_search(dots: int) -> None:
    name = named(dots)
    for column, length, dot in product(NDOTS, range(1, 33), ("", ".")):
        listed = [f"s{place}.test" for place in range(length)]
        conf = conf_of(listed, column)
        whole = [f"{name}.{domain}." for domain in listed]
        assert candidates(BUSYBOX, name + dot, conf) == (whole if dots == 0 and not dot else [f"{name}."])
        assert candidates(Rules(Family.NEVER), name + dot, conf) == [f"{name}."]


@pytest.mark.parametrize("family", Family)
def test_what_holds_for_every_family(family: Family) -> None:
    """Nothing is tried twice or invented, the list keeps its order, and more ndots never ask for less of it."""
    listed = [f"{place}." for place in range(5)]
    for dots in range(17):
        walks = [order(named(dots), listed, number, family) for number in range(18)]
        for walk in walks:
            assert walk and len(walk) == len(set(walk))
            assert set(walk) <= {*listed, named(dots)}
            assert [name for name in walk if name in listed] in ([], listed)
        reach = [len(walk) for walk in walks]
        assert reach == sorted(reach)
        assert order(f"{named(dots)}.", listed, 5, family) == [f"{named(dots)}."]


@pytest.mark.parametrize(
    ("options", "counted"),
    [
        # glibc, musl, Go, c-ares, dnspython
        ("", (1, 1, 1, 1, 1)),
        ("ndots:0", (0, 0, 0, 0, 0)),
        ("ndots:5 edns0", (5, 5, 5, 5, 5)),
        ("ndots:16", (15, 15, 15, 16, 16)),
        ("ndots:2 ndots:3", (3, 3, 3, 3, 3)),
        ("ndots:abc", (0, 1, 0, 1, 1)),
        ("ndots 5", (0, 1, 0, 1, 1)),
    ],
)
def test_ndots(options: str, counted: tuple[int, ...]) -> None:
    conf = ResolvConf((), (), tuple(options.split()))
    assert tuple(ndots(rules, conf) for rules in (GLIBC, MUSL, GO, CARES, DNSPYTHON)) == counted


def test_a_number_within_bounds() -> None:
    conf = ResolvConf((), (), ("attempts:7", "timeout:0", "retry:abc"))
    assert number(conf, "attempts", 2, most=5) == 5
    assert number(conf, "attempts", 2) == 7
    assert number(conf, "timeout", 5) == 1
    assert number(conf, "retry", 4) == 4
    assert number(conf, "absent", 3) == 3


# Section 7: the limits of a file.


def line(length: int, domains: int = 4) -> tuple[str, ...]:
    """A search list whose whole line, keyword and all, has this many characters."""
    head = tuple(f"s{place}.test" for place in range(domains - 1))
    used = len(" ".join(("search", *head)))
    return (*head, "x" * (length - used - 1))


@pytest.mark.parametrize(
    ("rules", "search", "taken"),
    [
        (GLIBC, numbers := tuple(f"d{place:02}.example.test" for place in range(40)), numbers),
        (GO, numbers, numbers),
        (DNSPYTHON, numbers, numbers),
        (BIND, numbers, numbers[:8]),
        (MUSL, numbers, ()),
        (MUSL_OLD, numbers, ()),
        (CARES, numbers, ()),
        (BUSYBOX, numbers, (*numbers[:29], "d29.example")),
        (MUSL, line(253), line(253)),
        (MUSL, line(254), line(254)),
        (MUSL, line(255), ()),
        (CARES, line(518), line(518)),
        (CARES, line(519), ()),
        (GLIBC, ("a", "b", "a"), ("a", "b", "a")),
        (MUSL, ("a", "b", "a"), ("a", "b", "a")),
        (CARES, ("a", "b", "A", "a"), ("a", "b")),
    ],
)
def test_how_much_of_a_search_line_is_taken(rules: Rules, search: tuple[str, ...], taken: tuple[str, ...]) -> None:
    assert search_list(rules, ResolvConf((), search)) == list(taken)


@pytest.mark.parametrize(
    ("rules", "search", "tried"),
    [
        (GLIBC, (".", "b"), "web. web.b."),
        (GLIBC, ("a", ".", "b"), "web.a. web. web.b."),
        (GO, ("a", ".", "b"), "web.a. web.b. web."),
        (MUSL, ("a", ".", "b"), "web.a. web.b. web."),
        (MUSL_OLD, ("a", ".", "b"), "web.a. web.. web.b. web."),
        (CARES, ("a", ".", "b"), "web.a. web. web.b."),
        (DNSPYTHON, ("a", ".", "b"), "web.a. web. web.b. web."),
        (BIND, ("a", ".", "b"), "web.a. web. web.b. web."),
        (BUSYBOX, (".",), "web."),
        (BUSYBOX, ("a", ".", "b"), "web.a. web.. web.b."),
    ],
)
def test_the_root_in_a_search_list(rules: Rules, search: tuple[str, ...], tried: str) -> None:
    assert candidates(rules, "web", ResolvConf((), search)) == tried.split()


def test_the_root_in_a_search_list_after_the_name_itself() -> None:
    assert candidates(GLIBC, "web.shop", ResolvConf((), ("a", "."))) == ["web.shop.", "web.shop.a.", "web.shop."]
    assert candidates(CARES, "web.shop", ResolvConf((), ("a", "."))) == ["web.shop.", "web.shop.a."]


WIDE = ".".join(["x" * 60] * 4)  # 243 characters


@pytest.mark.parametrize(
    ("rules", "tried"),
    [
        (GLIBC, ["a.", ""]),
        (MUSL, ["a.", "b.", ""]),
        (GO, ["a.", "b.", ""]),
        (BIND, ["a.", "b.", ""]),
    ],
)
def test_a_candidate_too_long_for_a_name(rules: Rules, tried: list[str]) -> None:
    name = "y" * 10  # 10 + 1 + 243 = 254
    conf = ResolvConf((), ("a", WIDE, "b") if rules is not MUSL else ("a", WIDE[:230], "b"))
    long = name if rules is not MUSL else "y" * 23
    assert candidates(rules, long, conf) == [f"{long}.{rest}" for rest in tried]


def test_a_candidate_too_long_ends_the_look_up() -> None:
    conf = ResolvConf((), ("a", WIDE))
    assert len(candidates(DNSPYTHON, "y" * 9, conf)) == 3
    with pytest.raises(NameTooLong):
        candidates(DNSPYTHON, "y" * 10, conf)


def test_a_candidate_too_long_ends_the_look_up_in_its_turn() -> None:
    tried = candidates(CARES, "y" * 10, ResolvConf((), ("a", WIDE)))
    assert [too_long(name) for name in tried] == [False, True, False]


@pytest.mark.parametrize(
    ("rules", "asked"), [(GLIBC, 3), (MUSL, 3), (GO, 3), (BIND, 3), (CARES, 5), (DNSPYTHON, 5), (BUSYBOX, 5)]
)
def test_how_many_name_servers_are_asked(rules: Rules, asked: int) -> None:
    assert nameservers(rules, ResolvConf(tuple(f"192.0.2.{place}" for place in range(5)))) == asked
    assert nameservers(rules, ResolvConf(())) == 1

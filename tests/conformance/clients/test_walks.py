"""What each resolver asks and reports, against tables typed in from the reference (resolvers, sections 4 and 9)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.clients.model import Answer, Kind, Lookup, ResolvConf, Want, World
from conformance.clients.toolbox import RESOLVERS
from conformance.clients.walks import expect
from tests.conformance.clients.sequences import FQDN, PAIR, POD, SEARCH, TWO, always, cluster, written

# Section 9: one search list, a right cluster DNS.


def worked_table() -> Iterator[tuple[str, str, str]]:
    """PROGRAM, NAME and CELL of every cell in both tables."""
    text = Path(__file__).with_name("worked_table.txt").read_text().replace("FQDN", FQDN)
    lines = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("#")]
    for programs, *cells in lines[1:]:
        for program in programs.split():
            yield from ((program, name, cell) for name, cell in zip(lines[0][1:], cells, strict=True))


@pytest.mark.parametrize(("program", "name", "cell"), list(worked_table()))
def test_the_worked_table(program: str, name: str, cell: str) -> None:
    resolver, _, want = program.partition(":")
    expected = expect(resolver, POD, Lookup(name, Want(want)), cluster)
    asked = written(expected, name, SEARCH)
    assert cell in {asked, str(expected.least)}


@pytest.mark.parametrize(
    ("resolver", "name", "want", "got"),
    [
        ("glibc", "web", Want.BOTH, "10.96.1.1"),
        ("glibc", "example.com", Want.BOTH, "192.0.2.80 2001:db8::80"),
        ("glibc", "web", Want.AAAA, "no-data"),
        ("glibc", "web.", Want.BOTH, "not-found"),
        ("glibc", "web", Want.SRV, f"{FQDN}."),
        ("node-lookup", "web", Want.AAAA, "not-found"),
        ("node-resolve", "web", Want.A, "not-found"),
        ("node-resolve", FQDN.upper(), Want.A, "10.96.1.1"),
        ("musl-1.2.3", "web", Want.AAAA, "not-found"),
        ("musl-1.2.5", "web", Want.AAAA, "no-data"),
        ("go", "web", Want.AAAA, "not-found"),
        ("c-ares", "web", Want.AAAA, "no-data"),
        ("c-ares", "a.b.c.d.e.f", Want.BOTH, "not-found"),
        ("dnspython", "web", Want.AAAA, "no-data"),
        ("dnspython", "a.b.c.d.e.f", Want.SRV, "not-found"),
        ("busybox", "web", Want.BOTH, "10.96.1.1"),
        ("busybox", "web.shop", Want.BOTH, "not-found"),
        ("dig", "web", Want.AAAA, "no-data"),
        ("host", "example.com", Want.BOTH, "192.0.2.80 2001:db8::80"),
        ("nslookup", "a.b.c.d.e.f", Want.BOTH, "not-found"),
    ],
)
def test_what_is_reported(resolver: str, name: str, want: Want, got: str) -> None:
    assert expect(resolver, POD, Lookup(name, want), cluster).got == got


def test_every_resolver_is_asked_for_what_it_can() -> None:
    for name, resolver in RESOLVERS.items():
        assert resolver.wants
        for want in resolver.wants:
            assert expect(name, POD, Lookup("web", want), cluster).waves


# Section 4: candidate 1 has the outcome, candidate 2 would answer, the name itself is denied.

COLUMNS = ("glibc", "musl-1.2.3", "musl-1.2.5", "go", "c-ares", "dnspython", "dig", "host")
OUTCOMES = {
    # A, AAAA: sequence > result
    "nxdomain nxdomain": """
        1aq 2aq > two | 1aq 2aq > two | 1aq 2aq > two | 1aq 2aq > two | 1aq 2aq > two
        1a 2a > two | 1a 2a > two | 1a 2aqm > two""",
    "nodata nodata": """
        1aq 2aq > two | 1aq > not-found | 1aq > no-data | 1aq 2aq > two | 1aq 2aq > two
        1a > no-data | 1a > no-data | 1aqm > no-data""",
    "lame lame": """
        1a2q2 Naq > not-found | 1aq > not-found | 1aq > no-data | 1aq 2aq > two | 1aq 2aq > two
        1a > no-data | 1a > no-data | 1aqm > no-data""",
    "servfail servfail": """
        1a2q2 2aq > two | 1a2-10q2-10 > try-again | 1a2-10q2-10 > try-again | 1a2q2 2aq > two | 1a2q2 > try-again
        1a > failed | 1a > try-again | 1a > try-again""",
    "refused refused": """
        1a2q2 Naq > not-found | 1a2q2 > try-again | 1a2q2 > try-again | 1a2q2 2aq > two | 1a2q2 > refused
        1a > failed | 1a > refused | 1a > refused""",
    "notimp notimp": """
        1a2q2 Naq > not-found | 1a2q2 > try-again | 1a2q2 > try-again | 1a2q2 2aq > two | 1a2q2 > refused
        1a > failed | 1a > refused | 1a > refused""",
    "formerr formerr": """
        1aq Naq > not-found | 1a2q2 > try-again | 1a2q2 > try-again | 1a2q2 2aq > two | 1a2q2 > refused
        1a > failed | 1a > refused | 1a > refused""",
    "timeout timeout": """
        1a2q2 Naq > not-found | 1a2q2 > try-again | 1a2q2 > try-again | 1a2q2 2aq > two | 1a2q2 > try-again
        1a4 > try-again | 1a2 > try-again | 1a2 > try-again""",
    "nxdomain servfail": """
        1aq 2aq > two | 1aq2-10 2aq > two | 1aq2-10 2aq > two | 1aq2 2aq > two | 1aq2 > try-again
        1a 2a > two | 1a 2a > two | 1a 2aqm > two""",
    "servfail nxdomain": """
        1aq 2aq > two | 1a2-10q > try-again | 1a2-10q > try-again | 1a2q 2aq > two | 1a2q > try-again
        1a > failed | 1a > try-again | 1a > try-again""",
    "nodata nxdomain": """
        1aq 2aq > two | 1aq 2aq > two | 1aq 2aq > two | 1aq 2aq > two | 1aq 2aq > two
        1a > no-data | 1a > no-data | 1aqm > not-found""",
    "answer nxdomain": """
        1aq > one | 1aq 2aq > two | 1aq 2aq > two | 1aq > one | 1aq > one
        1a > one | 1a > one | 1aqm > one""",
    "answer servfail": """
        1aq > one | 1aq2-10 > try-again | 1aq2-10 > try-again | 1aq2 > one | 1aq1-2 > one
        1a > one | 1a > one | 1aqm > one""",
    "answer refused": """
        1aq > one | 1aq2 > try-again | 1aq2 > try-again | 1aq2 > one | 1aq1-2 > one
        1a > one | 1a > one | 1aqm > one""",
    "answer timeout": """
        1a3q3 > one | 1aq2 > try-again | 1aq2 > try-again | 1aq2 > one | 1aq > one
        1a > one | 1a > one | 1aq2m > one""",
    "answer lame": """
        1aq > one | 1aq > one | 1aq > one | 1aq > one | 1aq > one
        1a > one | 1a > one | 1aqm > one""",
    "dangling dangling": """
        1aq > not-found | 1aq > not-found | 1aq > no-data | 1aq 2aq > two | 1aq 2aq > two
        1a > no-data | 1a > no-data | 1aqm > no-data""",
    "truncated nodata": """
        1aq 1AQ > one | 1aq > not-found | 1aq 1A > one | 1a 1A 1q > one | 1aq 1A > one
        1a 1A > one | 1a 1A > one | 1a 1AQM > one""",
}
FOUND = {"one.test.": "one", "two.test.": "two"}


def outcome(first: Kind, second: Kind) -> World:
    """Candidate 1 has these kinds for A and for AAAA, candidate 2 an address."""

    def answer(name: str, qtype: str) -> Answer:
        found = FOUND.get(name.removeprefix("web."), "")
        kind = {"A": first, "AAAA": second}.get(qtype, Kind.NODATA)
        if found != "one":
            kind = Kind.NXDOMAIN if not found else Kind.ANSWER if qtype == "A" else Kind.NODATA
        return Answer(kind, (found,) if kind in {Kind.ANSWER, Kind.TRUNCATED} else ())

    return answer


def outcomes() -> Iterator[tuple[str, str, str]]:
    """OUTCOME, RESOLVER and CELL of the whole table."""
    for kinds, text in OUTCOMES.items():
        cells = [cell.strip() for line in text.strip().splitlines() for cell in line.split("|")]
        yield from ((kinds, resolver, cell) for resolver, cell in zip(COLUMNS, cells, strict=True))


@pytest.mark.parametrize(("kinds", "resolver", "cell"), list(outcomes()))
def test_what_stops_the_walk(kinds: str, resolver: str, cell: str) -> None:
    want = Want.A if resolver in {"dig", "dnspython"} else Want.BOTH
    expected = expect(resolver, TWO, Lookup("web", want), outcome(*map(Kind, kinds.split())))
    assert f"{written(expected, 'web', PAIR)} > {expected.got}" == cell


@pytest.mark.parametrize(
    ("kind", "resolver", "cell"),
    [
        (Kind.NODATA, "glibc", "1aq 2aq Naq > no-data"),
        (Kind.NODATA, "musl-1.2.5", "1aq > no-data"),
        (Kind.NODATA, "go", "1aq 2aq Naq > not-found"),
        (Kind.NODATA, "c-ares", "1aq 2aq Naq > no-data"),
        (Kind.SERVFAIL, "glibc", "1a2q2 2a2q2 Na2q2 > try-again"),
        (Kind.SERVFAIL, "go", "1a2q2 2a2q2 Na2q2 > try-again"),
        (Kind.TIMEOUT, "glibc", "1a2q2 Na2q2 > try-again"),
        (Kind.TIMEOUT, "busybox", "1a2 2a2 1q2 2q2 > try-again"),
        (Kind.SERVFAIL, "busybox", "1a1-9 2a1-9 1q1-9 2q1-9 > try-again"),
        (Kind.REFUSED, "busybox", "1a 2a 1q 2q > refused"),
        (Kind.REFUSED, "c-ares", "1a2q2 > refused"),
        (Kind.TIMEOUT, "nslookup", "1a2 > try-again"),
        (Kind.TIMEOUT, "host", "1a2 > try-again"),
    ],
)
def test_a_server_with_one_answer_for_all(kind: Kind, resolver: str, cell: str) -> None:
    expected = expect(resolver, TWO, Lookup("web"), always(kind))
    assert f"{written(expected, 'web', PAIR)} > {expected.got}" == cell


@pytest.mark.parametrize(
    ("kind", "cell"),
    [(Kind.TIMEOUT, "Na4 > try-again"), (Kind.SERVFAIL, "Na > try-again"), (Kind.REFUSED, "Na > refused")],
)
def test_node_resolve_takes_the_first_reply(kind: Kind, cell: str) -> None:
    expected = expect("node-resolve", TWO, Lookup("web", Want.A), always(kind))
    assert f"{written(expected, 'web', PAIR)} > {expected.got}" == cell


@pytest.mark.parametrize(
    ("resolver", "cell"),
    [
        ("glibc", "1aq 2aq Na2q2 > try-again"),
        ("musl-1.2.5", "1aq 2aq Na2q2 > try-again"),
        ("go", "1aq 2aq Na2q2 > refused"),
        ("c-ares", "1aq 2aq Na2q2 > refused"),
    ],
)
def test_a_server_that_does_not_forward(resolver: str, cell: str) -> None:
    """The cluster's names are denied, the name as typed is refused."""

    def answer(name: str, qtype: str) -> Answer:
        return Answer(Kind.REFUSED if name == "web." else Kind.NXDOMAIN)

    expected = expect(resolver, TWO, Lookup("web"), answer)
    assert f"{written(expected, 'web', PAIR)} > {expected.got}" == cell


@pytest.mark.parametrize(
    ("kind", "want", "cell"),
    [
        (Kind.SERVFAIL, Want.BOTH, "Na2q2 1aq 2aq > no-data"),
        (Kind.REFUSED, Want.SRV, "Ns2 1s 2s > no-data"),
        (Kind.TIMEOUT, Want.BOTH, "Na2q2 > try-again"),
        (Kind.NOTIMP, Want.BOTH, "Na2q2 > refused"),
    ],
)
def test_cares_passes_over_two_errors_of_a_single_label(kind: Kind, want: Want, cell: str) -> None:
    def answer(name: str, qtype: str) -> Answer:
        return Answer(kind if name == "web." else Kind.NODATA)

    expected = expect(
        "c-ares", ResolvConf(("192.0.2.53",), PAIR, ("ndots:0", "attempts:2")), Lookup("web", want), answer
    )
    assert f"{written(expected, 'web', PAIR)} > {expected.got}" == cell


@pytest.mark.parametrize(("want", "got"), [(Want.BOTH, "no-data"), (Want.SRV, "try-again")])
def test_cares_remembers_that_a_name_was_there(want: Want, got: str) -> None:
    def answer(name: str, qtype: str) -> Answer:
        return Answer(Kind.SERVFAIL if name == "web." else Kind.NODATA)

    assert expect("c-ares", TWO, Lookup("web", want), answer).got == got


def test_glibc_asks_one_after_the_other_once_a_reply_was_missing() -> None:
    def answer(name: str, qtype: str) -> Answer:
        return Answer(Kind.NXDOMAIN if qtype == "A" else Kind.TIMEOUT)

    expected = expect("glibc", TWO, Lookup("web"), answer)
    assert f"{written(expected, 'web', PAIR)} > {expected.got}" == "1a3q3 2aq Naq > not-found"

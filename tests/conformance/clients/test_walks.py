"""What each resolver asks and reports, against tables typed in from the reference (resolvers, sections 4 and 9).

In a sequence, 1, 2 and 3 are the candidates that the search list makes, N is the name as typed; a, q, s and m are the
types A, AAAA, SRV and MX, over TCP in upper case. `a2` is sent twice, `a2-10` two to ten times.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from conformance.clients.model import Answer, Kind, Lookup, ResolvConf, Want, World
from conformance.clients.walks import RESOLVERS, Expectation, Question, Wave, expect
from conformance.clients.walks.dnspython import tries
from conformance.results import Heard

LETTERS = {"A": "a", "AAAA": "q", "SRV": "s", "MX": "m"}


def written(expected: Expectation, name: str, search: Sequence[str]) -> str:
    """The sequence of an expectation."""
    places = {f"{name}.{domain}.": str(place) for place, domain in enumerate(search, 1)} | {
        f"{name.removesuffix('.')}.": "N"
    }
    questions = [question for wave in expected.waves for question in wave.questions]
    groups = groupby(questions, key=lambda question: (question.name, question.transport))
    return " ".join(places[name] + "".join(map(_letter, group)) for (name, _), group in groups)


def _letter(question: Question) -> str:
    letter = LETTERS[question.qtype] if question.transport == "udp" else LETTERS[question.qtype].upper()
    if question.least != question.most:
        return f"{letter}{question.least}-{question.most}"
    return letter if question.least == 1 else f"{letter}{question.least}"


# Section 9: one search list, a right cluster DNS.

SEARCH = ("shop.svc.cluster.local", "svc.cluster.local", "cluster.local")
POD = ResolvConf(("10.96.0.10",), SEARCH, ("ndots:5",))
FQDN = "web.shop.svc.cluster.local"
RECORDS = {
    (f"{FQDN}.", "A"): "10.96.1.1",
    (f"{FQDN}.", "SRV"): f"{FQDN}.",
    (f"_http._tcp.{FQDN}.", "A"): "10.96.1.1",
    (f"_http._tcp.{FQDN}.", "SRV"): f"{FQDN}.",
    ("example.com.", "A"): "192.0.2.80",
    ("example.com.", "AAAA"): "2001:db8::80",
    ("www.example.com.", "A"): "192.0.2.81",
    ("www.example.com.", "AAAA"): "2001:db8::81",
}


def cluster(name: str, qtype: str) -> Answer:
    """Denies what it does not know."""
    if (name, qtype) in RECORDS:
        return Answer(Kind.ANSWER, (RECORDS[name, qtype],))
    return Answer(Kind.NODATA if any(name == known for known, _ in RECORDS) else Kind.NXDOMAIN)


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


# Section 4: candidate 1 has the outcome, candidate 2 would answer, the name itself is denied.

PAIR = ("one.test", "two.test")
TWO = ResolvConf(("192.0.2.53",), PAIR, ("ndots:5", "timeout:1", "attempts:2"))
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


def always(kind: Kind) -> World:
    return lambda name, qtype: Answer(kind)


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


# Section 5: how often a question is sent when nothing answers.


@pytest.mark.parametrize(
    ("resolver", "servers", "options", "times"),
    [
        ("glibc", 1, "", 2),
        ("glibc", 2, "", 4),
        ("glibc", 3, "", 6),
        ("glibc", 5, "", 6),
        ("glibc", 1, "attempts:7", 5),
        ("musl-1.2.5", 1, "", 2),
        ("musl-1.2.5", 2, "", 4),
        ("go", 1, "", 2),
        ("go", 3, "", 6),
        ("go", 1, "attempts:7", 7),
        ("c-ares", 1, "", 3),
        ("c-ares", 2, "", 6),
        ("c-ares", 1, "attempts:3", 3),
        ("node-resolve", 1, "attempts:2", 4),
        ("dnspython", 1, "", 3),
        ("busybox", 1, "attempts:5", 2),
        ("busybox", 4, "", 8),
        ("dig", 1, "", 3),
        ("dig", 2, "", 4),
        ("nslookup", 3, "", 5),
        ("host", 1, "attempts:5", 2),
    ],
)
def test_how_often_a_silent_server_is_asked(resolver: str, servers: int, options: str, times: int) -> None:
    conf = ResolvConf(tuple(f"192.0.2.{number}" for number in range(servers)), (), tuple(options.split()))
    (wave,) = expect(resolver, conf, Lookup("web.", Want.A), always(Kind.TIMEOUT)).waves
    assert wave.questions == (Question("web.", "A", "udp", times, times),)


@pytest.mark.parametrize(
    ("options", "least", "most"),
    [
        ("timeout:1 attempts:1", 1, 1),
        ("timeout:1 attempts:2", 2, 2),
        ("timeout:1 attempts:3", 3, 4),  # every 333 ms
        ("timeout:3 attempts:3", 3, 3),
        ("attempts:3", 3, 4),  # every 1666 ms
        ("timeout:90 attempts:12", 10, 10),
    ],
)
def test_how_often_musl_asks_a_silent_server(options: str, least: int, most: int) -> None:
    conf = ResolvConf(("192.0.2.53",), (), tuple(options.split()))
    (wave,) = expect("musl-1.2.3", conf, Lookup("web.", Want.A), always(Kind.TIMEOUT)).waves
    assert wave.questions == (Question("web.", "A", "udp", least, most),)


@pytest.mark.parametrize(
    ("resolver", "kind", "recursion", "times"),
    [
        ("host", Kind.NXDOMAIN, True, 1),
        ("host", Kind.NXDOMAIN, False, 3),
        ("host", Kind.ANSWER, False, 3),
        ("nslookup", Kind.REFUSED, True, 1),
        ("nslookup", Kind.REFUSED, False, 3),
        ("nslookup", Kind.SERVFAIL, True, 3),
        ("nslookup", Kind.LAME, True, 3),
        ("dig", Kind.SERVFAIL, False, 1),
        ("dig", Kind.REFUSED, False, 1),
        ("glibc", Kind.SERVFAIL, True, 6),
        ("glibc", Kind.NXDOMAIN, False, 1),
        ("dnspython", Kind.SERVFAIL, True, 3),
        ("node-resolve", Kind.SERVFAIL, True, 1),
        ("busybox", Kind.REFUSED, True, 1),
    ],
)
def test_which_replies_lead_to_the_next_server(resolver: str, kind: Kind, recursion: bool, times: int) -> None:
    conf = ResolvConf(("192.0.2.1", "192.0.2.2", "192.0.2.3"))
    reply = Answer(kind, ("a",) if kind is Kind.ANSWER else (), recursion=recursion)
    (wave,) = expect(resolver, conf, Lookup("web.", Want.A), lambda name, qtype: reply).waves
    assert wave.questions == (Question("web.", "A", "udp", times, times),)


@pytest.mark.parametrize(("timeout", "servers", "times"), [(1, 1, 4), (2, 1, 3), (5, 1, 1), (1, 2, 5), (2, 3, 3)])
def test_dnspython_stops_after_five_seconds(timeout: int, servers: int, times: int) -> None:
    assert tries(timeout, servers) == times


# Section 3: who takes how much over UDP.


@pytest.mark.parametrize(
    ("resolver", "options", "most"),
    [
        ("glibc", "", 512),
        ("glibc", "edns0", 1200),
        ("musl-1.2.5", "", 512),
        ("go", "", 1232),
        ("c-ares", "", 1232),
        ("node-resolve", "", 512),
        ("dnspython", "", 512),
        ("dnspython", "edns0", 1232),
        ("dig", "", 1232),
        ("host", "", 512),
        ("nslookup", "", 512),
    ],
)
def test_a_reply_too_large_for_udp(resolver: str, options: str, most: int) -> None:
    conf = ResolvConf(("192.0.2.53",), (), tuple(options.split()))

    def asked(size: int) -> list[str]:
        expected = expect(
            resolver, conf, Lookup("web.", Want.A), lambda name, qtype: Answer(Kind.ANSWER, ("a",), size=size)
        )
        assert expected.got == "a"
        return [question.transport for wave in expected.waves for question in wave.questions]

    assert asked(most) == ["udp"]
    assert asked(most + 1) == ["udp", "tcp"]


def test_an_alias_is_what_further_types_are_asked_of() -> None:
    def answer(name: str, qtype: str) -> Answer:
        return Answer(Kind.ANSWER, ("192.0.2.1",), alias="real.test.") if qtype == "A" else Answer(Kind.NODATA)

    waves = expect("host", TWO, Lookup("web."), answer).waves
    assert [wave.questions[0].name for wave in waves] == ["web.", "real.test.", "real.test."]


@pytest.mark.parametrize(("resolver", "asked"), [("c-ares", ["web.good.test."]), ("dnspython", [])])
def test_a_candidate_too_long_for_a_name_fails(resolver: str, asked: list[str]) -> None:
    conf = ResolvConf(("192.0.2.53",), ("good.test", ".".join(["x" * 60] * 5)), ())
    expected = expect(resolver, conf, Lookup("web", Want.A), cluster)
    assert [wave.questions[0].name for wave in expected.waves] == asked
    assert expected.got == "failed"


def test_busybox_cannot_send_the_root_among_others() -> None:
    expected = expect("busybox", ResolvConf(("192.0.2.53",), ("one.test", ".", "two.test")), Lookup("web"), cluster)
    assert written(expected, "web", PAIR) == "1a"
    assert expected.got == "try-again"


def test_a_domain_listed_twice_is_asked_twice() -> None:
    twice = ResolvConf(("192.0.2.53",), ("one.test", "one.test"))
    sequences = {name: written(expect(name, twice, Lookup("web", Want.A), cluster), "web", PAIR) for name in RESOLVERS}
    assert {name for name, sequence in sequences.items() if sequence == "1a Na"} == {"c-ares"}
    assert sequences["glibc"] == sequences["go"] == "1aa Na"
    assert sequences["busybox"] == "1a2"


@pytest.mark.parametrize(
    ("resolver", "failing", "last", "got"),
    [
        ("glibc", Kind.REFUSED, Kind.NXDOMAIN, "not-found"),
        ("python", Kind.SERVFAIL, Kind.NXDOMAIN, "not-found"),
        ("node-lookup", Kind.TIMEOUT, Kind.NXDOMAIN, "not-found"),
        ("java", Kind.REFUSED, Kind.NXDOMAIN, "try-again"),
        ("glibc", Kind.REFUSED, Kind.SERVFAIL, "try-again"),
        ("glibc", Kind.NODATA, Kind.NXDOMAIN, "no-data"),
    ],
)
def test_for_a_alone_glibc_forgets_a_failure_of_the_name_itself(
    resolver: str, failing: Kind, last: Kind, got: str
) -> None:
    def answer(name: str, qtype: str) -> Answer:
        return Answer(failing if name == "web.shop." else last)

    assert expect(resolver, ResolvConf(("192.0.2.53",), PAIR), Lookup("web.shop", Want.A), answer).got == got


@pytest.mark.parametrize(("addresses", "times"), [(25, 1), (26, 2), (45, 2), (50, 2), (51, 3)])
def test_glibc_walks_again_when_its_buffer_is_too_small(addresses: int, times: int) -> None:
    """40 octets for each address and the name into 1024, then into 2048 and so on."""
    found = tuple(f"192.0.2.{number}" for number in range(addresses))

    def answer(name: str, qtype: str) -> Answer:
        if qtype == "AAAA" or "two" not in name:
            return Answer(Kind.NXDOMAIN if "one" in name else Kind.NODATA)
        return Answer(Kind.ANSWER, found)

    both, alone = (expect("glibc", TWO, Lookup("web", want), answer) for want in (Want.BOTH, Want.A))
    assert written(both, "web", PAIR) == " ".join(["1aq 2aq"] * times)
    assert written(alone, "web", PAIR) == "1a 2a"


# Expectation.faults: questions on the wire against waves.

A, Q = Question("web.", "A", least=1, most=2), Question("web.", "AAAA")
WAVES = (Wave((A, Q)), Wave((Question("b.", "A"), Question("b.", "AAAA")), ordered=False))


def wire(text: str) -> list[Heard]:
    """`web:A` over UDP, `web:A/tcp` over TCP."""
    found = (word.partition("/")[0::2] for word in text.split())
    return [Heard(0.0, f"{asked.partition(':')[0]}.", asked.partition(":")[2], how or "udp") for asked, how in found]


@pytest.mark.parametrize(
    ("asked", "faults"),
    [
        ("web:A web:AAAA b:A b:AAAA", []),
        ("web:A web:AAAA web:A b:AAAA b:A", []),
        ("web:AAAA web:A b:A b:AAAA", ["in this order: web. A udp, web. AAAA udp; seen: web. AAAA udp, web. A udp"]),
        ("web:A b:A b:AAAA", ["expected: web. AAAA udp, seen 0 times"]),
        ("web:A web:AAAA b:A b:AAAA b:A", ["not expected: b. A udp"]),
        ("web:A web:AAAA b:A b:AAAA/tcp", ["expected: b. AAAA udp, seen 0 times", "not expected: b. AAAA tcp"]),
        ("", ["expected: web. A udp 1 to 2 times", "web. AAAA udp", "b. A udp", "b. AAAA udp"]),
    ],
)
def test_how_questions_depart_from_the_waves(asked: str, faults: list[str]) -> None:
    found = Expectation(WAVES, "").faults(wire(asked))
    assert len(found) == len(faults)
    assert all(part in fault for part, fault in zip(faults, found, strict=True))


def test_resends_are_shared() -> None:
    wave = Wave((Question("web.", "A", most=5), Question("web.", "AAAA", most=5)), resends=4)
    assert not Expectation((wave,), "").faults(wire("web:A web:AAAA" + " web:A" * 4))
    assert Expectation((wave,), "").faults(wire("web:A web:AAAA" + " web:A" * 3 + " web:AAAA" * 2)) == (
        "not expected: web. AAAA udp",
    )


def test_every_resolver_is_asked_for_what_it_can() -> None:
    wants: Mapping[str, set[Want]] = {name: set(resolver.can) for name, resolver in RESOLVERS.items()}
    assert all(wants.values())
    for name, can in wants.items():
        for want in can:
            assert expect(name, POD, Lookup("web", want), cluster).waves

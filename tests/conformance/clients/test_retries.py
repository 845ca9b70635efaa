"""How often a question is sent, and what is peculiar to one resolver (reference: resolvers, sections 3, 5 and 7)."""

import pytest

from conformance.clients.model import Answer, Kind, Lookup, ResolvConf, Want
from conformance.clients.walks import MODELS, Question, expect
from conformance.clients.walks.dnspython import tries
from tests.conformance.clients.sequences import PAIR, TWO, always, cluster, written

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


# What was seen on the wire, or is in one resolver's source.


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
    sequences = {name: written(expect(name, twice, Lookup("web", Want.A), cluster), "web", PAIR) for name in MODELS}
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


def test_use_vc_asks_over_tcp_alone() -> None:
    """Also what does not fit into a datagram: nothing was asked over UDP before."""
    conf = ResolvConf(("192.0.2.53",), (), ("use-vc",))
    expected = expect("glibc", conf, Lookup("web."), lambda name, qtype: Answer(Kind.TRUNCATED, ("192.0.2.1",)))
    (wave,) = expected.waves
    assert wave.questions == (Question("web.", "A", "tcp"), Question("web.", "AAAA", "tcp"))
    assert expected.got == "192.0.2.1"


def test_musl_asks_two_servers_at_once() -> None:
    conf = ResolvConf(("192.0.2.53", "192.0.2.54"), (), ("rotate", "use-vc"))
    (wave,) = expect("musl-1.2.5", conf, Lookup("web.", Want.A), always(Kind.NODATA)).waves
    assert wave.questions == (Question("web.", "A", "udp", 2, 2),)

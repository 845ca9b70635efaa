"""What counts as a difference between two replies."""

import pytest

from conformance.wire import compare as module
from conformance.wire.compare import compare, tells_own_address
from conformance.wire.message import Edns, Reply, parse_record


def reply(*answer: str, rcode: str = "NOERROR", flags: str = "qr aa rd", opt: Edns | None = None) -> Reply:
    records = tuple(map(parse_record, answer))
    return Reply(rcode, frozenset(flags.split()), question="a. IN A", answer=records, opt=opt)


ONE, TWO = "a. 5 A 10.0.0.1", "a. 5 A 10.0.0.2"
CNAME = "b. 5 CNAME a."
SOA = "z. 5 SOA ns.z. admin.z. {} 7200 1800 86400 5"


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        (reply(ONE), reply(ONE)),
        (reply(ONE, TWO), reply(TWO, ONE)),
        (reply(CNAME, ONE, TWO), reply(CNAME, TWO, ONE)),
        (reply(SOA.format(1)), reply(SOA.format(1700000000))),
    ],
    ids=["same", "shuffled", "shuffled behind a CNAME", "serial"],
)
def test_equal(wanted: Reply, got: Reply) -> None:
    assert compare(wanted, got) == []


@pytest.mark.parametrize(
    ("wanted", "got", "part"),
    [
        (reply(), reply(rcode="NXDOMAIN"), "rcode"),
        (reply(), reply(flags="qr rd"), "flags"),
        (reply(ONE), reply(), "answer"),
        (reply(ONE), reply(ONE, ONE), "answer"),
        (reply(ONE), reply("a. 6 A 10.0.0.1"), "answer"),
        (reply(ONE), reply("A. 5 A 10.0.0.1"), "answer"),
        (reply(CNAME, ONE), reply(ONE, CNAME), "answer"),
        (reply(SOA.format(1)), reply(SOA.format(1).replace("7200", "7201")), "answer"),
        (reply(), reply(opt=Edns(1232)), "opt"),
        (reply(opt=Edns(1232)), reply(opt=Edns(1232, options=("10:00",))), "opt"),
    ],
)
def test_different(wanted: Reply, got: Reply, part: str) -> None:
    assert [mismatch.part for mismatch in compare(wanted, got)] == [part]


def test_exact_order_is_compared_where_a_case_says_so() -> None:
    assert [m.part for m in compare(reply(ONE, TWO), reply(TWO, ONE), order="exact")] == ["answer"]


def test_slack_is_for_ttls_alone() -> None:
    assert compare(reply(ONE), reply("a. 4 A 10.0.0.1"), slack=1) == []
    assert compare(reply(ONE), reply("a. 3 A 10.0.0.1"), slack=1) != []
    assert compare(reply(ONE), reply(TWO), slack=1) != []


def test_own_addresses_are_one_placeholder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOCAL", frozenset({"192.0.2.9", "192.0.2.10", "fe80::1"}))
    got = reply("ns.dns.z. 5 A 192.0.2.9", "ns.dns.z. 5 A 192.0.2.10", "ns.dns.z. 5 AAAA fe80::1")
    assert compare(reply("ns.dns.z. 5 A 0.0.0.0"), got) == []
    assert compare(reply("a. 5 A 0.0.0.0"), reply("a. 5 A 192.0.2.9")) != []


@pytest.mark.parametrize(
    ("record", "own"),
    [("ns.dns.z. 5 A 0.0.0.0", True), ("web.z. 5 A 0.0.0.0", False), ("ns.dns.z. 5 A 10.0.0.1", False)],
)
def test_a_reply_that_only_a_machine_with_an_address_of_its_own_gives(record: str, own: bool) -> None:
    assert tells_own_address(reply(record)) is own

"""What is said of replies that hold, and of those that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.spec.demand import Demand, Judgement, judge, question
from conformance.spec.wants import (
    Beside,
    Cut,
    Deniable,
    Denied,
    Echoed,
    Empty,
    Extended,
    Got,
    Holds,
    Lacks,
    Leads,
    OneTtl,
    Only,
    Want,
    datum,
)
from conformance.wire.message import TIMEOUT, Edns, Reply, parse_record

NAME = "web.shop.svc.cluster.local."
OWN = frozenset({datum(NAME, "A", "10.96.0.1"), datum(NAME, "A", "10.96.0.2")})


def reply(*records: str, rcode: str = "NOERROR", flags: str = "qr aa rd", section: str = "answer") -> Reply:
    found = Reply(rcode, frozenset(flags.split()), question=f"{NAME} IN A")
    return found.with_sections({section: map(parse_record, records)})


A1, A2 = f"{NAME} 30 A 10.96.0.1", f"{NAME} 30 A 10.96.0.2"
SRV = f"_http._tcp.{NAME} 30 SRV 0 100 80 a.{NAME}"
SOA = "cluster.local. 30 SOA ns.dns.cluster.local. hostmaster.cluster.local. 1 7200 1800 86400 30"


@pytest.mark.parametrize(
    ("want", "got", "faults"),
    [
        (Holds(OWN), reply(A1, A2), []),
        (Holds(OWN), reply(A2, A1.replace("web", "WEB"), f"{NAME} 5 A 10.96.0.3"), []),
        (Holds(OWN), reply(A1), [f"missing {NAME} A 10.96.0.2 (answered: {NAME} A 10.96.0.1)"]),
        (Holds(OWN), reply(rcode="REFUSED"), [f"REFUSED, wanted {NAME} A 10.96.0.1 | {NAME} A 10.96.0.2"]),
        (Holds(frozenset(), OWN), reply(A1), [f"must not be there: {NAME} A 10.96.0.1"]),
        (Holds(frozenset({datum(f"_http._tcp.{NAME}", "SRV", f"80 A.{NAME}")})), reply(SRV), []),
        (Holds(OWN), reply(A1, A2, flags="qr aa rd tc"), ["TC is set, and nothing is missing"]),
        (Empty(), reply(flags="qr aa rd tc"), ["TC is set, and nothing is missing"]),
        (Denied(), reply(rcode="NXDOMAIN", flags="qr aa rd tc"), ["TC is set, and nothing is missing"]),
        (Only("A", OWN), reply(A1), []),
        (Only("A", frozenset()), reply(A1), [f"besides nothing: {NAME} A 10.96.0.1"]),
        (Only("SRV", frozenset()), reply(rcode="NXDOMAIN"), []),
        (Lacks(OWN), reply(A1), [f"must not be there: {NAME} A 10.96.0.1"]),
        (Lacks(OWN), reply(rcode="NXDOMAIN"), []),
        (Leads(NAME, frozenset({80})), reply(SRV), []),
        (Leads(NAME, frozenset({81})), reply(SRV), [f"SRV 80 a.{NAME} leads elsewhere"]),
        (Leads("other.", frozenset({80})), reply(SRV), [f"SRV 80 a.{NAME} leads elsewhere"]),
        (Leads(NAME, frozenset({80})), reply(), ["NOERROR without SRV"]),
        (Denied(), reply(rcode="NXDOMAIN"), []),
        (Denied(), reply(), ["NOERROR, wanted NXDOMAIN"]),
        (Empty(), reply(), []),
        (Empty(), reply(A1), [f"NOERROR with {NAME} A 10.96.0.1, wanted NODATA"]),
        (Empty(), reply(rcode="NXDOMAIN"), ["NXDOMAIN, wanted NODATA"]),
        (Beside(frozenset({"10.96.0.1"})), reply(), []),
        (Beside(frozenset({"10.96.0.1"})), reply(A1, section="additional"), []),
        (
            Beside(frozenset({"10.96.0.1"})),
            reply(A2, section="additional"),
            [f"wrong in the additional section: {NAME} A 10.96.0.2"],
        ),
        (Deniable(flags=True), reply(flags="qr ra"), []),
        (Deniable(flags=True), reply(flags="qr rd"), ["neither AA nor RA"]),
        (Deniable(soa=True), reply(SOA, section="authority"), []),
        (Deniable(soa=True), reply(), ["no SOA in the authority section"]),
        (Cut(512), reply(flags="qr tc"), []),
        (Cut(50), reply(), ["TC is not set", "60 octets, wanted at most 50"]),
        (Echoed(f"{NAME} IN A"), reply(), []),
        (Echoed(f"{NAME.upper()} IN A"), reply(), [f"the question came back as '{NAME} IN A'"]),
        (Echoed(f"{NAME} IN A", recursion=False), reply(), ["RD is not as it was sent"]),
        (Extended(True), replace(reply(), opt=Edns(1232)), []),
        (Extended(True), reply(), ["OPT is missing, wanted version 0"]),
        (Extended(False), replace(reply(), opt=Edns(1232)), ["OPT (udp=1232) without being asked"]),
        (OneTtl(), reply(A1, A2), []),
        (OneTtl(), reply(A1, A2.replace(" 30 ", " 5 ")), [f"{NAME} A has the TTLs [5, 30]"]),
    ],
)
def test_wants(want: Want, got: Reply, faults: list[str]) -> None:
    assert want.faults(Got(got, 60)) == faults


DEMAND = Demand("area", question(NAME, "A"), ("R1",), Empty(), "some-departure", Denied())


@pytest.mark.parametrize(
    ("got", "judgement"),
    [
        (reply(), Judgement()),
        (reply(rcode="NXDOMAIN"), Judgement(departure="some-departure")),
        (reply(rcode="REFUSED"), Judgement(("REFUSED, wanted NODATA",))),
        (reply(flags="aa"), Judgement(("the reply is no response to a query",))),
        (replace(reply(), question="other. IN A"), Judgement(("the reply is about 'other. IN A'",))),
        (replace(reply(), question=f"{NAME.upper()} IN A"), Judgement()),
        (TIMEOUT, Judgement(("no reply in 4 s",))),
        (Reply("MALFORMED", question="cut"), Judgement(("not a DNS message: cut",))),
    ],
)
def test_a_reply_follows_the_specification_or_departs_as_is_known(got: Reply, judgement: Judgement) -> None:
    assert judge(DEMAND, Got(got)) == judgement

"""Areas asked of scripted servers, and what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from conformance.results import Outcome, Verdict
from conformance.setting import Absent
from conformance.spec.demand import Demand, question
from conformance.spec.ground import SILENCES, Ground, GroundError, Server
from conformance.spec.judging import judge_area
from conformance.spec.settled import settle
from conformance.spec.wants import Denied, Empty, Holds, Leads, datum
from conformance.wire.message import Reply, encode, parse_record
from conformance.wire.question import Question

NAME = "web.shop.svc.cluster.local."
A = f"{NAME} 30 A 10.96.0.1"

Answers = Mapping[str, Reply | None]
"""Replies by `NAME TYPE`, NXDOMAIN for all others."""


def answer(*records: str, rcode: str = "NOERROR", flags: str = "qr aa rd") -> Reply:
    return Reply(rcode, frozenset(flags.split()), answer=tuple(map(parse_record, records)))


@dataclass
class Scripted:
    """A way to a server that says what it is told."""

    answers: Answers
    asked: list[str] = field(default_factory=list)

    async def ask(self, question: Question) -> bytes | None:
        asked = f"{question.name} {question.qtype}"
        self.asked.append(asked)
        reply = self.answers.get(asked, answer(rcode="NXDOMAIN"))
        return encode(reply, question.ident, question.wire()[12:]) if reply else None


SRV = question(f"_http._tcp.{NAME}", "SRV")
DEMANDS = [
    Demand("area", question(NAME, "A"), ("R3",), Holds(frozenset({datum(NAME, "A", "10.96.0.1")}))),
    Demand("area", question(NAME, "MX"), ("X11",), Empty(), "some-departure", Denied()),
]
FOLLOWING = Demand("area", SRV, ("R16",), Leads(NAME, frozenset({80})), follow=frozenset({"192.0.2.1", "192.0.2.2"}))


async def judged(demands: list[Demand], alike: bool = True, **servers: Answers) -> list[Verdict]:
    outcome = Outcome("spec/area")
    ground = Ground([Server(name, Scripted(answers)) for name, answers in servers.items()], demands, alike=alike)
    await judge_area(ground, "area", outcome)
    return outcome.verdicts


GOOD: Answers = {f"{NAME} A": answer(A)}


@pytest.mark.parametrize(
    ("got", "fault"),
    [
        (answer(A), None),
        (answer(rcode="REFUSED"), f"REFUSED, wanted {NAME} A 10.96.0.1"),
        (answer(), f"missing {NAME} A 10.96.0.1 (answered: nothing)"),
        (None, "no reply in 4 s"),
    ],
)
async def test_a_server_that_breaks_the_specification_fails(got: Reply | None, fault: str | None) -> None:
    (verdict,) = await judged(DEMANDS[:1], server={f"{NAME} A": got})
    assert verdict.faults == {"server": (fault,) if fault else ()}
    assert verdict.tags == ("R3",)


async def test_a_server_departs_as_coredns_does_or_follows_the_specification() -> None:
    follows = {**GOOD, f"{NAME} MX": answer()}
    for answers, departures in ((GOOD, {"server": ("some-departure",)}), (follows, {})):
        _, verdict = await judged(DEMANDS, server=answers)
        assert (verdict.faults, verdict.departures) == ({"server": ()}, departures)


async def test_a_departure_that_coredns_does_not_show_any_more_is_a_fault_of_the_list() -> None:
    follows = {**GOOD, f"{NAME} MX": answer()}
    _, verdict = await judged(DEMANDS, coredns=follows, pydns=follows)
    assert verdict.faults == {
        "coredns": ("does not show the departure some-departure any more: take it off the list",),
        "pydns": (),
    }


async def test_whole_replies_are_compared_with_those_of_coredns() -> None:
    other = {f"{NAME} A": answer(A, flags="qr rd")}
    (verdict,) = await judged(DEMANDS[:1], coredns=GOOD, pydns=other)
    difference = "otherwise than CoreDNS: flags: wanted aa qr rd, got qr rd"
    assert verdict.faults == {"coredns": (), "pydns": (difference,)}
    (verdict,) = await judged(DEMANDS[:1], alike=False, coredns=GOOD, server=other)
    assert (verdict.faults, verdict.notes) == ({"coredns": (), "server": ()}, (difference,))


async def test_ttls_of_a_server_elsewhere_are_its_own() -> None:
    other = {f"{NAME} A": answer(A.replace(" 30 ", " 3600 "))}
    (verdict,) = await judged(DEMANDS[:1], alike=False, coredns=GOOD, server=other)
    assert verdict.notes == ()


async def test_a_question_of_several_demands_is_asked_once() -> None:
    asker = Scripted(GOOD)
    ground = Ground([Server("server", asker)], [DEMANDS[0], replace(DEMANDS[0], tags=("X9",))])
    await judge_area(ground, "area", Outcome("spec/area"))
    assert asker.asked == [f"{NAME} A"]


@pytest.mark.parametrize(("second", "faults"), [("192.0.2.2", ()), ("192.0.2.9", ("no target leads to 192.0.2.2",))])
async def test_targets_that_the_server_names_must_lead_to_the_endpoints(second: str, faults: tuple[str, ...]) -> None:
    owner = f"_http._tcp.{NAME}"
    answers = {
        f"{owner} SRV": answer(f"{owner} 30 SRV 0 50 80 x.{NAME}", f"{owner} 30 SRV 0 50 80 y.{NAME}"),
        f"x.{NAME} A": answer(f"x.{NAME} 30 A 192.0.2.1"),
        f"y.{NAME} A": answer(f"y.{NAME} 30 A {second}"),
    }
    (verdict,) = await judged([FOLLOWING], server=answers)
    assert tuple(text.partition(" (")[0] for text in verdict.faults["server"]) == faults


@pytest.mark.parametrize(
    ("area", "message"),
    [
        ("headless", "this cluster has no headless Services"),
        ("clusterip", "this cluster has no Services with a ClusterIP"),
        ("externalname", "this cluster has no ExternalName Services"),
        ("resolvers", "this cluster has no objects that it is about"),
    ],
)
async def test_an_area_without_objects_says_so(area: str, message: str) -> None:
    with pytest.raises(Absent, match=f"^{message}$"):
        await judge_area(Ground([], []), area, Outcome(f"spec/{area}"))


async def test_a_server_that_loses_questions_is_asked_again() -> None:
    asker = Scripted({f"{NAME} A": None})
    await Server("server", asker, tries=3).ask(question(NAME, "A"))
    assert len(asker.asked) == 3


async def test_a_server_that_serves_nothing_serves_other_objects() -> None:
    with pytest.raises(GroundError, match=rf"^server does not serve {NAME} A after 0 s: NXDOMAIN, wanted "):
        await settle(Server("server", Scripted({})), DEMANDS, seconds=0)


async def test_a_server_that_serves_some_is_judged() -> None:
    other = replace(DEMANDS[0], question=question("other.", "A"), tags=("R11",))
    await settle(Server("server", Scripted(GOOD)), [DEMANDS[0], other], seconds=0)


async def test_a_server_that_falls_silent_is_asked_no_more_than_once() -> None:
    silent = Scripted({f"{NAME} A": None})
    ground = Ground([Server("pydns", silent, tries=3)], [])
    for _ in range(SILENCES):
        await ground.ask(ground.servers[0], question(NAME, "A"))
    silent.asked.clear()
    await ground.ask(ground.servers[0], question(NAME, "A"))
    assert silent.asked == [f"{NAME} A"]

"""Answers made anew after a change: which, when, and that they are those which a question brings."""

import asyncio

import pytest

from pydns.dns.message import Question, pack
from pydns.dns.types import Type
from pydns.k8s.objects import Endpoint, Namespace, Object
from pydns.plugins.kubernetes.renewals import MAX_WAITING, Renewals
from tests.plugins.kubernetes.cluster import FixedSource, endpoints, expand, external, headless, make_kubernetes
from tests.support import make_query, settle

ZONE = "cluster.local."
QUESTIONS = [Question(f"{number}.{ZONE}", Type.A) for number in range(MAX_WAITING + 5)]


async def test_one_in_each_pass_of_the_loop_and_in_a_burst_no_more_than_a_few() -> None:
    made: list[Question] = []
    renewals = Renewals(lambda question, _: made.append(question))
    renewals.start()
    for question in QUESTIONS:
        renewals.add(question, ZONE)
    for number in range(MAX_WAITING + 2):
        assert made == QUESTIONS[: min(number, MAX_WAITING)]
        await asyncio.sleep(0)


async def test_what_one_renewal_meets_is_no_others_fault() -> None:
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["exception"]))
    made: list[Question] = []

    def renew(question: Question, _: str) -> None:
        made.append(question)
        raise ZeroDivisionError

    renewals = Renewals(renew)
    renewals.start()
    for question in QUESTIONS[:2]:
        renewals.add(question, ZONE)
    await settle()
    assert made == QUESTIONS[:2]
    assert len(faults) == 2


async def test_before_its_start_and_after_its_stop_there_is_none() -> None:
    made: list[Question] = []
    renewals = Renewals(lambda question, _: made.append(question))
    renewals.add(QUESTIONS[0], ZONE)
    renewals.start()
    renewals.add(QUESTIONS[1], ZONE)
    renewals.stop()
    renewals.add(QUESTIONS[2], ZONE)
    await settle()
    assert made == []


SLICE = endpoints("hl", Endpoint("10.244.0.1", hostname="a"), Endpoint("10.244.0.2", hostname="b"))
CHANGES: list[tuple[Object, bool]] = [
    (endpoints("hl", Endpoint("10.244.0.1", hostname="a"), Endpoint("10.244.0.9", hostname="b")), True),
    (endpoints("hl", Endpoint("fd00::1", hostname="a"), kind="IPv6"), True),
    (endpoints("hl"), False),
    (endpoints("hl", Endpoint("db.example.com", hostname="a"), kind="FQDN"), False),
    (external("hl", "www.example.com"), False),
]
ASKED = "hl.shop.S A", "hl.shop.S AAAA", "a.hl.shop.S A", "hl.shop.S SRV"


@pytest.mark.parametrize("change, is_renewed", CHANGES, ids=["address", "family", "none", "name", "external"])
async def test_what_is_renewed_is_what_a_question_brings(change: Object, is_renewed: bool) -> None:
    source = FixedSource([Namespace("shop"), headless("hl"), SLICE])
    plugin = make_kubernetes("", source)
    queries = [make_query(expand(question)) for question in ASKED[: 4 if is_renewed else 3]]
    await plugin.start()
    for query in queries:
        await plugin.serve(query)
    source.store.put(change)
    assert not any(plugin.answers.known(query.question) for query in queries)
    await settle()
    assert [plugin.answers.known(query.question) is not None for query in queries] == [is_renewed] * len(queries)
    if is_renewed:
        other = make_kubernetes("", source)
        for query in queries:
            got, wanted = await plugin.serve(query), await other.serve(query)
            assert pack(got) == pack(wanted)
    await plugin.stop()


async def test_only_what_was_asked_for_since_it_was_made_is_renewed() -> None:
    source = FixedSource([Namespace("shop"), headless("hl"), SLICE])
    plugin = make_kubernetes("", source)
    query = make_query(expand("hl.shop.S A"))
    await plugin.start()
    for last, is_asked, is_known in ((3, True, True), (4, True, True), (5, False, False)):
        if is_asked:
            await plugin.serve(query)
        source.store.put(endpoints("hl", Endpoint(f"10.244.0.{last}")))
        await settle()
        assert (plugin.answers.known(query.question) is not None) is is_known, last
    await plugin.stop()


async def test_a_question_that_comes_first_makes_its_answer() -> None:
    source = FixedSource([Namespace("shop"), headless("hl"), SLICE])
    plugin = make_kubernetes("", source)
    query = make_query(expand("hl.shop.S A"))
    await plugin.start()
    await plugin.serve(query)
    source.store.put(endpoints("hl", Endpoint("10.244.0.3")))
    await plugin.serve(query)
    known = plugin.answers.known(query.question)
    await settle()
    assert plugin.answers.known(query.question) is known
    await plugin.stop()

"""Which chain answers, what becomes of its outcome, and what every reply has; expectations from CoreDNS."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pydns.dns import Edns, Flag, Message, Question, Rcode
from pydns.dns.message import RR, pack, parse
from pydns.dns.replay import Pattern, Replay
from pydns.dns.types import Opcode
from pydns.plugin import Plugin, Settings
from pydns.plugins.errors import Errors
from pydns.plugins.log import Log as LogPlugin
from pydns.plugins.whoami import Whoami
from pydns.query import Address, Query, Serve
from pydns.server.dispatch import MAX_DEPTH, Chain, Dispatcher
from tests.server.parts import LABEL, large, make_dispatcher, make_process, packet
from tests.support import answer, drop, fail, make_plugin, make_query, texts

CLIENT: Address = ("127.0.0.1", 40212)
LOCAL: Address = ("127.0.0.1", 53)
DO = 0x8000


async def ask(dispatcher: Dispatcher, data: bytes, transport: str = "udp") -> Message:
    reply = await dispatcher.handle(data, CLIENT, LOCAL, transport)
    assert reply is not None
    return parse(reply.octets)


async def broken(query: Query) -> Message:
    raise KeyError("boom")


class Counter:
    """Notes what no chain saw."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int, int]] = []

    def refused(self, query: Query, reply: Message, size: int) -> None:
        self.seen.append((query.name, int(reply.rcode), size))


ZONES = {
    ".": answer("in.root. 5 IN A 192.0.2.1"),
    "org.": answer("in.org. 5 IN A 192.0.2.1"),
    "example.org.": answer("in.example.org. 5 IN A 192.0.2.1"),
    "sub.example.org.": answer("in.sub.example.org. 5 IN A 192.0.2.1"),
}


@pytest.mark.parametrize(
    "question, zone",
    [
        ("example.org. A", "example.org."),
        ("www.example.org. A", "example.org."),
        ("WWW.Sub.Example.ORG. A", "sub.example.org."),
        ("a.b.c.sub.example.org. A", "sub.example.org."),
        ("notexample.org. A", "org."),
        ("x\\.example.org. A", "org."),
        ("org. A", "org."),
        ("com. A", "root."),
        (". NS", "root."),
        # DS lives in the parent; CoreDNS takes the shortest zone that is not the root
        ("sub.example.org. DS", "org."),
        ("x.sub.example.org. DS", "org."),
        ("org. DS", "org."),
        ("com. DS", "root."),
    ],
)
async def test_the_longest_zone_answers(question: str, zone: str) -> None:
    reply = await ask(make_dispatcher(ZONES), packet(question))
    assert [record.name for record in reply.answer] == [f"in.{zone}"]


@pytest.mark.parametrize(
    "question, zone", [("www.Example.org. A", "example.org."), ("com. A", "."), ("x.sub.example.org. DS", "org.")]
)
async def test_the_chain_is_told_its_zone(question: str, zone: str) -> None:
    zones: list[str] = []

    async def note(query: Query) -> Message:
        zones.append(query.zone)
        return query.reply()

    await ask(make_dispatcher(dict.fromkeys(ZONES, note)), packet(question))
    assert zones == [zone]


@pytest.mark.parametrize(
    "zones, question",
    [
        ({"example.org.": answer()}, "example.com. A"),
        ({"example.org.": answer()}, ". A"),
        ({"example.org.": None, ".": answer()}, "x.example.org. A"),
        ({".": None}, "x.example.org. A"),
        ({"org.": answer(), "example.org.": None}, "x.example.org. DS"),
    ],
)
@pytest.mark.parametrize("edns", [None, Edns(1232, DO)])
async def test_no_zone_or_no_plugins_is_refused(
    zones: dict[str, Chain | None], question: str, edns: Edns | None
) -> None:
    counter = Counter()
    reply = await ask(make_dispatcher(zones, counts=counter), packet(question, edns=edns, flags=Flag.RD | Flag.AD))
    expected = packet(question, flags=Flag.QR | Flag.RD, rcode=Rcode.REFUSED, edns=edns)
    assert reply == parse(expected)
    assert counter.seen == [(question.split(maxsplit=1)[0], Rcode.REFUSED, len(expected))]


@pytest.mark.parametrize("cls", [0, 3, 4, 254, 255])
@pytest.mark.parametrize("any_class", [False, True])
async def test_other_classes_need_a_plugin_that_takes_them(cls: int, any_class: bool) -> None:
    zones = {"org.": Chain(answer(), any_class=any_class), "example.org.": Chain(answer())}
    reply = await ask(make_dispatcher(zones), packet("example.org. TXT", cls=cls))
    assert reply.rcode == (Rcode.NOERROR if any_class else Rcode.REFUSED)
    assert reply.question == Question("example.org.", 16, cls)


async def test_the_class_is_looked_at_before_the_edns_version() -> None:
    reply = await ask(make_dispatcher(), packet(cls=3, edns=Edns(1232, DO, version=1)))
    assert (reply.rcode, reply.edns) == (Rcode.REFUSED, Edns(1232, DO))


@pytest.mark.parametrize("zones", [{".": answer()}, {"other.": answer()}])
async def test_an_unknown_edns_version_is_badvers(zones: dict[str, Chain]) -> None:
    asked = Edns(1232, DO, version=1, options=((10, b"12345678"),))
    reply = await ask(make_dispatcher(zones), packet(edns=asked, flags=Flag.RD | Flag.CD))
    assert (reply.rcode, reply.flags, reply.edns) == (Rcode.BADVERS, Flag.QR | Flag.RD | Flag.CD, Edns())
    assert reply.question == Question("example.org.", 1)


@pytest.mark.parametrize(
    "asked, said, expected",
    [
        (None, None, None),
        (None, Edns(4096, DO, options=((15, b"\0\x0f"),)), Edns(4096, DO, options=((15, b"\0\x0f"),))),
        (Edns(1232), None, Edns(1232)),
        (Edns(0), None, Edns(0)),
        (Edns(65535, DO), None, Edns(65535, DO)),
        (Edns(512, 0xFFFF), None, Edns(512, 0xFF00)),
        (Edns(1232, options=((10, b"12345678"), (3, b""), (8, b"\0\1\0\0"))), None, Edns(1232)),
        (Edns(1232, DO), Edns(4096, 0, options=((3, b"me"),)), Edns(1232, DO, options=((3, b"me"),))),
        (Edns(1232), Edns(4096, DO | 0x00FF, version=3), Edns(1232, DO)),
    ],
)
async def test_the_opt_record_of_a_reply(asked: Edns | None, said: Edns | None, expected: Edns | None) -> None:
    chain = answer(change=lambda reply: reply._replace(edns=said))
    reply = await ask(make_dispatcher({".": chain}), packet(edns=asked))
    assert reply.edns == expected


@pytest.mark.parametrize("rcode", [Rcode.SERVFAIL, Rcode.REFUSED, Rcode.FORMERR, Rcode.NOTIMP, Rcode.NXDOMAIN])
async def test_a_failure_is_an_empty_reply(rcode: int) -> None:
    data = packet(flags=Flag.RD | Flag.CD | Flag.AD, edns=Edns(1232, DO))
    reply = await ask(make_dispatcher({".": fail(rcode, "why")}), data)
    question = Question("example.org.", 1)
    assert reply == Message(4711, Flag.QR | Flag.RD | Flag.CD, rcode, question, edns=Edns(1232, DO))


async def test_without_edns_there_is_no_extended_rcode() -> None:
    dispatcher = make_dispatcher({".": fail(Rcode.BADCOOKIE)})
    assert (await ask(dispatcher, packet())).rcode == Rcode.SERVFAIL
    assert (await ask(dispatcher, packet(edns=Edns(1232)))).rcode == Rcode.BADCOOKIE


async def test_a_dropped_query_gets_no_reply() -> None:
    assert await make_dispatcher({".": drop}).handle(packet(), CLIENT, LOCAL, "udp") is None


async def test_a_bug_costs_one_query(log_lines: list[str]) -> None:
    process = make_process()
    reply = await ask(make_dispatcher({".": broken}, process=process), packet(edns=Edns(1232)))
    assert (reply.rcode, reply.flags, reply.edns) == (Rcode.SERVFAIL, Flag.QR | Flag.RD, Edns(1232))
    assert log_lines == [f"[ERROR] Recovered from panic in server: \"{LABEL}\" KeyError: 'boom'"]
    assert b"coredns_panics_total 1.0" in process.metrics.exposition()


async def test_a_bug_is_shown_with_its_stack_where_errors_says_so(log_lines: list[str]) -> None:
    await ask(make_dispatcher({".": broken}, settings=Settings(stacktrace=True)), packet())
    assert "in broken" in log_lines[0]


async def test_a_bug_ends_the_process_where_debug_says_so(log_lines: list[str]) -> None:
    ended: list[bool] = []
    process = replace(make_process(), fatal=lambda: ended.append(True))
    await ask(make_dispatcher({".": broken}, process=process, settings=Settings(debug=True)), packet())
    assert ended == [True]
    assert log_lines[0].startswith("[FATAL] Recovered from panic")


async def test_the_letter_case_of_the_question_is_kept() -> None:
    reply = await ask(make_dispatcher({"example.org.": answer()}), packet("wWw.ExamPle.oRg. A"))
    assert reply.question == Question("wWw.ExamPle.oRg.", 1)


async def test_a_reply_has_the_id_of_its_query() -> None:
    reply = await ask(make_dispatcher({".": answer(change=lambda m: m._replace(id=1))}), packet(ident=0xBEEF))
    assert reply.id == 0xBEEF


async def test_notify_passes_and_loses_rd_and_cd() -> None:
    notify = Opcode.NOTIFY << 11
    reply = await ask(make_dispatcher({".": answer()}), packet(flags=notify | Flag.RD | Flag.CD | Flag.AA))
    assert reply.flags == notify | Flag.QR | Flag.AA


@pytest.mark.parametrize(
    "data, rcode",
    [
        (packet()[:5] + b"\2" + packet()[6:], Rcode.FORMERR),
        (packet(flags=Opcode.UPDATE << 11), Rcode.NOTIMP),
        (packet()[:12], Rcode.SERVFAIL),
        (packet(cls=3), Rcode.REFUSED),
        (packet(edns=Edns(1232, version=1)), Rcode.BADVERS),
    ],
)
async def test_what_no_chain_sees_is_counted(data: bytes, rcode: int) -> None:
    counter = Counter()
    reply = await ask(make_dispatcher(counts=counter), data)
    assert [(seen, size) for _, seen, size in counter.seen] == [(rcode, len(pack(reply)))]


@pytest.mark.parametrize(
    "transport, edns, records",
    [
        ("udp", None, 30),  # (512 - 29) / 16
        ("udp", Edns(0), 29),  # the OPT record takes 11
        ("udp", Edns(511), 29),
        ("udp", Edns(1232), 74),
        ("udp", Edns(1641), 100),
        ("udp", Edns(1639), 99),
        ("tcp", None, 100),
        ("tcp", Edns(512), 100),
    ],
)
async def test_replies_are_cut_at_the_size_of_the_client(transport: str, edns: Edns | None, records: int) -> None:
    reply = await ask(make_dispatcher({".": large(100)}), packet(edns=edns), transport)
    assert len(reply.answer) == records
    assert reply.truncated == (records < 100)


async def test_over_udp_a_reply_fits_into_a_datagram() -> None:
    dispatcher = make_dispatcher({".": answer(*(f"example.org. 5 IN A 10.0.0.{n % 256}" for n in range(4200)))})
    reply = await dispatcher.handle(packet(edns=Edns(65535)), CLIENT, LOCAL, "udp")
    assert reply is not None
    assert len(reply.octets) <= 65507
    assert parse(reply.octets).truncated


@pytest.mark.parametrize("replay_safe", [True, False])
async def test_consent_takes_every_link_and_the_reply(replay_safe: bool) -> None:
    consent = Replay(until=1060.0)
    chain = Chain(answer(change=lambda reply: reply._replace(replay=consent)), replay_safe)
    reply = await make_dispatcher({".": chain}).handle(packet(), CLIENT, LOCAL, "udp")
    assert reply is not None
    assert reply.replay == (consent if replay_safe else None)


async def test_a_replay_is_told_to_who_counted_the_query_and_to_who_made_the_reply() -> None:
    told: list[str] = []

    async def inner(query: Query) -> Message:
        query.counters.append(lambda times: told.append(f"{query.name} link {times}"))
        consent = Replay(1060.0, counters=(lambda times: told.append(f"{query.name} maker {times}"),))
        return query.reply()._replace(replay=consent)

    async def outer(query: Query) -> Message:
        query.counters.append(lambda times: told.append(f"{query.name} link {times}"))
        found = await query.server.resolve(query.ask("inner.", 1))
        return query.reply()._replace(replay=found.replay)

    dispatcher = make_dispatcher({".": outer, "inner.": inner})
    reply = await dispatcher.handle(packet("outer. A"), CLIENT, LOCAL, "udp")
    assert reply is not None and reply.replay is not None
    for counter in reply.replay.counters:
        counter(7)
    assert sorted(told) == ["inner. link 7", "inner. maker 7", "outer. link 7"]


MAKER = make_plugin(Whoami, "whoami")
ALIKE, NOT_ALIKE = make_plugin(Errors, "errors"), make_plugin(LogPlugin, "log")


@pytest.mark.parametrize(
    "links, more, kept",
    [
        ((ALIKE, MAKER), {}, True),
        ((ALIKE, MAKER, NOT_ALIKE), {"org.": None, "other.": None}, True),
        ((NOT_ALIKE, MAKER), {}, False),
        ((ALIKE,), {}, False),
        ((), {}, False),
        ((ALIKE, MAKER), {"a.example.org.": None}, False),
    ],
    ids=["alike", "behind the maker", "in front of it", "no maker", "no links", "a zone below"],
)
async def test_a_pattern_takes_every_link_in_front_of_its_maker(
    links: tuple[Plugin, ...], more: dict[str, Serve | None], kept: bool
) -> None:
    consent = Replay(1060.0, pattern=Pattern("example.org.", lambda name, qtype: None, MAKER))
    chain = Chain(answer(change=lambda reply: reply._replace(replay=consent)), replay_safe=True, links=links)
    reply = await make_dispatcher({"example.org.": chain, **more}).handle(packet(), CLIENT, LOCAL, "udp")
    assert reply is not None
    assert reply.replay == (consent if kept else consent.with_pattern(None))


@pytest.mark.parametrize(
    "data, kept",
    [
        (packet(edns=Edns(1232, options=((10, b"12345678"), (12, bytes(9))))), True),
        (packet(edns=Edns(1232, options=((8, b"\0\1\x18\0\xc0\0\2"),))), False),
        (packet(edns=Edns(1232, options=((65001, b""),))), False),
        (packet(flags=Opcode.NOTIFY << 11), False),
        (packet(additional=(RR("key.", 250, 0, b"", 255),)), False),
    ],
)
async def test_consent_is_for_common_queries(data: bytes, kept: bool) -> None:
    chain = answer(change=lambda reply: reply._replace(replay=Replay(until=1060.0)))
    reply = await make_dispatcher({".": chain}).handle(data, CLIENT, LOCAL, "udp")
    assert reply is not None
    assert (reply.replay is not None) is kept


@pytest.mark.parametrize("edns", [None, Edns(1232)])
async def test_a_refusal_is_never_replayed(edns: Edns | None) -> None:
    reply = await make_dispatcher({}).handle(packet(edns=edns), CLIENT, LOCAL, "udp")
    assert reply is not None
    assert reply.replay is None


# Look-ups inside the server.


async def resolve(dispatcher: Dispatcher, query: Query) -> Message:
    query.server = dispatcher
    return await dispatcher.resolve(query)


async def test_a_look_up_chooses_the_zone_anew() -> None:
    query = make_query("www.example.org. CNAME", zone="example.org.").ask("Target.org.", 1)
    reply = await resolve(make_dispatcher(ZONES), query)
    assert texts(reply.answer) == ["in.org. 5 IN A 192.0.2.1"]
    assert reply.question == Question("Target.org.", 1)


@pytest.mark.parametrize(
    "query, asked",
    [
        (make_query("x. A"), None),
        (make_query("x. A", edns=Edns(512)), None),
        (make_query("x. A", edns=Edns(512, DO)), Edns(512, DO)),
        (make_query("x. A", edns=Edns(1232, 0x4000, options=((10, b"12345678"),))), Edns(1232)),
        (make_query("x. A", transport="tcp"), Edns(65535)),
    ],
)
async def test_a_look_up_is_a_plain_question(query: Query, asked: Edns | None) -> None:
    seen: list[Message] = []

    async def note(query: Query) -> Message:
        seen.append(query.message)
        return query.reply()

    query.message = query.message._replace(flags=Flag.CD | Flag.AD)
    reply = await resolve(make_dispatcher({".": note}), query)
    assert seen == [Message(4711, Flag.RD, question=Question("x.", 1), edns=asked)]
    assert reply.edns is None


@pytest.mark.parametrize(
    "dispatcher, rcode",
    [
        (make_dispatcher({".": fail(Rcode.REFUSED)}), Rcode.REFUSED),
        (make_dispatcher({}), Rcode.REFUSED),
        (make_dispatcher({".": drop}), Rcode.SERVFAIL),
        (make_dispatcher({".": broken}), Rcode.SERVFAIL),
    ],
)
async def test_a_look_up_that_fails_is_a_reply(dispatcher: Dispatcher, rcode: int, log_lines: list[str]) -> None:
    reply = await resolve(dispatcher, make_query("example.org. A"))
    assert (reply.rcode, reply.answer) == (rcode, ())


async def test_a_look_up_is_cut_at_the_size_of_the_client() -> None:
    reply = await resolve(make_dispatcher({".": large(100)}), make_query("example.org. A"))
    assert (len(reply.answer), reply.truncated) == (30, True)


async def test_look_ups_end_at_a_depth() -> None:
    depths: list[int] = []

    async def again(query: Query) -> Message:
        depths.append(query.depth)
        return await query.server.resolve(query.ask("example.org.", 1))

    reply = await ask(make_dispatcher({".": again}), packet())
    assert reply.rcode == Rcode.SERVFAIL
    assert depths == list(range(MAX_DEPTH + 1))


@pytest.mark.parametrize("replay_safe", [True, False])
async def test_a_look_up_inherits_consent(replay_safe: bool) -> None:
    consent = Replay(until=1060.0, tags=("x",))
    chain = Chain(answer(change=lambda reply: reply._replace(replay=consent)), replay_safe)
    reply = await resolve(make_dispatcher({".": chain}), make_query("example.org. A"))
    assert reply.replay == (consent if replay_safe else None)


async def test_a_look_up_is_about_another_name_than_those_of_the_pattern() -> None:
    consent = Replay(1060.0, pattern=Pattern("org.", lambda name, qtype: None, MAKER))
    chain = Chain(answer(change=lambda reply: reply._replace(replay=consent)), replay_safe=True, links=(MAKER,))
    reply = await resolve(make_dispatcher({"org.": chain}), make_query("example.org. A"))
    assert reply.replay == consent.with_pattern(None)

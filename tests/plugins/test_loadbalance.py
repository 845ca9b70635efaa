"""Orders of records; expectations from CoreDNS's plugin/loadbalance."""

import random
from collections import Counter
from pathlib import Path

import pytest

from pydns.corefile.line import CorefileError
from pydns.dns import Message, Replay, pack
from pydns.dns.message import ring_of
from pydns.dns.text import record
from pydns.plugins.kubernetes.octets import of_records
from pydns.plugins.loadbalance import (
    Loadbalance,
    LoadbalanceOptions,
    preferred,
    read_weights,
    shuffled,
    weighted,
)
from tests.support import Clock, answer, corefile_lines, make_block, make_plugin, make_query, texts

CNAME = "x. 5 IN CNAME y."
TXT = 'x. 5 IN TXT "t"'
MX = ["x. 5 IN MX 10 a.", "x. 5 IN MX 10 b."]
A = [f"x. 5 IN A 10.0.0.{n}" for n in range(1, 4)]
AAAA = "x. 5 IN AAAA 2001:db8::1"


def with_replay(reply: Message) -> Message:
    return reply._replace(replay=Replay(2000.0, ("tag",)))


def test_groups_stand_in_a_fixed_order() -> None:
    luck = random.Random(1)
    records = tuple(map(record, [*MX, A[0], TXT, AAAA, CNAME, A[1]]))
    for _ in range(20):
        got = texts(shuffled(records, luck, 0)[0])
        assert got[:2] == [CNAME, TXT]
        assert sorted(got[2:5]) == sorted([A[0], A[1], AAAA])
        assert sorted(got[5:]) == MX


@pytest.mark.parametrize("type_and_value", ["A 10.0.0.{}", "MX 10 mail{}.example.org."])
def test_every_order_comes_about_as_often_as_any_other(type_and_value: str) -> None:
    luck = random.Random(1)
    records = tuple(record(f"x. 5 IN {type_and_value.format(n)}") for n in range(1, 4))
    seen = Counter(tuple(texts(shuffled(records, luck, variant)[0])) for variant in range(6000))
    assert len(seen) == 6
    assert all(850 < count < 1150 for count in seen.values())


@pytest.mark.parametrize(
    "qtype, rcode, changed", [("A", 0, True), ("A", 3, False), ("AXFR", 0, False), ("IXFR", 0, False)]
)
async def test_only_positive_replies_that_are_no_transfers(qtype: str, rcode: int, changed: bool) -> None:
    plugin = make_plugin(Loadbalance, "loadbalance", next=answer(A[0], CNAME, rcode=rcode))
    reply = await plugin.serve(make_query(f"x. {qtype}"))
    assert (texts(reply.answer) == [CNAME, A[0]]) is changed
    assert reply.rcode == rcode


async def test_all_sections_are_shuffled() -> None:
    end = answer(A[0], CNAME, f"authority: {TXT}", f"authority: {CNAME}", f"additional: {MX[0]}", f"additional: {A[0]}")
    reply = await make_plugin(Loadbalance, "loadbalance round_robin", next=end).serve(make_query("x. A"))
    assert [texts(part) for part in (reply.answer, reply.authority, reply.additional)] == [
        [CNAME, A[0]],
        [CNAME, TXT],
        [A[0], MX[0]],
    ]


@pytest.mark.parametrize(
    "options, records, until, variants",
    [
        ("", [], 2000.0, 1),
        ("", [A[0]], 2000.0, 1),
        ("", [CNAME, A[0]], 2000.0, 1),
        ("", [A[0], MX[0]], 2000.0, 1),
        ("", A, 2000.0, 3),
        ("", MX, 2000.0, 2),
        ("", [*A, *MX], 2000.0, 6),
        ("", [A[0], "additional: y. 5 IN A 10.0.0.1", "additional: y. 5 IN A 10.0.0.2"], 2000.0, 2),
        ("", [f"x. 5 IN A 10.0.0.{n}" for n in range(16)], 2000.0, 16),
        ("", [f"x. 5 IN A 10.0.0.{n}" for n in range(17)], 1001.0, 16),
        (" {\nprefer 10.0.0.3/32\n}", A, 1001.0, 16),
        (" {\nprefer 10.0.0.3/32\n}", [A[0]], 2000.0, 1),
    ],
)
async def test_a_reply_with_several_orders_is_kept_in_as_many_as_are_even(
    options: str, records: list[str], until: float, variants: int
) -> None:
    block = make_block(clock=Clock(1000.0))
    plugin = make_plugin(Loadbalance, f"loadbalance round_robin{options}", block, answer(*records, change=with_replay))
    reply = await plugin.serve(make_query("x. A"))
    assert reply.replay == Replay(until, ("tag",), variants)


@pytest.mark.parametrize("options, any_order", [("", True), (" {\nprefer 10.0.0.3/32\n}", False)])
async def test_octets_that_can_change_places_may_do_so_unless_networks_go_first(options: str, any_order: bool) -> None:
    def known(message: Message) -> Message:
        assert message.question is not None
        packed = of_records(message.question, message.answer, ())
        assert packed is not None
        return with_replay(message)._replace(question=packed.question, packed=packed)

    block = make_block(clock=Clock(1000.0))
    plugin = make_plugin(Loadbalance, f"loadbalance round_robin{options}", block, answer(*A, change=known))
    reply = await plugin.serve(make_query("x. A"))
    assert reply.replay is not None
    assert reply.replay.any_order is any_order
    assert ring_of(reply, len(pack(reply))) is not None


async def test_at_each_turn_another_address_comes_first_whatever_order_they_come_in() -> None:
    first = []
    for variant, records in enumerate([A, A[::-1], [A[1], A[0], A[2]], A]):
        query = make_query("x. A")
        query.variant = variant
        reply = await make_plugin(Loadbalance, "loadbalance", next=answer(*records)).serve(query)
        first.append(texts(reply.answer)[0])
    assert first == [*A, A[0]]


@pytest.mark.parametrize(
    "networks, expected",
    [
        ("10.0.0.3/32", [CNAME, A[2], A[0], A[1], MX[0], TXT]),
        ("10.0.0.2/31 10.0.0.1/32", [CNAME, A[1], A[2], A[0], MX[0], TXT]),
        ("2001:db8::/32", [CNAME, A[0], A[1], A[2], MX[0], TXT]),
        ("10.0.0.3/32 10.0.0.0/24", [CNAME, A[2], A[0], A[1], MX[0], TXT]),
    ],
)
def test_preferred_networks_come_first(networks: str, expected: list[str]) -> None:
    conf = LoadbalanceOptions.parse(corefile_lines(f"loadbalance {{\nprefer {networks}\n}}")[0])
    records = tuple(map(record, [TXT, MX[0], *A, CNAME]))
    assert texts(preferred(records, conf.prefer)) == expected


async def test_prefer_leaves_the_authority_section_shuffled_only() -> None:
    end = answer(*A, TXT, f"authority: {TXT}", f"authority: {A[0]}", f"additional: {TXT}", f"additional: {A[0]}")
    plugin = make_plugin(Loadbalance, "loadbalance round_robin {\nprefer 10.0.0.2/32\n}", next=end)
    reply = await plugin.serve(make_query("x. A"))
    assert texts(reply.answer)[0] == A[1]
    assert texts(reply.answer)[3] == TXT
    assert texts(reply.authority) == [TXT, A[0]]
    assert texts(reply.additional) == [A[0], TXT]


WEIGHTS = """
# a comment
X
10.0.0.1 3
10.0.0.2 1
10.0.0.2 200
y.
  2001:db8::1   255
"""


def test_a_weight_file() -> None:
    assert read_weights(WEIGHTS, "f") == {
        ("x.", bytes([10, 0, 0, 1])): 3,
        ("x.", bytes([10, 0, 0, 2])): 1,
        ("y.", bytes.fromhex("20010db8000000000000000000000001")): 255,
    }


@pytest.mark.parametrize(
    "text, error",
    [
        ("10.0.0.1", 'wrong domain name:"10.0.0.1" in weight file f. (Maybe a missing weight value?)'),
        ("x\n10.0.0 1", 'wrong IP address:"10.0.0" in weight file f'),
        ("x\n10.0.0.1 0", 'wrong weight value:"0" in weight file f'),
        ("x\n10.0.0.1 256", 'wrong weight value:"256" in weight file f'),
        ("x\n10.0.0.1 -1", 'wrong weight value:"-1" in weight file f'),
        ("10.0.0.1 1", "missing domain name in weight file f"),
        ("x\n10.0.0.1 1 1", 'could not parse weight line:"10.0.0.1 1 1" in weight file f'),
    ],
)
def test_a_faulty_weight_file(text: str, error: str) -> None:
    with pytest.raises(ValueError) as raised:
        read_weights(text, "f")
    assert str(raised.value) == error


def test_the_first_address_follows_the_weights() -> None:
    luck = random.Random(1)
    weights = read_weights(WEIGHTS, "f")
    records = tuple(map(record, [MX[0], *A, TXT, CNAME]))
    seen: Counter[str] = Counter()
    for _ in range(5000):
        got = texts(weighted(records, weights, luck))
        assert (got[:2], got[5]) == ([CNAME, TXT], MX[0])
        seen[got[2]] += 1
    assert 2850 < seen[A[0]] < 3150  # 3 of 5; an address without a line has weight 1
    assert 900 < seen[A[1]] < 1100
    assert 900 < seen[A[2]] < 1100


def test_without_addresses_nothing_moves() -> None:
    records = tuple(map(record, [MX[0], TXT, CNAME]))
    assert weighted(records, {}, random.Random(1)) == records


@pytest.mark.parametrize("qtype, moved", [("A", True), ("AAAA", True), ("SRV", True), ("MX", False)])
async def test_weighted_changes_address_and_srv_replies(qtype: str, moved: bool, tmp_path: Path) -> None:
    (tmp_path / "weights").write_text("x\n10.0.0.1 1\n")
    end = answer(A[0], CNAME, f"additional: {A[0]}", f"additional: {CNAME}", change=with_replay)
    plugin = make_plugin(Loadbalance, f"loadbalance weighted {tmp_path}/weights", next=end)
    reply = await plugin.serve(make_query(f"x. {qtype}"))
    assert (texts(reply.answer) == [CNAME, A[0]]) is moved
    assert (texts(reply.additional) == [CNAME, A[0]]) is moved
    assert reply.replay == Replay(2000.0, ("tag",))


async def test_a_drawn_reply_is_not_replayed() -> None:
    plugin = make_plugin(Loadbalance, "loadbalance weighted nowhere", next=answer(*A, change=with_replay))
    reply = await plugin.serve(make_query("x. A"))
    assert reply.replay is None


async def test_the_weight_file_is_read_again(tmp_path: Path, log_lines: list[str]) -> None:
    clock = Clock()
    block = make_block(clock=clock)
    block.settings.root = tmp_path
    file = tmp_path / "weights"
    plugin = make_plugin(Loadbalance, "loadbalance weighted weights {\nreload 10s\n}", block, answer(*A))

    async def first() -> str:
        return texts((await plugin.serve(make_query("x. A"))).answer)[0]

    await plugin.start()
    for text in ("x\n10.0.0.3 255\n", "x\n10.0.0.3 255\n", "x\n10.0.0.3\n"):
        file.write_text(text)
        await clock.advance(10)
    assert Counter([await first() for _ in range(500)])[A[2]] > 450
    file.unlink()
    await clock.advance(10)
    await plugin.stop()
    assert log_lines == [
        "[WARNING] plugin/loadbalance: Failed to open weight file:weight file open error. Will try again in 10s",
        f"[INFO] plugin/loadbalance: Successfully reloaded weight file {file}",
        f'[ERROR] plugin/loadbalance: wrong domain name:"10.0.0.3" in weight file {file}.'
        " (Maybe a missing weight value?)",
        "[ERROR] plugin/loadbalance: weight file open error",
    ]


@pytest.mark.parametrize(
    "text, error", [(None, "weight file open error"), ("x\n10.0.0.1 0\n", 'wrong weight value:"0"')]
)
async def test_a_start_needs_weights_that_will_not_come_later(text: str | None, error: str, tmp_path: Path) -> None:
    file = tmp_path / "weights"
    if text is not None:
        file.write_text(text)
    plugin = make_plugin(Loadbalance, f"loadbalance weighted {file} {{\nreload 0s\n}}")
    with pytest.raises(ValueError, match=error):
        await plugin.start()


async def test_a_directory_holds_no_weights(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"read {tmp_path}: is a directory"):
        await make_plugin(Loadbalance, f"loadbalance weighted {tmp_path}").start()


@pytest.mark.parametrize(
    "text, error",
    [
        ("loadbalance random", "Corefile:2 - Error during parsing: unknown policy: random"),
        ("loadbalance weighted", "missing weight file argument"),
        ("loadbalance round_robin x", "unknown property for round_robin"),
        ("loadbalance weighted f {\nprefer 10.0.0.0/8\n}", "unknown property 'prefer'"),
        ("loadbalance {\nreload 1s\n}", "unknown property 'reload'"),
        ("loadbalance {\nprefer 10.0.0.0/33\n}", "prefer must be a network with the length of its prefix"),
        ("loadbalance {\nprefer 10.0.0.1\n}", "prefer must be a network with the length of its prefix"),
        ('loadbalance round_robin ""', "unknown property for round_robin"),
        ("loadbalance weighted f {\nreload -1s\n}", "reload must be at least 0: -1"),
        ("loadbalance weighted f {\nreload x\n}", 'time: invalid duration "x"'),
        ("loadbalance {\nx\n}", "unknown property 'x'"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Loadbalance, text)
    assert error in str(raised.value)

"""The plugins' life cycle and the banner."""

from __future__ import annotations

import pytest

from pydns.plugin import Block
from pydns.server.instance import Instance, StartError
from pydns.server.listener import Listener
from tests.server.life import Noted, make_instance
from tests.server.parts import make_dispatcher, make_process
from tests.support import answer


def two_plugins(broken: Exception | None = None) -> tuple[Instance, list[str]]:
    events: list[str] = []
    block = Block((), make_process())
    return Instance([block], [Noted(block, "a", events), Noted(block, "b", events, broken)], {}), events


async def test_plugins_live_in_their_order() -> None:
    instance, events = two_plugins()
    for step in (instance.start, instance.serving, instance.lameduck, instance.stop):
        await step()
    assert events == [f"{name} {step}" for step in ("start", "serving", "lameduck", "stop") for name in "ab"]


@pytest.mark.parametrize(
    "error, words",
    [
        (OSError(98, "Address already in use"), "plugin/noted: [Errno 98] Address already in use"),
        (ValueError("no\nAPI"), "plugin/noted: no API"),
        (ValueError("plugin/noted: no API"), "plugin/noted: no API"),
        (KeyError("a bug"), "plugin/noted: KeyError('a bug')"),
    ],
)
async def test_a_plugin_that_cannot_start_stops_those_that_did(
    error: Exception, words: str, log_lines: list[str]
) -> None:
    instance, events = two_plugins(error)
    with pytest.raises(StartError) as raised:
        await instance.start()
    assert str(raised.value) == words
    assert events == ["a start", "a stop"]
    assert len(log_lines) == isinstance(error, KeyError)  # a bug's stack


@pytest.mark.parametrize(
    "error, words, has_stack",
    [(OSError("still busy"), "still busy", False), (KeyError("a bug"), "KeyError: 'a bug'", True)],
)
async def test_a_plugin_that_fails_at_a_step_keeps_no_other_from_it(
    error: Exception, words: str, has_stack: bool, log_lines: list[str]
) -> None:
    class Stubborn(Noted):
        async def fail(self) -> None:
            raise error

        serving = lameduck = stop = fail

    events: list[str] = []
    block = Block((), make_process())
    instance = Instance([block], [Stubborn(block, "a", events), Noted(block, "b", events)], {})
    for step in (instance.serving, instance.lameduck, instance.stop):
        await step()
    assert events == ["b serving", "b lameduck", "b stop"]
    lines = [f"[ERROR] plugin/noted: {step}: {words}" for step in ("serving", "lameduck", "stopping")]
    assert [line.splitlines()[0] for line in log_lines] == lines
    assert [len(line.splitlines()) > 1 for line in log_lines] == [has_stack] * 3


@pytest.mark.parametrize(
    "host, zones, lines",
    [
        ("", ["."], [".:53"]),
        ("", ["example.org.", "cluster.local."], ["cluster.local.:53", "example.org.:53"]),
        ("127.0.0.1", ["example.org."], ["example.org.:53 on 127.0.0.1"]),
        ("::1", ["."], [".:53 on ::1"]),
        (
            "",
            ["10.in-addr.arpa.", "8.b.d.0.1.0.0.2.ip6.arpa."],
            ["10.in-addr.arpa.:53", "8.b.d.0.1.0.0.2.ip6.arpa.:53"],
        ),
        (
            "",
            ["a_b.example."],
            ['Warning: Domain "a_b.example." does not follow RFC1035 preferred syntax', "a_b.example.:53"],
        ),
    ],
)
def test_the_banner_is_the_one_of_coredns(host: str, zones: list[str], lines: list[str]) -> None:
    listener = Listener(make_dispatcher(dict.fromkeys(zones, answer())))
    assert list(Instance([], [], {(host, 53): listener}).banner()) == lines


async def test_debug_of_any_block_counts() -> None:
    instance = make_instance(make_process(), [])
    assert not instance.debug
    instance.blocks[0].settings.debug = True
    assert instance.debug

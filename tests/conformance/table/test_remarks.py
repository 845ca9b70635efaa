"""What is looked at beside replies: `heard` and `log` lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from conformance.table import remarks
from conformance.table.case import Ask
from conformance.table.stage import Stage
from conformance.wire.question import Question

QUERY = "a.test. IN A udp +rd +edns=1232"


class Scripted:
    """A stage with what its upstreams heard, and what its log gets from one look to the next."""

    subject = "pydns"

    def __init__(self, heard: Sequence[str] = (), logged: Sequence[Sequence[str]] = ()) -> None:
        self.heard, self.logged = list(heard), [list(lines) for lines in logged]

    def take_heard(self) -> list[str]:
        return self.heard

    def take_log(self) -> list[str]:
        return self.logged.pop(0) if self.logged else []


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOG_TIME", "QUIET_TIME", "PAUSE"):
        monkeypatch.setattr(remarks, name, 0)


async def problems(step: Ask, stage: Scripted) -> list[str]:
    return await remarks.remarks(cast(Stage, stage), step)


@pytest.mark.parametrize(
    ("wanted", "heard", "holds"),
    [
        ((), [], True),
        ((), [QUERY], False),
        (("a.test. A udp",), [QUERY], True),
        (("a.test. +edns=1232",), [QUERY], True),
        (("a.test. +do",), [QUERY], False),
        (("a.test. -do",), [QUERY], True),
        (("a.test. -edns",), [QUERY], False),
        (("a.test.",), [QUERY, QUERY], False),
        (("a.test.", "a.test. udp"), [QUERY, QUERY], True),
    ],
)
async def test_what_upstreams_heard(wanted: tuple[str, ...], heard: list[str], holds: bool) -> None:
    found = await problems(Ask(Question("a.", "a."), heard=wanted), Scripted(heard))
    assert found == ([] if holds else [f"upstream heard {heard}, not {list(wanted)}"])


@pytest.mark.parametrize(
    ("wanted", "logged", "found"),
    [
        (("[INFO] one",), [["[INFO] one", "more"]], []),
        (("... one",), [["[INFO] one"]], []),
        (("[INFO] one",), [["[INFO] one more"]], ["no log line '[INFO] one' among ['[INFO] one more']"]),
        ((), [[]], []),
        ((), [["[INFO] one"]], ["logged '[INFO] one', wanted nothing"]),
    ],
)
async def test_what_is_logged(wanted: tuple[str, ...], logged: list[list[str]], found: list[str]) -> None:
    assert await problems(Ask(Question("a.", "a."), log=wanted), Scripted(logged=logged)) == found


async def test_a_line_that_comes_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remarks, "LOG_TIME", 5)
    assert await problems(Ask(Question("a.", "a."), log=("one",)), Scripted(logged=[[], [], ["one"]])) == []

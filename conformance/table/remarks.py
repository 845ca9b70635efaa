"""What is looked at beside replies: what the upstreams were asked, what a server logs, what its pages say.

Knows one server at a time. All give what is wrong in words, and nothing where all is well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from conformance.table.case import Ask, Get
from conformance.table.pages import line_matches, matches
from conformance.table.stage import Stage

LOG_TIME = 2.0
"""Seconds within which a log line must appear."""

QUIET_TIME = 0.1
"""Seconds after a reply in which nothing may be logged by who must log nothing: lines come after the reply."""

PAUSE = 0.05
"""Seconds between two looks."""


async def page(stage: Stage, step: Get, seconds: float) -> list[str]:
    """A page over HTTP, looked at until it is as it must be or time is up."""
    wanted = step.has_of(stage.subject)

    async def attempt() -> list[str]:
        status, text = await stage.get(step)
        problems = [f"status {status}, not {step.status}: {text}"] if status != step.status else []
        missing = [line for line in wanted if not any(line_matches(line, got) for got in text.splitlines())]
        return problems + [f"no line {line!r}" for line in missing]

    return await _patiently(attempt, seconds)


async def remarks(stage: Stage, step: Ask) -> list[str]:
    """The `heard` and `log` lines of a question."""
    problems = []
    if step.heard is not None:
        heard = stage.take_heard()
        if not _all_heard(step.heard, heard):
            problems.append(f"upstream heard {heard}, not {list(step.heard)}")
    log = step.log_of(stage.subject)
    if log is not None:
        problems += await (_logged(stage, log) if log else _silent(stage))
    return problems


async def _patiently(attempt: Callable[[], Awaitable[list[str]]], seconds: float) -> list[str]:
    """The attempt's problems, tried again until there are none or time is up."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        problems = await attempt()
        if not problems or asyncio.get_running_loop().time() >= deadline:
            return problems
        await asyncio.sleep(PAUSE)


def _all_heard(wanted: Sequence[str], heard: Sequence[str]) -> bool:
    """As many queries as wanted, each with all the words of its line and none of those it has with a minus."""
    return len(wanted) == len(heard) and all(map(_is_heard, wanted, heard))


def _is_heard(wanted: str, query: str) -> bool:
    has = set(query.split())
    return all(
        word in has if word[0] != "-" else not any(have.startswith(f"+{word[1:]}") for have in has)
        for word in wanted.split()
    )


async def _logged(stage: Stage, wanted: Sequence[str]) -> list[str]:
    lines: list[str] = []

    async def attempt() -> list[str]:
        lines.extend(stage.take_log())
        return [text for text in wanted if not any(matches(text, line) for line in lines)]

    missing = await _patiently(attempt, LOG_TIME)
    return [f"no log line {text!r} among {lines}" for text in missing]


async def _silent(stage: Stage) -> list[str]:
    await asyncio.sleep(QUIET_TIME)
    return [f"logged {line!r}, wanted nothing" for line in stage.take_log()]

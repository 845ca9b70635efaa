"""Runs lines one after the other and says what runs and about how long it takes. Knows no single line."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from conformance.bench import api, machine
from conformance.bench.document import named
from conformance.bench.finding import Finding, Result
from conformance.bench.lines import Line
from conformance.bench.processes import BenchError
from conformance.bench.setting import Options, Setting
from conformance.kubernetes.client import ClusterError

API_START = 10.0
SEEDED = 1200.0
"""Services a second that a cluster grows by; both for the estimate only."""


def chosen(lines: Sequence[Line], quick: bool, texts: Sequence[str]) -> list[Line]:
    """The lines whose name contains one of the texts (all, where there is none); in a quick run only its own."""
    return [
        line
        for line in lines
        if (line.quick or not quick) and (not texts or any(text.lower() in line.name.lower() for text in texts))
    ]


def estimate(lines: Sequence[Line], options: Options) -> float:
    """About how many seconds these lines take from here."""
    return sum(line.way.seconds(options) for line in lines) + max((line.services for line in lines), default=0) / SEEDED


async def run(lines: Sequence[Line], options: Options, real_api: bool) -> list[Result]:
    """All lines. Raises `BenchError`, `ClusterError`, `FileNotFoundError` where nothing can be run."""
    check(lines, options, real_api)
    say(f"starting the Kubernetes API; about {minutes(API_START + estimate(lines, options))} in all")
    results = []
    async with _setting(options, real_api) as setting:
        for number, line in enumerate(lines):
            left = estimate(lines[number:], options)
            say(f"[{number + 1}/{len(lines)}, about {minutes(left)} left] {line.name}")
            results.append(await _measure(setting, line))
    return results


def check(lines: Sequence[Line], options: Options, real_api: bool) -> None:
    """Tells which lines will be left out. Raises `BenchError` where that is all, or what the API needs is missing."""
    if real_api and (lacking := machine.missing(["openssl"])):
        raise BenchError(f"{lacking}, which makes the keys of kube-apiserver; --api fake needs none")
    out = [(line.name, reason) for line in lines if (reason := lacking_for(line, options))]
    if len(out) == len(lines):
        raise BenchError("; ".join(dict.fromkeys(reason for _, reason in out)))
    for name, reason in out:
        say(f"left out: {name}: {reason}")


def lacking_for(line: Line, options: Options) -> str:
    """Why a line cannot be measured here; empty where it can."""
    if line.subject not in ("", options.subject):
        return f"a line of {line.subject} alone"
    return machine.missing(line.way.needs)


@asynccontextmanager
async def _setting(options: Options, real_api: bool) -> AsyncIterator[Setting]:
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        async with api.real(Path(name)) if real_api else api.fake() as cluster:
            setting = Setting(options, cluster, Path(name), lambda text: say(f"    {named(text, options.subject)}"))
            try:
                yield setting
            finally:
                await setting.close()


async def _measure(setting: Setting, line: Line) -> Result:
    """One line; what it cannot do is a fault of it, what the machine lacks leaves it out."""
    began = time.monotonic()
    if lacking := lacking_for(line, setting.options):
        finding = Finding(left_out=lacking)
    else:
        try:
            await setting.grow(line.services)
            finding = await line.way.run(setting)
        except (BenchError, ClusterError) as error:
            finding = Finding(faults=[str(error).strip()])
            await setting.only([], "")
    result = Result(line.name, line.bounds, finding, time.monotonic() - began)
    for text in (*finding.faults, *filter(None, [finding.left_out])):
        setting.say(f"{text}  ← !")
    return result


def minutes(seconds: float) -> str:
    """`2 min`, `40 s`."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def say(text: str) -> None:
    """A line for those who watch."""
    print(text, file=sys.stderr, flush=True)

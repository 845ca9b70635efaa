"""A line of starts: from the start of the process to the first right answers, what that costs, and the memory then.

Each round starts each server anew, on all cores of the machine, which the API shares.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.bench import asking, questions
from conformance.bench.contestants import CLUSTER, OURS_FREE, REFERENCE_FREE, Contestant
from conformance.bench.finding import Figure, Finding
from conformance.bench.setting import Options, Setting

START = "start to the first right answers"
START_CPU = "processor time of the start"
MEMORY = "resident memory, just started"
UNITS = {START: "s", START_CPU: "s", MEMORY: "MB"}

REST = 1.0
"""Seconds after the first right answers, before memory is looked at."""

SERVICES_PER_SECOND = 20_000
"""For the estimate only: how fast a slow server starts."""


@dataclass(frozen=True)
class Start:
    """Starts, `rounds` of them where not the options' number; `services` is for the estimate."""

    services: int
    rounds: int = 0
    needs: Sequence[str] = ()

    def seconds(self, options: Options) -> float:
        return 2 * (self.rounds or options.rounds) * (REST + 1.2 + self.services / SERVICES_PER_SECOND)

    async def run(self, setting: Setting) -> Finding:
        await setting.only([], "")
        found: dict[str, dict[Contestant, list[float]]] = {what: {} for what in UNITS}
        for turn in range(1, (self.rounds or setting.options.rounds) + 1):
            for contestant in (OURS_FREE, REFERENCE_FREE):
                values = await one_start(setting, contestant)
                for what, value in values.items():
                    found[what].setdefault(contestant, []).append(value)
                told = ", ".join(f"{value:.2f} {UNITS[what]}" for what, value in values.items())
                setting.say(f"{contestant.name}, start {turn}: {told}")
        return self._conclude(setting, found)

    def _conclude(self, setting: Setting, found: dict[str, dict[Contestant, list[float]]]) -> Finding:
        finding = Finding()
        for what, values in found.items():
            finding.figures.append(Figure(what, values[OURS_FREE], theirs=values[REFERENCE_FREE], unit=UNITS[what]))
            setting.note(what, finding.figures[-1].value, finding.figures[-1].their_value)
        return finding


async def one_start(setting: Setting, contestant: Contestant) -> dict[str, float]:
    """One start: the figures by what they are."""
    ready = questions.synced(setting.api.services)
    opening = await setting.fresh(contestant, CLUSTER)
    began = time.monotonic()
    async with opening as server:
        await asyncio.to_thread(asking.until_right, server.port, ready, server.process.check)
        took, cpu = time.monotonic() - began, server.process.cpu_seconds
        await asyncio.sleep(REST)
        return {START: took, START_CPU: cpu, MEMORY: server.process.resident_megabytes}

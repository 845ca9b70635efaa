"""Runs a case on the reference and on the server under test, step by step, and judges every step.

Three questions are asked of each reply: is the case's expectation right (the running reference is), does the server
under test answer as the reference, and if not, does the case name the difference? Prints nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from conformance import recorded, subjects
from conformance.api import Api, Clusters
from conformance.case import Apply, Ask, Case, Delete, Get, Wait, Write
from conformance.cluster import ClusterError
from conformance.compare import compare, normalise
from conformance.message import Reply
from conformance.pages import line_matches, matches, pattern
from conformance.stage import Stage, perform, prepare

SETTLE_TIME = 10.0
"""Seconds within which a change of the objects or files must show in the answers."""

LOG_TIME = 2.0
"""Seconds within which a log line must appear."""

PAGE_TIME = 0.5
"""Seconds within which a page must show what was just asked: a query is counted after its reply was sent."""


@dataclass(frozen=True)
class Plan:
    """Who is judged against whom. `reference`: coredns, recorded, or expected (the cases' own word)."""

    subject: str = "pydns"
    reference: str = "coredns"
    packet_cache: bool = True

    def environment(self, subject: str) -> Mapping[str, str]:
        """Variables for one of the two servers."""
        return {} if self.packet_cache or subject != "pydns" else {"PYDNS_PACKET_CACHE": "0"}


@dataclass(frozen=True)
class Verdict:
    """What became of one check. `problems` is empty when all is well; `differences` are the names it showed."""

    case: str
    place: str
    text: str
    problems: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


@dataclass
class Outcome:
    """All verdicts of a case, and the reference's replies (for recording) in the order of the questions.

    `api` is the kind of API that the case's objects were read from; empty where it has none.
    """

    case: Case
    verdicts: list[Verdict] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    api: str = ""

    @property
    def problems(self) -> list[Verdict]:
        """The verdicts that must be looked at."""
        return [verdict for verdict in self.verdicts if verdict.problems]


async def run_case(case: Case, plan: Plan, clusters: Clusters) -> Outcome:
    """Runs one case; a server that does not start is a verdict, too."""
    outcome = Outcome(case)
    try:
        async with clusters.open(case) as api:
            outcome.api = api.kind if case.cluster or case.objects else ""
            if case.fails:
                await _run_failing(case, plan, api, outcome)
            else:
                await _Run(case, plan, api, outcome).run()
    except (subjects.StartError, recorded.StaleRecording, ClusterError) as error:
        outcome.verdicts.append(Verdict(case.name, case.name, "start", (str(error),)))
    return outcome


async def _run_failing(case: Case, plan: Plan, api: Api, outcome: Outcome) -> None:
    """Both servers must refuse the Corefile with status 1 and a message that holds the case's words."""
    problems = []
    for subject in dict.fromkeys(_servers(plan)):
        async with prepare(case, subject, api.line, plan.environment(subject)) as stage:
            corefile = stage.write("Corefile", case.corefile)
            status, output = await subjects.run_to_end(subject, corefile, stage.environment)
        if status != 1 or not re.search(pattern(stage.fill(case.fails)), output):
            problems.append(f"{subject}: status {status}: {output.strip()}")
    outcome.verdicts.append(Verdict(case.name, case.name, f"fails {case.fails}", tuple(problems)))


def _servers(plan: Plan) -> list[str]:
    return [*(["coredns"] if plan.reference == "coredns" else []), plan.subject]


class _Run:
    """One case under way: the stages of the servers, the subject's last."""

    def __init__(self, case: Case, plan: Plan, api: Api, outcome: Outcome) -> None:
        self.case, self.plan, self.api, self.outcome = case, plan, api, outcome
        self.stages: list[Stage] = []
        self.recording = recorded.load(case) if plan.reference == "recorded" else []
        self.settling = False

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            performing = [self._perform(stack, subject) for subject in _servers(self.plan)]
            self.stages = list(await asyncio.gather(*performing))
            for step in self.case.steps:
                await self._step(step)

    async def _perform(self, stack: AsyncExitStack, subject: str) -> Stage:
        environment = self.plan.environment(subject)
        return await stack.enter_async_context(perform(self.case, subject, self.api.line, environment))

    async def _step(self, step: object) -> None:
        if isinstance(step, Ask):
            await self._ask(step)
        elif isinstance(step, Get):
            await self._get(step)
        elif isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
        else:
            await self._change(step)

    async def _change(self, step: object) -> None:
        self.settling = True
        if isinstance(step, Apply):
            await self.api.apply(step.objects)
        elif isinstance(step, Delete):
            await self.api.delete(step.kind, step.namespace, step.name)
        elif isinstance(step, Write):
            for stage in self.stages:
                stage.write(step.name, step.text)

    # -- questions --

    async def _ask(self, step: Ask) -> None:
        wanted = [step.expected] * (len(self.stages) - 1) + [step.differing or step.expected]
        settling, self.settling = self.settling, False
        replies = await asyncio.gather(
            *(self._reply(stage, step, reply, settling) for stage, reply in zip(self.stages, wanted, strict=True))
        )
        reference = self._reference(step, replies)
        problems = self._judge(step, reference, replies[-1])
        for stage in self.stages:
            problems += await _remarks(stage, step)
        self.outcome.replies.append(normalise(reference or replies[-1]))
        self._verdict(step.place, step.question.text, problems, step.differences)

    async def _reply(self, stage: Stage, step: Ask, wanted: Reply | None, settling: bool) -> Reply:
        """One reply; after a change, asked again until it is as expected or time is up."""
        deadline = asyncio.get_running_loop().time() + (SETTLE_TIME if settling else 0)
        while True:
            stage.take_heard()
            reply = await stage.ask(step.question)
            settled = wanted is None or not self._compare(step, wanted, reply)
            if settled or asyncio.get_running_loop().time() >= deadline:
                return reply
            await asyncio.sleep(0.05)

    def _reference(self, step: Ask, replies: Sequence[Reply]) -> Reply | None:
        if self.plan.reference == "coredns":
            return replies[0]
        if self.plan.reference == "recorded" and not step.question.live:
            return self.recording[len(self.outcome.replies)]
        return None

    def _judge(self, step: Ask, reference: Reply | None, reply: Reply) -> list[str]:
        problems = []
        if reference and step.expected:
            problems += [f"expectation is wrong: {x}" for x in self._compare(step, step.expected, reference)]
        wanted = step.expected if reference is None else reference
        if step.differing and self.plan.subject != "coredns":
            wanted = step.differing
        if wanted:
            problems += [f"{self.plan.subject}: {x}" for x in self._compare(step, wanted, reply)]
        return problems

    def _compare(self, step: Ask, wanted: Reply, got: Reply) -> list[object]:
        return list(compare(wanted, got, self.case.order, step.question.slack))

    # -- pages --

    async def _get(self, step: Get) -> None:
        problems = []
        settling, self.settling = self.settling, False
        for stage in self.stages:
            attempt = _page_attempt(stage, step)
            problems += await _patiently(attempt, SETTLE_TIME if settling else PAGE_TIME)
        self._verdict(step.place, f"get {step.path}", problems, step.differences)

    def _verdict(self, place: str, text: str, problems: Sequence[str], differences: tuple[str, ...] = ()) -> None:
        shown = () if self.plan.subject == "coredns" or problems else differences
        self.outcome.verdicts.append(Verdict(self.case.name, place, text, tuple(problems), shown))


Attempt = Callable[[], Awaitable[list[str]]]


async def _patiently(attempt: Attempt, seconds: float) -> list[str]:
    """The attempt's problems, tried again until there are none or time is up."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        problems = await attempt()
        if not problems or asyncio.get_running_loop().time() >= deadline:
            return problems
        await asyncio.sleep(0.05)


def _page_attempt(stage: Stage, step: Get) -> Attempt:
    wanted = step.differing_has if step.differences and stage.subject != "coredns" else step.has

    async def attempt() -> list[str]:
        status, text = await stage.get(step)
        problems = [f"{stage.subject}: status {status}, not {step.status}: {text}"] if status != step.status else []
        missing = [line for line in wanted if not any(line_matches(line, got) for got in text.splitlines())]
        return problems + [f"{stage.subject}: no line {line!r}" for line in missing]

    return attempt


async def _remarks(stage: Stage, step: Ask) -> list[str]:
    problems = []
    if step.heard is not None:
        heard = stage.take_heard()
        if not _all_heard(step.heard, heard):
            problems.append(f"{stage.subject}: upstream heard {heard}, not {list(step.heard)}")
    log = step.log if step.differing_log is None or stage.subject == "coredns" else step.differing_log
    if log is not None:
        problems += await _log_problems(stage, log)
    return problems


def _all_heard(wanted: Sequence[str], heard: Sequence[str]) -> bool:
    """As many queries as wanted, each with all the words of its line and none of those it has with a minus."""
    return len(wanted) == len(heard) and all(map(_is_heard, wanted, heard))


def _is_heard(wanted: str, query: str) -> bool:
    has = set(query.split())
    return all(
        word in has if word[0] != "-" else not any(have.startswith(f"+{word[1:]}") for have in has)
        for word in wanted.split()
    )


async def _log_problems(stage: Stage, wanted: Sequence[str]) -> list[str]:
    lines: list[str] = []

    async def attempt() -> list[str]:
        lines.extend(stage.take_log())
        return [text for text in wanted if not any(matches(text, line) for line in lines)]

    missing = await _patiently(attempt, LOG_TIME)
    if not wanted:
        return [f"{stage.subject}: logged {line!r}, wanted nothing" for line in lines]
    return [f"{stage.subject}: no log line {text!r} among {lines}" for text in missing]

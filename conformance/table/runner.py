"""Runs a case on the reference and on the server under test, step by step, and judges every step.

Three questions are asked of each reply: is the case's expectation right (the running reference is), does the server
under test answer as the reference, and if not, does the case name the difference? Prints nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from conformance.differences import unexplained
from conformance.kubernetes.client import ClusterError
from conformance.plan import Plan
from conformance.results import Outcome, Verdict
from conformance.servers import subjects
from conformance.setting import Setting, Skipped
from conformance.table import recorded
from conformance.table.api import Api, Clusters, RealClusters
from conformance.table.case import NAMED, Ask, Case, Get, Never, Wait, Write
from conformance.table.case_file import load_cases
from conformance.table.changes import Change, ChangeError, Outage
from conformance.table.pages import pattern
from conformance.table.patience import SILENCES, Patience
from conformance.table.remarks import page, remarks
from conformance.table.settle import (
    AWAY_TIME,
    LATE_TIME,
    SETTLE_TIME,
    Guard,
    Passage,
    Watch,
    denied,
    denies,
    follow,
    passages,
)
from conformance.table.stage import Stage, perform, prepare
from conformance.together import together
from conformance.tools.build import binary
from conformance.wire.compare import compare, has_own_address, normalise
from conformance.wire.message import MALFORMED, TIMEOUT, Reply

PAGE_TIME = 0.5
"""Seconds within which a page must show what was just asked: a query is counted after its reply was sent."""

NO_REPLY = (TIMEOUT.rcode, MALFORMED)
"""What stands for an rcode where there was no reply that can be read."""

CORRECT = "the case expects what CoreDNS does not answer: correct the case"
"""Below what CoreDNS answers otherwise: it is the judge of what it does."""

LIMIT = 120.0
"""Seconds a case may take in all, starts included."""


@dataclass(frozen=True)
class CaseJob:
    """A case as a job of the suite."""

    case: Case
    limit: float = LIMIT

    @property
    def name(self) -> str:
        """The case's."""
        return self.case.name

    @property
    def about(self) -> str:
        """What the case says of itself, and what it needs."""
        needs = [f"cluster {self.case.cluster}"] if self.case.cluster else []
        needs += [f"plugins {' '.join(self.case.needs)}"] if self.case.needs else []
        return f"{self.case.about} (needs {', '.join(needs)})" if needs else self.case.about

    @property
    def tags(self) -> tuple[str, ...]:
        """Those of all its questions and pages."""
        return tuple(sorted({tag for _, tags in self.case.tagged for tag in tags}))

    async def run(self, setting: Setting, outcome: Outcome) -> None:
        """Runs the case on the servers that serve the plugins it needs."""
        outcome.case = self.case
        if self.case.needs_own_address and not has_own_address():
            raise Skipped("this machine has no IPv4 address but loopback ones, which the servers would tell")
        lacking = await _lacking(self.case, setting)
        outcome.waits = "; ".join(f"{server} does not serve {' '.join(names)}" for server, names in lacking.items())
        if self.case.namespaces and isinstance(setting.clusters, RealClusters):
            _check_built("kube-controller-manager")
        servers = [server for server in setting.plan.started if server not in lacking]
        if servers:
            patience = await setting.shared(_patience)
            await run_case(self.case, setting.plan, servers, setting.clusters, outcome, patience)


def _check_built(name: str) -> None:
    try:
        binary(name)
    except FileNotFoundError as error:
        raise Skipped(str(error)) from error


def jobs(plan: Plan) -> list[CaseJob]:
    """All cases; none for a server that has a configuration of its own."""
    return [] if plan.outside else [CaseJob(case) for case in load_cases()]


async def _lacking(case: Case, setting: Setting) -> dict[str, list[str]]:
    """The plugins a case needs that a server does not serve, by server; one that does not say may serve them all."""
    if not case.needs:
        return {}
    served = await setting.shared(_plugins)
    missing = {server: [name for name in case.needs if name not in names] for server, names in served.items() if names}
    return {server: names for server, names in missing.items() if names}


@asynccontextmanager
async def _plugins(setting: Setting) -> AsyncIterator[dict[str, set[str]]]:
    """What each server says it serves."""
    yield {server: await subjects.plugins(server) for server in setting.plan.started}


@asynccontextmanager
async def _patience(setting: Setting) -> AsyncIterator[Patience]:
    """One for all cases of a run."""
    yield Patience()


async def run_case(
    case: Case, plan: Plan, servers: Sequence[str], clusters: Clusters, outcome: Outcome, patience: Patience
) -> None:
    """Runs one case on the servers, the subject last; a server that does not start is a verdict, too.

    So are an API that does not, and a change that cannot be made; these are no server's faults.
    """
    try:
        async with clusters.open(case) as api:
            outcome.api = api.kind if case.cluster or case.namespaces or case.objects else ""
            if case.fails:
                await _run_failing(case, plan, servers, api, outcome)
            else:
                await _Run(case, plan, servers, api, outcome, patience).run()
    except subjects.StartError as error:
        outcome.fail(error.server, "start", str(error))
    except recorded.StaleRecording as error:
        outcome.fail("recording", "start", str(error))
    except ClusterError as error:
        outcome.fail("api", "start", str(error))
    except ChangeError as error:
        outcome.fail("case", "change", str(error))


async def _run_failing(case: Case, plan: Plan, servers: Sequence[str], api: Api, outcome: Outcome) -> None:
    """All servers must refuse the Corefile with status 1 and a message that holds the case's words."""
    faults: dict[str, tuple[str, ...]] = dict.fromkeys(servers, ())
    for subject in servers:
        async with prepare(case, subject, api.line, plan.environment(subject)) as stage:
            corefile = stage.write("Corefile", case.corefile)
            status, output = await subjects.run_to_end(subject, corefile, stage.environment)
        if status != 1 or not re.search(pattern(stage.fill(case.fails)), output):
            faults[subject] = (f"status {status}: {output.strip()}",)
    outcome.verdicts.append(Verdict(case.name, case.name, f"fails {case.fails}", faults))


class _Run:
    """One case under way: the stages of the servers, the subject's last.

    `unwatched`: a change was made and no question stands below it, so that the next page waits for it. `was_away`: the
    API was, `is_late`: a change did not show in time. `guards` are those of each `never denied`, `silent` is how many
    questions in turn a server left without a reply.
    """

    def __init__(
        self, case: Case, plan: Plan, servers: Sequence[str], api: Api, outcome: Outcome, patience: Patience
    ) -> None:
        self.patience = patience
        self.case, self.plan, self.servers, self.api, self.outcome = case, plan, servers, api, outcome
        self.stages: list[Stage] = []
        self.recording = recorded.load(case) if plan.reference == "recorded" else []
        self.unwatched = False
        self.was_away = False
        self.is_late = False
        self.guards: list[list[Guard]] = []
        self.silent: Counter[str] = Counter()

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            performing = [self._perform(stack, subject) for subject in self.servers]
            self.stages = await together(*performing)
            stack.push_async_callback(self._end_guards)
            for step in passages(self.case.steps):
                await self._step(step)
                if self._lost():
                    return

    def _lost(self) -> bool:
        """Whether a server has ended or stays silent, which is a fault: the rest would be time-outs."""
        for stage in self.stages:
            assert stage.running
            if stage.running.ended:
                self.outcome.fail(stage.subject, "server", stage.running.ended)
            elif self.silent[stage.subject] >= SILENCES:
                fault = f"no reply to {SILENCES} questions in turn\n{stage.running.last_lines}"
                self.outcome.fail(stage.subject, "server", fault)
            else:
                continue
            return True
        return False

    async def _perform(self, stack: AsyncExitStack, subject: str) -> Stage:
        environment = self.plan.environment(subject)
        stage = await stack.enter_async_context(perform(self.case, subject, self.api.line, environment))
        stage.patience = self.patience
        return stage

    async def _step(self, step: object) -> None:
        if isinstance(step, Passage):
            await self._pass(step)
        elif isinstance(step, Get):
            await self._get(step)
        elif isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, Never):
            self.guards.append([Guard(stage, step) for stage in self.stages])

    async def _end_guards(self) -> None:
        for guards in self.guards:
            faults = {guard.stage.subject: await guard.end() for guard in guards}
            step = guards[0].step
            self._verdict(step.place, f"never denied {step.question.text}", faults, step.question.tags)

    # -- changes and questions --

    async def _pass(self, passage: Passage) -> None:
        """Makes the changes while the questions are watched, then judges the replies."""
        self.unwatched = bool(passage.changes) and not passage.asks
        started = asyncio.get_running_loop().time()
        watches = [[self._watch(stage, step) for step in passage.asks] for stage in self.stages]
        if not passage.changes:
            for stage in self.stages:
                stage.take_log()  # a line of an earlier question shall not stand for one of this question's
            await asyncio.gather(*(watch.look() for watched in watches for watch in watched))
        else:
            await self._watch_changes(passage.changes, watches)
        for step, *watched in zip(passage.asks, *watches, strict=True):
            await self._judge_watched(step, watched, started, changed=bool(passage.changes))

    def _watch(self, stage: Stage, step: Ask) -> Watch:
        wanted = step.expected_of(stage.subject)
        return Watch(
            stage,
            step,
            lambda reply: wanted is None or not self._compare(step, wanted, reply),
            lasting=wanted is not None and not denies(wanted) and not step.question.gap,
        )

    async def _watch_changes(self, changes: Sequence[Change | Write], watches: list[list[Watch]]) -> None:
        """Changes of objects are watched from before they are asked for, those of files from when they are made."""
        done = asyncio.Event()
        if any(isinstance(change, Change) for change in changes):
            await asyncio.gather(*map(_before, watches))
        following = [
            asyncio.create_task(follow(watched, done, self._patience(changes))) for watched in watches if watched
        ]
        try:
            for change in changes:
                await self._change(change)
            done.set()
            await asyncio.gather(*following)
            self.is_late = self.is_late or not all(watch.right for watched in watches for watch in watched)
        finally:
            for task in following:
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)

    def _patience(self, changes: Sequence[Change | Write]) -> float:
        """Longer from the first time on that the API is away; short once a change did not show in time."""
        self.was_away = self.was_away or any(isinstance(change, Outage) for change in changes)
        return LATE_TIME if self.is_late else AWAY_TIME if self.was_away else SETTLE_TIME

    async def _change(self, change: Change | Write) -> None:
        if isinstance(change, Change):
            try:
                await change.perform(self.api)
            except (ChangeError, ClusterError) as error:
                raise ChangeError(f"{change.place}: {error}") from error
        else:
            for stage in self.stages:
                stage.write(change.name, change.text)

    async def _judge_watched(self, step: Ask, watches: Sequence[Watch], started: float, changed: bool) -> None:
        by_server = {watch.stage.subject: watch.reply for watch in watches}
        if self.plan.reference == "recorded" and not step.question.live:
            by_server = {"coredns": self.recording[len(self.outcome.replies)], **by_server}
        faults = self._judge(step, by_server)
        for server, reply in by_server.items():
            self.silent[server] = self.silent[server] + 1 if reply == TIMEOUT and faults[server] else 0
        for watch in watches:
            faults[watch.stage.subject] += [*denied(watch.denials, started), *await remarks(watch.stage, step)]
        self.outcome.replies.append(normalise(by_server.get("coredns") or watches[-1].reply))
        settled = self._settled(watches) if changed else {}
        self._verdict(step.place, step.question.text, faults, step.question.tags, step.differences, settled)

    def _settled(self, watches: Sequence[Watch]) -> dict[str, float]:
        """Milliseconds from the last change that was asked of the API until the answers that it changed were right."""
        times = {watch.stage.subject: 1000 * (watch.turned - self.api.asked) for watch in watches if watch.turned}
        return {server: time for server, time in times.items() if self.api.asked and time > 0}

    def _judge(self, step: Ask, replies: Mapping[str, Reply]) -> dict[str, list[str]]:
        """CoreDNS by the expectation; the subject by CoreDNS's reply, where no named difference says otherwise."""
        faults: dict[str, list[str]] = {server: [] for server in replies}
        for server, reply in replies.items():
            wanted = step.expected_of(server)
            if server != "coredns" and not (server == NAMED and step.differing):
                wanted = replies.get("coredns", wanted)
            if wanted is not None:
                faults[server] += map(str, self._compare(step, wanted, reply))
                if server == "coredns" and faults[server] and reply.rcode not in NO_REPLY:
                    faults[server].append(CORRECT)
            elif reply.rcode in NO_REPLY:
                faults[server].append(f"any reply would do, got {reply.rcode} {reply.question}".rstrip())
            if server == NAMED and step.differing and "coredns" in replies:
                names, reference = step.differences, replies["coredns"]
                faults[server] += unexplained(step.question, reference, reply, names, self.case.order)
        return faults

    def _compare(self, step: Ask, wanted: Reply, got: Reply) -> list[object]:
        return list(compare(wanted, got, self.case.order, step.question.slack))

    # -- pages --

    async def _get(self, step: Get) -> None:
        faults = {}
        unwatched, self.unwatched = self.unwatched, False
        for stage in self.stages:
            faults[stage.subject] = await page(stage, step, SETTLE_TIME if unwatched else PAGE_TIME)
        self._verdict(step.place, f"get {step.path}", faults, step.tags, step.differences)

    def _verdict(
        self,
        place: str,
        text: str,
        faults: Mapping[str, Sequence[str]],
        tags: tuple[str, ...],
        differences: tuple[str, ...] = (),
        settled: Mapping[str, float] | None = None,
    ) -> None:
        shown = () if NAMED not in faults or any(faults.values()) else differences
        found = {server: tuple(each) for server, each in faults.items()}
        self.outcome.verdicts.append(Verdict(self.case.name, place, text, found, tags, shown, settled=settled or {}))


async def _before(watches: Sequence[Watch]) -> None:
    for watch in watches:
        await watch.before()

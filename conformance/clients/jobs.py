"""Real resolvers in Pod sandboxes as jobs of the suite: what each asks and gets, beside what it must."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.clients.lab import LOST, REPLIES, Lab, Server, open_lab
from conformance.clients.pod import Ran
from conformance.clients.probes import LISTED, Listed, Probe, listed, probe
from conformance.clients.selection import Row, rows
from conformance.clients.tap import Recording, manner
from conformance.clients.toolbox import RESOLVERS, Resolver
from conformance.clients.walks import Expectation, expect
from conformance.plan import Plan
from conformance.results import Heard, Outcome, Verdict, Walk
from conformance.servers.subjects import StartError
from conformance.setting import Setting

LIMIT = 300.0
"""Seconds one resolver may take with all its look-ups."""

PROGRAM_LIMIT = 45.0
"""Seconds a program may take before it is killed: the most patient ones wait for 20."""

TRIES = 3
"""How often a look-up that departs is made when replies were slow: then it may be the machine, and not the server."""

SLOW = 100.0
"""Milliseconds for a reply, after which some resolvers ask again sooner than they would."""

TAG = "search"


@dataclass(frozen=True)
class Observed:
    """What a program did with one server; `error` says why there is nothing to judge."""

    asked: tuple[Heard, ...] = ()
    got: str = ""
    error: str = ""
    manners: tuple[str, ...] = ()
    slowest: float = 0.0


@dataclass(frozen=True)
class ClientJob:
    """All look-ups of one resolver."""

    resolver: Resolver
    limit: float = LIMIT

    @property
    def name(self) -> str:
        """clients/RESOLVER."""
        return f"clients/{self.resolver.name}"

    @property
    def about(self) -> str:
        """What it is about."""
        return f"what {self.resolver.name} asks and gets in a Pod, beside its documented search"

    @property
    def tags(self) -> tuple[str, ...]:
        """`search`, and the numbers of the end-to-end checks."""
        return (TAG, *dict.fromkeys(tag for each in LISTED for tag in each.tags))

    async def run(self, setting: Setting, outcome: Outcome) -> None:
        """Runs all look-ups on all servers. Raises `Skipped` when the program or the sandboxes cannot be had."""
        program = await asyncio.to_thread(self.resolver.find)
        try:
            lab = await setting.shared(open_lab)
        except StartError as error:
            outcome.fail(error.server, "start", str(error))
            return
        checks: list[Row | Listed] = [
            *listed(self.resolver.name),
            *(row for row in rows() if row.resolver == self.resolver.name),
        ]
        async with asyncio.TaskGroup() as group:
            checking = (self._check(check, number, program, lab) for number, check in enumerate(checks))
            tasks = [group.create_task(each) for each in checking]
        outcome.verdicts += [task.result() for task in tasks]

    async def _check(self, check: Row | Listed, number: int, program: str, lab: Lab) -> Verdict:
        """One look-up on all servers; again where replies were slow. Each time names are new to the servers' caches."""
        for turn in range(TRIES):
            label = f"{self.resolver.name.replace('.', '')}-{number}-{turn}"
            made = check.probe(label) if isinstance(check, Listed) else probe(check, label)
            observed = await asyncio.gather(*(self._observe(made, program, server, lab) for server in lab.servers))
            by_server = dict(zip((server.name for server in lab.servers), observed, strict=True))
            verdict = self._verdict(check, made, by_server)
            if not verdict.problems or max(each.slowest for each in observed) < SLOW:
                break
        return verdict

    def _verdict(self, check: Row | Listed, made: Probe, observed: dict[str, Observed]) -> Verdict:
        wanted = expect(self.resolver.name, made.conf, made.lookup, made.world)
        faults = {name: judge(wanted, each, self.resolver.manners_with(made.conf)) for name, each in observed.items()}
        faults[list(observed)[-1]] += compare(observed)
        tags = (TAG, *(check.tags if isinstance(check, Listed) else ()))
        walks = {name: Walk(each.asked, each.got) for name, each in observed.items()}
        return Verdict(self.name, str(check), f"{made.lookup.name} {made.lookup.want}", faults, tags, walks=walks)

    async def _observe(self, made: Probe, program: str, server: Server, lab: Lab) -> Observed:
        async with lab.pod() as pod:
            if server.ended:
                return Observed(error=server.ended)
            recording = Recording(server.address, REPLIES[made.kind] if made.kind else "", LOST)
            argv = self.resolver.command(program, made.lookup)
            try:
                ran = await pod.run(argv, made.conf.text, recording, PROGRAM_LIMIT)
            except (ConnectionError, TimeoutError) as lost:
                return Observed(error=f"the sandbox does not answer: {lost}")
        error = server.ended or _failure(ran)
        got = "" if error else self._read(ran, made)
        manners = tuple(dict.fromkeys(map(manner, recording.words)))
        return Observed(tuple(recording.asked), got, error, manners, recording.slowest)

    def _read(self, ran: Ran, made: Probe) -> str:
        try:
            return str(self.resolver.read(ran.output, made.lookup.want))
        except (json.JSONDecodeError, KeyError) as error:
            return f"unreadable ({error}): {ran.output}{ran.errors}"


def _failure(ran: Ran) -> str:
    """Why a program has nothing to say: it was killed, or died."""
    if ran.status < 0:
        return f"the program was ended by signal {-ran.status} after {ran.milliseconds:.0f} ms {ran.errors}".rstrip()
    return "" if ran.output.strip() or not ran.errors else f"status {ran.status}: {ran.errors}"


def judge(wanted: Expectation, observed: Observed, manners: Sequence[str]) -> tuple[str, ...]:
    """How what was observed departs from what must be: the questions, their flags and options, the result."""
    if observed.error:
        return (observed.error,)
    result = () if observed.got == wanted.got else (f"got {observed.got!r}, not {str(wanted.got)!r}",)
    odd = [each for each in observed.manners if each not in manners]
    return (*wanted.faults(observed.asked), *(f"asked with {each}" for each in odd), *result)


def compare(observed: dict[str, Observed]) -> tuple[str, ...]:
    """How the last server led its client elsewhere than the first: other questions, or another result."""
    (first_name, first), last = next(iter(observed.items())), list(observed.values())[-1]
    if first.error or last.error:
        return ()
    faults = [f"got {last.got!r}, with {first_name} {first.got!r}"] if first.got != last.got else []
    more, less = _questions(last) - _questions(first), _questions(first) - _questions(last)
    faults += [f"asked {', '.join(sorted(more))}, not so with {first_name}"] if more else []
    faults += [f"did not ask {', '.join(sorted(less))}, as with {first_name}"] if less else []
    return tuple(faults)


def _questions(observed: Observed) -> set[str]:
    return {f"{heard.name} {heard.qtype} {heard.transport}" for heard in observed.asked}


def jobs(plan: Plan) -> Sequence[ClientJob]:
    """A job for each resolver; without a server to ask there is none."""
    return [ClientJob(resolver) for resolver in RESOLVERS.values()] if plan.started or plan.outside else []

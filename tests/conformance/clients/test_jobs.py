"""How look-ups are judged, and that one broken server or program is a fault and nothing more."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.clients import jobs, lab, probes
from conformance.clients.jobs import ClientJob, Observed, compare, judge
from conformance.clients.model import Lookup
from conformance.clients.toolbox import RESOLVERS, Resolver
from conformance.clients.walks.expectation import Expectation, Question, Wave
from conformance.clients.world import load_world
from conformance.plan import Plan
from conformance.results import Heard, Outcome
from conformance.servers.script import Rule, Script
from conformance.servers.upstream import Upstream, serve
from conformance.setting import Setting
from conformance.spec.ground import GroundError
from conformance.spec_jobs import opened
from conformance.suite import load_jobs, run_job
from conformance.table.api import FakeClusters
from conformance.table.stage import perform
from conformance.wire.message import Reply


def asked(*words: str) -> tuple[Heard, ...]:
    return tuple(Heard(0, *each.split()) for each in words)


WANTED = Expectation((Wave((Question("web.x.", "A"), Question("web.x.", "AAAA"))),), "192.0.2.7")
RIGHT = Observed(asked("web.x. A udp", "web.x. AAAA udp"), "192.0.2.7")


@pytest.mark.parametrize(
    ("observed", "faults"),
    [
        (RIGHT, []),
        (replace(RIGHT, got="not-found"), ["got 'not-found', not '192.0.2.7'"]),
        (replace(RIGHT, asked=RIGHT.asked[:1]), ["expected: web.x. AAAA udp, seen 0 times"]),
        (replace(RIGHT, asked=(*RIGHT.asked, *asked("web. A udp"))), ["not expected: web. A udp"]),
        (replace(RIGHT, manners=("+rd", "+rd +ad")), ["asked with +rd +ad"]),
        (replace(RIGHT, error="the program was ended by signal 9"), ["the program was ended by signal 9"]),
    ],
)
def test_what_is_a_fault(observed: Observed, faults: list[str]) -> None:
    assert list(judge(WANTED, observed, ["+rd"])) == faults


@pytest.mark.parametrize(
    ("subject", "faults"),
    [
        (RIGHT, []),
        (replace(RIGHT, asked=RIGHT.asked[::-1]), []),
        (replace(RIGHT, asked=RIGHT.asked * 2), []),
        (replace(RIGHT, got="no-data"), ["got 'no-data', with coredns '192.0.2.7'"]),
        (replace(RIGHT, asked=RIGHT.asked[:1]), ["did not ask web.x. AAAA udp, as with coredns"]),
        (
            replace(RIGHT, asked=asked("web.x. A udp", "web.x. AAAA udp", "web.x. A tcp")),
            ["asked web.x. A tcp, not so with coredns"],
        ),
        (replace(RIGHT, got="", error="it died"), []),
    ],
)
def test_both_servers_must_lead_a_client_to_the_same(subject: Observed, faults: list[str]) -> None:
    assert list(compare({"coredns": RIGHT, "pydns": subject})) == faults


def test_a_server_alone_is_compared_with_nothing() -> None:
    assert compare({"pydns": RIGHT}) == ()


Run = Callable[[str, ClientJob], Awaitable[Outcome]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a job with a few look-ups on a server that is broken in one way."""
    server = tmp_path / "server"
    server.write_text(f"#!{sys.executable}\nfrom tests.conformance.broken_server import main\nmain()\n")
    server.chmod(0o700)
    monkeypatch.setattr(jobs, "rows", tuple)
    monkeypatch.setattr(jobs, "listed", lambda resolver: probes.listed(resolver)[:3])
    monkeypatch.setattr(jobs, "PROGRAM_LIMIT", 8.0)
    monkeypatch.setattr(lab, "PODS", 2)

    async def outcome(way: str, job: ClientJob) -> Outcome:
        monkeypatch.setenv("BREAK", way)
        async with Setting(Plan(str(server), "expected"), real_api=False) as setting:
            found = await run_job(job, setting)
        if found.skipped:
            pytest.skip(found.skipped)
        return found

    return outcome


def program(*argv: str) -> Resolver:
    """A resolver whose program is this one."""

    def command(program: str, lookup: Lookup) -> list[str]:
        return list(argv)

    return replace(RESOLVERS["dig"], find=lambda: "", command=command)


async def test_a_server_in_one_piece_passes(run: Run) -> None:
    outcome = await run("nothing", ClientJob(RESOLVERS["dig"]))
    assert (outcome.problems, len(outcome.verdicts)) == ([], 3)


async def test_a_server_that_refuses_is_a_fault_of_each_look_up(run: Run) -> None:
    outcome = await run("wrong_rcode", ClientJob(RESOLVERS["dig"]))
    assert len(outcome.problems) == len(outcome.verdicts)
    assert {verdict.problems[-1].split("got ")[-1].split(",")[0] for verdict in outcome.problems} == {"'refused'"}


async def test_a_server_that_dies_is_told_with_its_last_words(run: Run) -> None:
    outcome = await run("dies", ClientJob(RESOLVERS["dig"]))
    assert len(outcome.problems) == len(outcome.verdicts)
    assert "broken_server: out of cheese" in outcome.problems[-1].problems[0]


async def test_a_program_that_hangs_is_killed_and_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PROGRAM_LIMIT", 0.1)
    outcome = await run("nothing", ClientJob(program("sleep", "60")))
    assert len(outcome.problems) == len(outcome.verdicts)
    assert ": the program was ended by signal 9 after " in outcome.problems[0].problems[0]


@pytest.mark.parametrize(
    ("argv", "fault"),
    [
        (("sh", "-c", "echo oops >&2; exit 4"), "status 4: oops"),
        (("/nosuch",), "status 127: [Errno 2] No such file or directory: '/nosuch'"),
        (("sh", "-c", "kill -SEGV $$"), "the program was ended by signal 11 after "),
    ],
)
async def test_a_program_that_fails_is_told(run: Run, argv: tuple[str, ...], fault: str) -> None:
    outcome = await run("nothing", ClientJob(program(*argv)))
    (said,) = {verdict.problems[0].partition(": ")[2][: len(fault)] for verdict in outcome.problems}
    assert (said, len(outcome.problems)) == (fault, len(outcome.verdicts))


async def judged_outside(run: Run, subject: str) -> Outcome:
    """What becomes of a job with a server that runs already."""
    async with Setting(Plan(subject, "expected"), real_api=False) as setting:
        return await run_job(ClientJob(RESOLVERS["dig"]), setting)


async def test_a_server_that_runs_already_and_serves_the_world(run: Run) -> None:
    world = load_world()
    async with FakeClusters().open(world) as api, perform(world, "pydns", api.line, {}) as stage:
        outcome = await judged_outside(run, f"127.0.0.1:{stage.port(1)}")
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert (outcome.problems, len(outcome.verdicts)) == ([], 3)


async def skipped_because(run: Run, subject: str) -> str:
    outcome = await judged_outside(run, subject)
    if outcome.skipped.startswith("no Pod sandboxes"):
        pytest.skip(outcome.skipped)
    return outcome.skipped


async def test_a_server_that_does_not_serve_the_world_is_skipped(run: Run) -> None:
    empty = Upstream(Script([Rule("*", "*", Reply("NXDOMAIN", frozenset({"qr"})))]))
    async with serve(empty) as port:
        reason = await skipped_because(run, f"127.0.0.1:{port}")
    assert reason.startswith(
        f"127.0.0.1:{port} does not serve what conformance/clients/world.case says: no A web.shop."
    )


async def test_what_all_jobs_would_lack_ends_the_run_with_the_way_to_get_it() -> None:
    empty = Upstream(Script([Rule("*", "*", Reply("NXDOMAIN", frozenset({"qr"})))]))
    async with serve(empty) as port:
        plan = Plan(f"127.0.0.1:{port}", "expected")
        async with Setting(plan, real_api=False) as setting:
            with pytest.raises(GroundError, match=r"(?s)no A web\.shop\..*setup objects \| kubectl apply.*setup zones"):
                async with opened(load_jobs(plan, ["clients/"]), setting):
                    pass


def test_a_server_that_runs_already_is_judged_with_real_resolvers_when_they_are_asked_for() -> None:
    plan = Plan("10.96.0.10:53", "expected")
    areas = [{job.name.partition("/")[0] for job in load_jobs(plan, filters)} for filters in ([], ["^spec/general"])]
    assert areas == [{"spec"}, {"spec"}]
    assert len(load_jobs(plan, ["clients/"])) == len(RESOLVERS)
    assert len(load_jobs(plan, ["spec/", "clients/dig"])) == len(load_jobs(plan)) + 1
    assert load_jobs(plan, ["^clients"])


async def test_a_cluster_that_sandboxes_do_not_reach_is_skipped(run: Run) -> None:
    reason = await skipped_because(run, "cluster")
    assert reason == "a Pod sandbox has no way to the DNS of a cluster: give its address, --subject ADDRESS"


async def test_a_server_that_does_not_answer_is_a_fault(run: Run) -> None:
    outcome = await judged_outside(run, "127.0.0.1:9")
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert [verdict.problems for verdict in outcome.problems] == [
        ["127.0.0.1:9: no reply to web.shop.svc.cluster.local. A"]
    ]

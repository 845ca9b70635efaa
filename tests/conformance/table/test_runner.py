"""Cases run on what a machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.plan import Plan
from conformance.results import Outcome, Verdict
from conformance.setting import Setting, Skipped
from conformance.table import changes, recorded
from conformance.table.api import FakeClusters
from conformance.table.case_file import parse_cases
from conformance.table.patience import Patience
from conformance.table.runner import CORRECT, CaseJob, run_case
from conformance.wire.message import TIMEOUT, Reply


async def test_a_case_that_needs_controllers_is_skipped_by_name_where_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYDNS_CONFORMANCE_CACHE", str(tmp_path))
    (case,) = parse_cases("controllers shop\ncorefile\n    .\n", "lab/x")
    async with Setting(Plan(reference="expected"), real_api=True) as setting:
        with pytest.raises(Skipped, match=r"^kube-controller-manager is not built; build it with: python -m"):
            await CaseJob(case).run(setting, Outcome(case.name))


@pytest.mark.parametrize(
    ("says", "waits"), [("echo dns.cache", "{} does not serve file"), ("echo dns.file", ""), ("exit 2", "")]
)
async def test_a_program_that_names_its_plugins_is_not_asked_for_others(tmp_path: Path, says: str, waits: str) -> None:
    program = tmp_path / "server"
    program.write_text(f"#!/bin/sh\n{says}\n")
    program.chmod(0o755)
    (case,) = parse_cases("needs file\ncorefile\n    .:{PORT}\n? a. A => NOERROR\n", "lab/x")
    outcome = Outcome(case.name)
    async with Setting(Plan(str(program), "expected"), real_api=False) as setting:
        await CaseJob(case).run(setting, outcome)
    assert outcome.waits == waits.format(program)
    assert bool(outcome.problems) == (not waits)  # it was started, and ended at once


async def judged_without_servers(text: str, reference: str = "expected") -> Verdict:
    """The one verdict of a case that is run on no server."""
    (case,) = parse_cases(text, "lab/x")
    outcome = Outcome(case.name)
    await run_case(case, Plan(reference=reference), [], FakeClusters(), outcome, Patience())
    (verdict,) = outcome.verdicts
    return verdict


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("ready 10.0.0.1", "no Pod has the address 10.0.0.1"),
        ("patch Deployment shop/web\n    spec: {}", "there is no Deployment shop/web to patch"),
        ("start shop app=typo 10.0.0.1", "no Pod app=typo without an address in shop after 0 s"),
    ],
)
async def test_a_change_that_cannot_be_made_is_no_servers_fault(
    monkeypatch: pytest.MonkeyPatch, change: str, fault: str
) -> None:
    monkeypatch.setattr(changes, "POD_TIME", 0.0)
    verdict = await judged_without_servers(f"corefile\n    .\n{change}\n? a. A\n")
    assert verdict.problems == [f"case: lab/x.case:3: {fault}"]


@pytest.mark.parametrize(
    ("expected", "answered", "faults"),
    [
        (
            "NXDOMAIN",
            Reply("REFUSED", frozenset({"qr", "rd"}), question="a. IN A"),
            ["rcode: wanted NXDOMAIN, got REFUSED", CORRECT],
        ),
        ("NXDOMAIN", TIMEOUT, ["rcode: wanted NXDOMAIN, got TIMEOUT"]),
        ("REFUSED rd", Reply("REFUSED", frozenset({"qr", "rd"}), question="a. IN A"), []),
    ],
)
async def test_a_case_that_coredns_does_not_bear_out_is_to_be_corrected(
    monkeypatch: pytest.MonkeyPatch, expected: str, answered: Reply, faults: list[str]
) -> None:
    monkeypatch.setattr(recorded, "load", lambda case: [answered])
    verdict = await judged_without_servers(f"corefile\n    .\n? a. A => {expected}\n", "recorded")
    assert [fault for fault in verdict.faults["coredns"] if fault.startswith(("rcode", CORRECT))] == faults

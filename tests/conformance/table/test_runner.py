"""Cases run on what a machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.plan import Plan
from conformance.results import Outcome
from conformance.setting import Setting, Skipped
from conformance.table.case_file import parse_cases
from conformance.table.runner import CaseJob


async def test_a_case_that_needs_controllers_is_skipped_by_name_where_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYDNS_CONFORMANCE_CACHE", str(tmp_path))
    (case,) = parse_cases("controllers shop\ncorefile\n    .\n", "lab/x")
    async with Setting(Plan(reference="expected"), real_api=True) as setting:
        with pytest.raises(Skipped, match=r"^kube-controller-manager is not built; build it with: python -m"):
            await CaseJob(case).run(setting, Outcome(case.name))

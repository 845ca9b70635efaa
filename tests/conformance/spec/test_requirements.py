"""The numbers of requirements: what covers each, or why nothing can."""

import pytest

from conformance.plan import Plan
from conformance.report.requirements import numbers
from conformance.spec.requirements import NO_CASE, REQUIREMENTS
from conformance.suite import load_jobs

COVERED = set(numbers(tag for job in load_jobs(Plan()) for tag in job.tags))


@pytest.mark.parametrize("number", REQUIREMENTS)
def test_a_number_has_a_job_or_a_reason(number: str) -> None:
    assert (number in COVERED) is not REQUIREMENTS[number].startswith(NO_CASE)


def test_jobs_use_no_other_numbers() -> None:
    assert set(REQUIREMENTS) >= COVERED


def test_there_are_enough() -> None:
    assert len(COVERED) >= 60

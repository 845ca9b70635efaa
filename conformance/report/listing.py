"""What there is to run: jobs with what they need, requirements with the jobs that cover them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conformance.report.requirements import KINDS, numbers
from conformance.report.run import counted
from conformance.report.terminal import make_console
from conformance.setting import Job
from conformance.spec.requirements import REQUIREMENTS


def show(jobs: Sequence[Job], with_jobs: bool, with_requirements: bool) -> None:
    """Prints one list or both."""
    console = make_console()
    if with_jobs:
        for line in job_lines(jobs):
            console.print(line, markup=False)
    if with_requirements:
        for line in requirement_lines(jobs, REQUIREMENTS):
            console.print(line, markup=False)


def job_lines(jobs: Sequence[Job]) -> Iterator[str]:
    """A line for each job: its name, what it checks and needs, and the requirements it covers."""
    width = max((len(job.name) for job in jobs), default=0)
    for job in jobs:
        tags = f" [{' '.join(numbers(job.tags))}]" if numbers(job.tags) else ""
        yield f"{job.name:{width}}  {job.about}{tags}"
    yield counted(len(jobs), "job")


def requirement_lines(jobs: Sequence[Job], texts: Mapping[str, str]) -> Iterator[str]:
    """For each requirement its number and text, and below it the jobs that cover it."""
    found = numbers({*texts, *(tag for job in jobs for tag in job.tags)})
    for letter, kind in KINDS.items():
        yield f"{letter}: {kind}"
        for number in (number for number in found if number[0] == letter):
            yield f"  {number:4} {texts.get(number, '')}"
            yield f"       {' '.join(job.name for job in jobs if number in job.tags) or '-'}"

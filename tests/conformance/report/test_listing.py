"""`--list` and `--requirements`."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.report.listing import job_lines, requirement_lines
from conformance.results import Outcome
from conformance.setting import Setting


@dataclass(frozen=True)
class Named:
    """A job that nobody runs."""

    name: str
    about: str
    tags: tuple[str, ...] = ()
    limit: float = 1.0

    async def run(self, setting: Setting, outcome: Outcome) -> None:
        """Has nothing to do."""


JOBS = [Named("a/ptr", "reverse names", ("R9", "search", "R10")), Named("clients/musl", "musl (needs musl-gcc)")]


def test_jobs() -> None:
    assert list(job_lines(JOBS)) == [
        "a/ptr         reverse names [R9 R10]",
        "clients/musl  musl (needs musl-gcc)",
        "2 jobs",
    ]


def test_requirements() -> None:
    texts = {"R9": "PTR of an IPv4 ClusterIP", "K36": "needs a kubelet: the hosts file"}
    assert list(requirement_lines(JOBS, texts)) == [
        "R: Kubernetes DNS specification 1.1.0",
        "  R9   PTR of an IPv4 ClusterIP",
        "       a/ptr",
        "  R10  ",
        "       a/ptr",
        "X: What resolvers need beyond the specification",
        "K: Kubernetes end-to-end suites",
        "  K36  needs a kubelet: the hosts file",
        "       -",
        "C: CoreDNS's own integration tests",
    ]

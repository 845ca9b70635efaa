"""The JSON report: what programs may rely on."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.plan import Plan
from conformance.report.document import document, write
from conformance.results import Outcome, Verdict
from conformance.spec.departures import DEPARTURES
from tests.conformance.report import sample

NAME = "srv-for-unnamed-ports"

FOUND = document(sample.run(), sample.TEXTS)


def test_its_parts() -> None:
    assert list(FOUND) == [
        "schema", "started", "seconds", "machine", "plan", "servers", "result", "areas", "requirements", "differences",
        "departures", "changes", "jobs",
    ]  # fmt: skip
    assert FOUND["schema"] == 1


def test_the_result() -> None:
    assert FOUND["result"] == {
        "status": 1,
        "holds": False,
        "word": "does not hold",
        "conclusion": "does not hold: 1 problem (17 checks)",
        "reasons": ["1 problem"],
        "interrupted": False,
        "counts": {
            "jobs": 7, "done": 7, "checks": 17, "problems": 1, "differences": 1, "skipped": 1, "waiting": 1,
            "walks": 12, "questions": 72,
        },
    }  # fmt: skip


def test_the_plan() -> None:
    plan = Plan("cluster", kubeconfig=Path("admin.conf"), context="kind")
    found = document(sample.run(plan=plan, filters=("spec/",)), {})["plan"]
    assert (found["subject"], found["reference"], found["kubeconfig"]) == ("cluster", "coredns", "admin.conf")
    assert (found["filters"], found["whole"], found["strict"]) == (["spec/"], False, False)


def test_servers_with_their_versions() -> None:
    assert FOUND["servers"] == [
        {"name": "pydns", "version": "pydns-0.1.0"},
        {"name": "coredns", "version": "CoreDNS-1.14.7"},
    ]


def test_a_requirement() -> None:
    (row,) = [row for row in FOUND["requirements"]["rows"] if row["number"] == "R7"]
    departs = {"state": "departs", "passed": 0, "failed": 0, "departed": 1, "waits": 0, "skipped": 0}
    assert row["servers"]["coredns"] == departs
    assert (row["text"], row["jobs"]) == ("A port without a name has no SRV record", ["spec/general"])


def test_departures_with_their_reasons() -> None:
    assert FOUND["departures"] == [
        {"name": NAME, "reason": DEPARTURES[NAME], "servers": {"coredns": 1, "pydns": 0}},
    ]


def test_times_of_changes() -> None:
    assert FOUND["changes"]["coredns"] == {"count": 3, "median": 48.0, "p90": 62.0, "longest": 62.0}


def test_a_walk() -> None:
    (job,) = [job for job in FOUND["jobs"] if job["name"] == "clients/go"]
    walk = job["checks"][0]["walks"]["pydns"]
    assert walk["asked"][1] == {
        "ms": 40.1, "name": "web.shop.shop.svc.cluster.local.", "type": "AAAA", "transport": "udp",
    }  # fmt: skip
    assert walk["got"] == "10.96.1.1"


def test_a_file_reads_back_as_it_was(tmp_path: Path) -> None:
    write(FOUND, tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == FOUND


def test_text_that_is_no_text_is_written_all_the_same(tmp_path: Path) -> None:
    verdict = Verdict("a/b", "1", "?", {"pydns": ("got \udcff",)})
    found = document(sample.run(outcomes=(Outcome("a/b", verdicts=[verdict]),)), {})
    write(found, tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == found

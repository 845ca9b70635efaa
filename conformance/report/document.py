"""A run as one JSON document, which the page and the picture are made from, too.

`schema` is 1. Whoever reads it may rely on what is there; more may be added.
"""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conformance.differences import DIFFERENCES
from conformance.report import changes
from conformance.report.requirements import Row, states, table
from conformance.report.run import Run
from conformance.results import Outcome, Verdict, Walk
from conformance.spec.departures import DEPARTURES

SCHEMA = 1

Document = Mapping[str, Any]


def document(run: Run, texts: Mapping[str, str]) -> Document:
    """Everything a run found; `texts` are the requirements in words."""
    rows = table(run.outcomes, run.servers, texts)
    return {
        "schema": SCHEMA,
        "started": run.started,
        "seconds": round(run.seconds, 3),
        "machine": _machine(),
        "plan": _plan(run),
        "servers": [{"name": name, "version": run.versions.get(name, "")} for name in run.servers],
        "result": _result(run),
        "areas": _areas(run),
        "requirements": {
            "states": {server: states(rows, server) for server in run.servers},
            "rows": [_row(row) for row in rows],
        },
        "differences": _differences(run),
        "departures": _departures(run),
        "changes": {server: asdict(found) for server, found in changes.times(run.verdicts).items()},
        "jobs": [_job(outcome) for outcome in run.outcomes],
    }


def write(found: Document, path: Path) -> None:
    """The document as a file, indented a little so that people can look at it and tools can compare two of them."""
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", errors="backslashreplace")


def _machine() -> dict[str, Any]:
    return {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}


def _plan(run: Run) -> dict[str, Any]:
    plan = {key: str(value) if isinstance(value, Path) else value for key, value in asdict(run.plan).items()}
    return {**plan, "filters": list(run.filters), "whole": run.whole, "strict": run.strict}


def _result(run: Run) -> dict[str, Any]:
    return {
        "status": run.status,
        "holds": not run.reasons,
        "word": run.word,
        "conclusion": run.conclusion,
        "reasons": run.reasons,
        "interrupted": run.interrupted,
        "counts": {
            "jobs": run.jobs,
            "done": len(run.outcomes),
            "checks": len(run.verdicts),
            "problems": len(run.problems),
            "differences": run.differences.total(),
            "skipped": len(run.skipped),
            "waiting": len(run.waiting),
            "walks": sum(len(verdict.walks) for verdict in run.verdicts),
            "questions": sum(len(walk.asked) for verdict in run.verdicts for walk in verdict.walks.values()),
        },
    }


def area(name: str) -> str:
    """The part of a job's name before the first slash."""
    return name.partition("/")[0]


def _areas(run: Run) -> list[dict[str, Any]]:
    jobs = Counter(area(outcome.name) for outcome in run.outcomes)
    checks = Counter(area(outcome.name) for outcome in run.outcomes for _ in outcome.verdicts)
    problems = Counter(area(outcome.name) for outcome in run.outcomes for _ in outcome.problems)
    return [
        {"name": name, "jobs": jobs[name], "checks": checks[name], "problems": problems[name]} for name in sorted(jobs)
    ]


def _row(row: Row) -> dict[str, Any]:
    cells = {
        server: {
            "state": cell.state,
            "passed": cell.passed,
            "failed": cell.failed,
            "departed": cell.departed,
            "waits": cell.waits,
            "skipped": cell.skipped,
        }
        for server, cell in row.cells.items()
    }
    return {"number": row.number, "text": row.text, "jobs": row.jobs, "servers": cells}


def _differences(run: Run) -> list[dict[str, Any]]:
    shown = run.differences
    names = sorted({*shown, *run.never_shown})
    return [{"name": name, "count": shown[name], "reason": DIFFERENCES[name].reason} for name in names]


def _departures(run: Run) -> list[dict[str, Any]]:
    shown = run.departures
    return [
        {"name": name, "reason": DEPARTURES.get(name, ""), "servers": {server: shown[server][name] for server in shown}}
        for name in sorted({name for names in shown.values() for name in names})
    ]


def _job(outcome: Outcome) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "about": outcome.about,
        "tags": list(outcome.tags),
        "api": outcome.api,
        "seconds": round(outcome.seconds, 3),
        "skipped": outcome.skipped,
        "waits": outcome.waits,
        "absent": outcome.absent,
        "checks": [_check(verdict) for verdict in outcome.verdicts],
    }


def _check(verdict: Verdict) -> dict[str, Any]:
    found: dict[str, Any] = {
        "place": verdict.place,
        "text": verdict.text,
        "faults": {server: list(faults) for server, faults in verdict.faults.items()},
    }
    more = {
        "tags": list(verdict.tags),
        "differences": list(verdict.differences),
        "departures": {server: list(names) for server, names in verdict.departures.items()},
        "notes": list(verdict.notes),
        "settled": dict(verdict.settled),
        "walks": {server: _walk(walk) for server, walk in verdict.walks.items()},
    }
    return found | {key: value for key, value in more.items() if value}


def _walk(walk: Walk) -> dict[str, Any]:
    asked = [
        {"ms": round(heard.milliseconds, 1), "name": heard.name, "type": heard.qtype, "transport": heard.transport}
        for heard in walk.asked
    ]
    return {"asked": asked, "got": walk.got}

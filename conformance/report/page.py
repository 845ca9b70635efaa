"""A run as one HTML page, complete in itself: style, script and data are in it, and nothing is loaded from elsewhere.

    python -m conformance.report.page REPORT.json PAGE.html

makes it from the JSON report of an earlier run.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from conformance.report.document import Document, area
from conformance.report.problems import called, told
from conformance.report.requirements import KINDS, State, in_words, looked_at
from conformance.report.run import counted

HERE = Path(__file__).parent

SYMBOLS = {
    State.FAILS: "✗",
    State.DEPARTS: "≈",
    State.PASSES: "✓",
    State.WAITS: "…",
    State.SKIPPED: "–",
    State.NONE: "·",
}

REFERENCES = {"coredns": "a running CoreDNS", "recorded": "recorded CoreDNS"}
"""What the references that answers are compared with are called."""


def write(found: Document, path: Path) -> None:
    """Writes the page."""
    path.write_text(render(found), errors="replace")


def render(found: Document) -> str:
    """The page as text."""
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        duration=duration, moment=moment, count=count, counted=counted, prose=prose, called=called, told=told,
        looked_at=looked_at, in_words=in_words,
    )  # fmt: skip
    return environment.get_template("page.html.j2").render(
        report=found,
        kinds=_kinds(found),
        resolvers=resolvers(found),
        problems=_problems(found),
        aside=_aside(found),
        areas=_areas(found),
        symbols=SYMBOLS,
        judge=_judge(found),
        compared=found["plan"]["reference"] in REFERENCES and found["result"]["counts"]["checks"],
        states=[state for state in State if any(state in seen for seen in found["requirements"]["states"].values())],
        style=Markup((HERE / "page.css").read_text()),
        script=Markup((HERE / "page.js").read_text()),
        data=compact(found),
    )


def duration(seconds: float) -> str:
    """Seconds as people say them: `8.4 s`, `5 min 12 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def moment(text: str) -> str:
    """A time of the report (ISO 8601, UTC) without its seconds; other text as it is."""
    try:
        return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M UTC")
    except ValueError:
        return text


def count(number: int) -> str:
    """A number with thousands set apart."""
    return f"{number:,}"


def prose(text: str) -> Markup:
    """Text with `code` and *emphasis* as they stand in the documentation."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(re.sub(r"(?<!\w)\*(\w(?:[\w ]*\w)?)\*(?!\w)", r"<em>\1</em>", marked))


def _kinds(found: Document) -> list[tuple[str, str, list[Any]]]:
    """The requirements by the letter of their numbers, with what the letter stands for."""
    rows = [row | {"covered": _covered(row)} for row in found["requirements"]["rows"]]
    groups = [(letter, text, [row for row in rows if row["number"][0] == letter]) for letter, text in KINDS.items()]
    return [group for group in groups if group[2]]


def _covered(row: Mapping[str, Any]) -> bool:
    return any(cell["state"] != State.NONE for cell in row["servers"].values())


def resolvers(found: Document) -> list[dict[str, Any]]:
    """One entry for each job in which clients were watched."""
    entries = []
    servers = [server["name"] for server in found["servers"]]
    for index, job in enumerate(found["jobs"]):
        walked = [check for check in job["checks"] if check.get("walks")]
        if walked:
            entries.append({"job": index, "name": job["name"], "checks": len(walked),
                            "problems": sum(map(_failed, walked)), "asked": _asked(walked, servers)})  # fmt: skip
    return entries


def _asked(checks: Sequence[Mapping[str, Any]], servers: Sequence[str]) -> dict[str, int]:
    """How many questions the clients sent to each server."""
    seen = [check["walks"] for check in checks]
    return {server: sum(len(walks[server]["asked"]) for walks in seen if server in walks) for server in servers}


def _failed(check: Mapping[str, Any]) -> bool:
    return any(check["faults"].values())


def _problems(found: Document) -> list[dict[str, Any]]:
    return [check | {"job": job["name"]} for job in found["jobs"] for check in job["checks"] if _failed(check)]


def _judge(found: Document) -> str:
    """What the answers were judged by."""
    places = [check["place"] for job in found["jobs"] for check in job["checks"]]
    cases = any(".case:" in place for place in places)
    own = "the specification and the cases" if cases else "the specification"
    return REFERENCES.get(found["plan"]["reference"], own)


def _aside(found: Document) -> list[tuple[str, str, list[str]]]:
    """What was skipped, waits, or is not covered: which of these, why, and the jobs."""
    groups: dict[tuple[str, str], list[str]] = {}
    for job in found["jobs"]:
        for kind, reason in (
            ("skipped", job["skipped"]),
            ("waits", job["waits"]),
            ("not covered", job.get("absent", "")),
        ):
            if reason:
                groups.setdefault((kind, reason), []).append(job["name"])
    return [(*key, names) for key, names in groups.items()]


def _areas(found: Document) -> list[dict[str, Any]]:
    """The areas, each with the places of its jobs in the report."""
    jobs = found["jobs"]
    return [
        entry | {"places": [index for index, job in enumerate(jobs) if area(job["name"]) == entry["name"]]}
        for entry in found["areas"]
    ]


def compact(found: Document) -> dict[str, Any]:
    """What the script draws from: without what is empty, and each name of a walk written once."""
    return {
        "servers": [server["name"] for server in found["servers"]],
        "called": {server["name"]: called(server["name"]) for server in found["servers"]},
        "jobs": [{"name": job["name"], "checks": list(map(_compact_check, job["checks"]))} for job in found["jobs"]],
    }


def _compact_check(check: Mapping[str, Any]) -> dict[str, Any]:
    faults = {server: told(texts) for server, texts in check["faults"].items() if texts}
    kept = {"faults": faults, "judged": list(check["faults"]), "walks": _compact_walks(check.get("walks", {}))}
    other = {key: check.get(key) for key in ("place", "text", "tags", "differences", "departures", "settled")}
    return {key: value for key, value in (other | kept).items() if value}


def _compact_walks(walks: Mapping[str, Any]) -> dict[str, Any]:
    """`names` once, in the order in which they were first asked for; questions as [ms, name, type, transport]."""
    if not walks:
        return {}
    names = list(dict.fromkeys(heard["name"] for walk in walks.values() for heard in walk["asked"]))
    place = {name: index for index, name in enumerate(names)}
    seen = {
        server: {
            "got": walk["got"],
            "asked": [
                [heard["ms"], place[heard["name"]], heard["type"], heard["transport"]] for heard in walk["asked"]
            ],
        }
        for server, walk in walks.items()
    }
    return {"names": names, "seen": seen}


def main(words: Sequence[str]) -> int:
    """Makes a page from a JSON report; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m conformance.report.page", description=main.__doc__)
    parser.add_argument("report", type=Path, metavar="REPORT.json")
    parser.add_argument("page", type=Path, metavar="PAGE.html")
    options = parser.parse_args(words)
    write(json.loads(options.report.read_text()), options.page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

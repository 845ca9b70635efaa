"""Keeps a run in the repository: docs/bench.json, docs/bench.svg, and the tables of the README between two marks.

python -m conformance.bench.report RUN.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.bench.age import since
from conformance.bench.document import SCHEMA, Document
from conformance.bench.lines import LINES
from conformance.bench.picture import draw
from conformance.bench.table import headline, markdown

ROOT = Path(__file__).parents[2]
BEGIN = "<!-- from docs/bench.json, by python -m conformance.bench.report -->"
RANGE = "<!-- the range, from docs/bench.json -->"
RANGE_END = "<!-- end of the range -->"
WHOLE = "a run of all lines"
END = "<!-- end of what is from docs/bench.json -->"


class MarkError(Exception):
    """A page does not have the two marks, in order."""


def inserted(page: str, text: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with the text between two marks. Raises `MarkError`."""
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise MarkError(f"the page lacks {begin!r} or, behind it, {end!r}")
    return f"{before}{begin}{text}{end}{after}"


def told(page: str, found: Document) -> str:
    """The page with what a run says: the tables, and the range in its first lines. Raises `MarkError`."""
    page = inserted(page, f"\n\n{markdown(found, since(found, LINES))}\n\n")
    return inserted(page, headline(found), RANGE, RANGE_END)


def as_json(found: Document) -> str:
    """The document as text."""
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def keep(found: Document, root: Path = ROOT) -> None:
    """Writes the three files. Raises `MarkError`, `OSError`."""
    readme = root / "README.md"
    page = told(readme.read_text(), found)
    (root / "docs" / "bench.json").write_text(as_json(found))
    (root / "docs" / "bench.svg").write_text(draw(found))
    readme.write_text(page)


def main(words: Sequence[str]) -> int:
    """Keeps the run of a JSON file; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m conformance.bench.report", description=__doc__)
    parser.add_argument("run", type=Path, metavar="RUN.json", help="what `python -m conformance.bench --json` wrote")
    found = json.loads(parser.parse_args(words).run.read_text())
    if found.get("schema") != SCHEMA:
        print(f"schema {found.get('schema')} is not {SCHEMA}", file=sys.stderr)
        return 1
    if found["options"].get("load") or found["options"]["quick"]:
        print(f"this is not {WHOLE}", file=sys.stderr)
        return 1
    keep(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

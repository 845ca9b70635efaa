"""``pydns check FILE...``: what is wrong in a Corefile, and in which order its plugins really run.

Nothing is started, and no API is asked.  All problems are shown, not only the first; behind one of the grammar itself,
such as a missing brace, nothing more is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydns import build
from pydns.corefile.line import CorefileError
from pydns.http import HttpListeners
from pydns.metrics import Metrics
from pydns.plugin import Block, Process


def check_all(paths: Sequence[str]) -> int:
    """Print the report on each Corefile, below its name where there are several; 1 where one would not start."""
    status = 0
    for number, path in enumerate(paths):
        if len(paths) > 1:
            print("\n" * bool(number) + f"== {path}")
        status |= check("stdin" if path == "-" else path)
    return status


def check(path: str) -> int:
    """Print the report on the Corefile ``path`` ("stdin" is standard input); 1 where it would not start, else 0."""
    try:
        corefile = build.load(path, go_on=True)
    except CorefileError as problem:
        print(problem)
        return 1
    draft = build.Draft(corefile, Process(metrics=Metrics(), http=HttpListeners(), corefile=path))
    print(*_report(draft), sep="\n")
    return 1 if draft.problems else 0


def _report(draft: build.Draft) -> Iterator[str]:
    by_place = sorted(draft.problems, key=lambda problem: (problem.file, problem.line))
    problems = list(dict.fromkeys(map(str, by_place)))  # a snippet may be imported more than once
    yield from problems
    yield from draft.corefile.warnings
    if problems or draft.corefile.warnings:
        yield ""
    for block in draft.blocks:
        yield from _order(block)
        yield ""
    yield _verdict(len(problems), len(draft.corefile.warnings))


def _order(block: Block) -> Iterator[str]:
    """The keys of a block, and its plugins in the order in which a query passes them."""
    yield " ".join(f"{key.zone}:{key.port}" for key in block.keys)
    links = [name for name, plugin in block.plugins.items() if plugin.is_link()]
    others = [name for name, plugin in block.plugins.items() if not plugin.is_link()]
    yield f"  queries pass: {' > '.join(links) or 'none, so all are REFUSED'}"
    if others:
        yield f"  beside them:  {' '.join(others)}"


def _verdict(problems: int, warnings: int) -> str:
    if problems:
        return f"{_count(problems, 'problem')}: the server would not start"
    return f"{_count(warnings, 'warning')}: the server would start" if warnings else "no problems"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""Replies of the reference kept as text, one file for each case: `--record` writes, `--reference recorded` reads.

Knows no servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.table.case import Ask, Case
from conformance.wire.blocks import CaseError, split_blocks
from conformance.wire.compare import compare
from conformance.wire.expectation import Settings, parse_reply, render_reply
from conformance.wire.message import Record, Reply

FOLDER = Path(__file__).parent.parent / "recorded"


class StaleRecording(Exception):
    """The recording of a case is missing, belongs to other questions, or cannot be read."""


def path_of(case: Case, folder: Path = FOLDER) -> Path:
    """Where a case's replies are kept."""
    return folder / f"{case.name.replace(':', '-')}.txt"


def save(case: Case, replies: Sequence[Reply], folder: Path = FOLDER) -> None:
    """Writes the replies to a case's questions; the same replies give the same file."""
    path = path_of(case, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for step, reply in zip(case.questions, replies, strict=True):
        head, *rest = render_reply(_worth_keeping(reply, step, case.order), step.question)
        lines += [f"? {step.question.text} => {head}", *rest]
    path.write_text("".join(f"{line}\n" for line in lines))


def prune(cases: Sequence[Case], folder: Path = FOLDER) -> None:
    """Removes recordings that belong to none of the cases."""
    kept = {path_of(case, folder) for case in cases if case.questions}
    for path in folder.rglob("*.txt"):
        if path not in kept:
            path.unlink()


def _worth_keeping(reply: Reply, step: Ask, order: str) -> Reply:
    """Without what changes from run to run: an age of some seconds, and an order that is shuffled."""
    expected = step.expected
    if expected and step.question.slack and not compare(expected, reply, order, step.question.slack):
        reply = expected
    return reply if order == "exact" else stable(reply)


def load(case: Case, folder: Path = FOLDER) -> list[Reply]:
    """The recorded replies in the order of the questions; raises `StaleRecording`."""
    path = path_of(case, folder)
    if not case.questions:
        return []
    hint = f"record it with `python -m conformance --record {case.name}`"
    if not path.exists():
        raise StaleRecording(f"{path.name} is missing: {hint}")
    blocks = list(split_blocks(path.name, path.read_text().splitlines()))
    replies = []
    for number, step in enumerate(case.questions):
        text, _, words = blocks[number].rest.rpartition(" => ") if number < len(blocks) else ("", "", "")
        if text != step.question.text:
            raise StaleRecording(f"{path.name}: question {number + 1} is {text!r}, not {step.question.text!r}: {hint}")
        try:
            replies.append(parse_reply(words, blocks[number], Settings(), step.question))
        except CaseError as error:
            raise StaleRecording(f"{error}: {hint}") from error
    if len(blocks) > len(replies):
        raise StaleRecording(f"{path.name}: question {len(replies) + 1} is not in the case any more: {hint}")
    return replies


def stable(reply: Reply) -> Reply:
    """The reply with every section sorted, CNAMEs in front as they were."""
    return reply.with_sections({name: _sorted(records) for name, records in reply.sections.items()})


def _sorted(records: Sequence[Record]) -> list[Record]:
    aliases = [record for record in records if record.rtype == "CNAME"]
    return [*aliases, *sorted(record for record in records if record.rtype != "CNAME")]

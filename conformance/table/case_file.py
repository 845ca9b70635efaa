"""Case files: from text to cases, with FILE:LINE for whatever cannot be read, or would never be looked at.

The format is in README.md. Knows nothing of servers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from conformance.differences import DIFFERENCES
from conformance.servers.script import parse_script
from conformance.table.case import Ask, Case, Get, Never, Step, Wait, Write
from conformance.table.changes import CHANGES, read_objects
from conformance.wire.blocks import Block, CaseError, split_blocks
from conformance.wire.expectation import REMARKS, REPLY_LINES, Settings, change_reply, parse_reply
from conformance.wire.message import FLAGS, parse_record
from conformance.wire.question import absolute, parse_question, split_tags

CASES = Path(__file__).parent.parent / "cases"

CHOICES = {"api": ("any", "fake", "real", "nostream"), "order": ("any", "exact")}
"""What directives of one word may say."""

WITH_BODY = frozenset({"objects", "upstream", "file", "corefile", "?", "get", "write", "apply", "patch"})
"""The directives that lines below belong to."""

ABSENT = frozenset({*FLAGS, "edns", "do", "opt"})
"""What a `heard` line may have a minus in front of."""


def load_cases(folder: Path = CASES) -> list[Case]:
    """All cases below a folder in the order of their names. Raises `CaseError`."""
    cases: list[Case] = []
    for path in sorted(folder.rglob("*.case")):
        found = parse_cases(path.read_text(), str(path.relative_to(folder).with_suffix("")))
        _check_worth(found, path.name)
        cases += found
    return cases


def _check_worth(cases: Sequence[Case], file: str) -> None:
    """A file, or a case, in which nothing is looked at would pass for ever."""
    if not cases:
        raise CaseError(f"{file}: no case in it: each starts with a `corefile`")
    for case in cases:
        if not case.checks:
            raise CaseError(f"{file}: {case.name} asks nothing")


def parse_cases(text: str, name: str) -> list[Case]:
    """The cases of one file; raises `CaseError`."""
    parser = _Parser(name)
    for block in split_blocks(f"{name}.case", text.splitlines()):
        try:
            parser.take(block)
        except CaseError:
            raise
        except yaml.MarkedYAMLError as error:
            line = block.line + 1 + (error.problem_mark.line if error.problem_mark else 0)
            raise CaseError(f"{block.source}:{line}: not YAML: {error.problem}") from error
        except (ValueError, KeyError, yaml.YAMLError) as error:
            raise block.error(error) from error
    return parser.finish()


class _Parser:
    """Takes the directives of one file. What stands before the first `corefile` holds for all its cases."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.settings = Settings()
        self.shared = Case(name)
        self.case: Case | None = None
        self.cases: list[Case] = []

    def take(self, block: Block) -> None:
        handler = _DIRECTIVES.get(block.directive)
        if handler is None:
            raise block.error(f"unknown directive {block.directive!r}; there are {', '.join(_DIRECTIVES)}")
        if block.body and block.directive not in WITH_BODY:
            raise block.error(f"nothing can stand below `{block.directive}`")
        handler(self, block)

    def finish(self) -> list[Case]:
        self._close()
        names = [case.name for case in self.cases]
        if len(set(names)) != len(names):
            raise CaseError(f"{self.name}.case: two cases of one name; give each `corefile` a name of its own")
        if any(case.cluster and case.namespaces for case in self.cases):
            raise CaseError(f"{self.name}.case: `cluster` and `controllers` exclude each other")
        if any(case.fails and case.steps for case in self.cases):
            raise CaseError(f"{self.name}.case: a server that `fails` to start is asked nothing")
        return self.cases

    def _close(self) -> None:
        if self.case is not None:
            self.cases.append(self.case)

    def _change(self, **changes: object) -> None:
        if self.case is None:
            self.shared = replace(self.shared, **changes)  # type: ignore[arg-type]
        else:
            self.case = replace(self.case, **changes)  # type: ignore[arg-type]

    @property
    def _current(self) -> Case:
        return self.case or self.shared

    def _step(self, step: Step) -> None:
        if self.case is None:
            raise ValueError("a step needs a `corefile` above it")
        self.case = replace(self.case, steps=(*self.case.steps, step))

    # -- directives --

    def corefile(self, block: Block) -> None:
        self._close()
        name = f"{self.name}:{block.rest}" if block.rest else self.name
        self.case = replace(self.shared, name=name, corefile=block.text)

    def word(self, block: Block) -> None:
        choices = CHOICES.get(block.directive)
        if choices and block.rest not in choices:
            raise ValueError(f"{block.rest!r} is none of {', '.join(choices)}")
        self._change(**{block.directive: block.rest})

    def needs(self, block: Block) -> None:
        self._change(needs=tuple(block.rest.split()))

    def controllers(self, block: Block) -> None:
        if not block.rest:
            raise ValueError("it is `controllers NAMESPACE…`")
        self._change(namespaces=tuple(block.rest.split()))

    def objects(self, block: Block) -> None:
        self._change(objects=self._current.objects + read_objects(block.text))

    def upstream(self, block: Block) -> None:
        self._change(upstreams={**self._current.upstreams, block.rest: parse_script(block)})

    def file(self, block: Block) -> None:
        self._change(files={**self._current.files, block.rest: block.text})

    def environment(self, block: Block) -> None:
        name, _, value = block.rest.partition("=")
        self._change(environment={**self._current.environment, name: value})

    def origin(self, block: Block) -> None:
        self.settings = replace(self.settings, origin=absolute(block.rest, "."))

    def flags(self, block: Block) -> None:
        words = frozenset(block.rest.split()) - {"none"}
        if words - set(FLAGS):
            raise ValueError(f"{sorted(words - set(FLAGS))} are not header flags")
        self.settings = replace(self.settings, flags=words)

    def negative(self, block: Block) -> None:
        soa = parse_record(block.rest, self.settings.origin)
        self.settings = replace(self.settings, negatives=(*self.settings.negatives, soa))

    def ask(self, block: Block) -> None:
        text, _, reply = block.rest.partition("=>")
        question = parse_question(text, self.settings.origin)
        expected = parse_reply(reply, block, self.settings, question) if reply else None
        if not reply:
            _check_lines(block, *REMARKS)
        step = Ask(question, expected, place=f"{block.source}:{block.line}")
        step = replace(step, heard=_heard(block), log=_remarks(block, "log"))
        for line in block.blocks():
            if line.directive == "differs":
                step = _differing(step, line, self.settings)
        self._step(step)

    def get(self, block: Block) -> None:
        _check_lines(block, "has", "differs")
        text, tags = split_tags(block.rest)
        port, path, _, status = text.split()
        place = f"{block.source}:{block.line}"
        step = Get(int(port), path, int(status), _remarks(block, "has") or (), place=place, tags=tags)
        for line in block.blocks():
            if line.directive == "differs":
                _check_lines(line, "has")
                has = _remarks(line, "has") or ()
                step = replace(step, differences=_names(line), differing_has=has)
        self._step(step)

    def change(self, block: Block) -> None:
        self._step(replace(CHANGES[block.directive](block), place=f"{block.source}:{block.line}"))

    def never(self, block: Block) -> None:
        word, _, text = block.rest.partition(" ")
        if word != "denied":
            raise ValueError("it is `never denied QUESTION`")
        self._step(Never(parse_question(text, self.settings.origin), f"{block.source}:{block.line}"))

    def write(self, block: Block) -> None:
        self._step(Write(block.rest, block.text))

    def wait(self, block: Block) -> None:
        self._step(Wait(float(block.rest)))


def _differing(step: Ask, line: Block, settings: Settings) -> Ask:
    if step.expected is None:
        raise line.error("a difference needs an expectation to differ from")
    _check_lines(line, *REPLY_LINES, "log")
    reply = change_reply(step.expected, line.rest.partition("=>")[2], line, settings)
    return replace(step, differences=_names(line), differing=reply, differing_log=_remarks(line, "log"))


def _names(line: Block) -> tuple[str, ...]:
    """The named differences of a `differs` line."""
    names = tuple(line.rest.partition("=>")[0].split())
    unknown = set(names) - set(DIFFERENCES)
    if unknown or not names:
        raise line.error(f"differences.py has no {sorted(unknown)}")
    return names


def _check_lines(block: Block, *directives: str) -> None:
    """A line that nobody reads would be a check that cannot fail."""
    for line in block.blocks():
        if line.directive not in directives:
            raise line.error(f"{line.directive!r} is none of {', '.join(directives)}")


def _heard(block: Block) -> tuple[str, ...] | None:
    """The `heard` lines below a question; what they say is not there must be something that can be."""
    lines = _remarks(block, "heard")
    unknown = {word for line in lines or () for word in line.split() if word[0] == "-" and word[1:] not in ABSENT}
    if unknown:
        raise block.error(f"{sorted(unknown)} can never be heard; a minus stands before {', '.join(sorted(ABSENT))}")
    return lines


def _remarks(block: Block, directive: str) -> tuple[str, ...] | None:
    """The lines of one kind below a question: None when there are none, () for `none`."""
    lines = [line.rest for line in block.blocks() if line.directive == directive]
    return tuple(line for line in lines if line != "none") if lines else None


_DIRECTIVES: dict[str, Callable[[_Parser, Block], None]] = {
    "about": _Parser.word,
    "cluster": _Parser.word,
    "api": _Parser.word,
    "order": _Parser.word,
    "fails": _Parser.word,
    "needs": _Parser.needs,
    "controllers": _Parser.controllers,
    "objects": _Parser.objects,
    "upstream": _Parser.upstream,
    "file": _Parser.file,
    "env": _Parser.environment,
    "origin": _Parser.origin,
    "flags": _Parser.flags,
    "negative": _Parser.negative,
    "corefile": _Parser.corefile,
    "?": _Parser.ask,
    "get": _Parser.get,
    "never": _Parser.never,
    "write": _Parser.write,
    "wait": _Parser.wait,
    **dict.fromkeys(CHANGES, _Parser.change),
}

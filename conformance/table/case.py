"""Case files: Corefile, objects, upstream script and questions with their expected replies (format: README.md).

Knows nothing of servers; turns text into values and complains with FILE:LINE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from conformance.differences import DIFFERENCES
from conformance.servers.script import Rule, parse_script
from conformance.table.changes import CHANGES, OWN_ADDRESS, Change, Object, Outage, read_objects
from conformance.wire.blocks import Block, CaseError, split_blocks
from conformance.wire.compare import tells_own_address
from conformance.wire.expectation import Settings, change_reply, parse_reply
from conformance.wire.message import Reply, parse_record
from conformance.wire.question import Question, absolute, parse_question, split_tags

CASES = Path(__file__).parent.parent / "cases"
CLUSTERS = Path(__file__).parent.parent / "clusters"


@dataclass(frozen=True)
class Ask:
    """One question; `expected` is None where the reference says nothing. `heard` and `log`: None = not looked at.

    `differing` is what the server under test answers in place of `expected`, by the named `differences`, and
    `differing_log` what it logs in place of `log`.
    """

    question: Question
    expected: Reply | None = None
    differences: tuple[str, ...] = ()
    differing: Reply | None = None
    heard: tuple[str, ...] | None = None
    log: tuple[str, ...] | None = None
    differing_log: tuple[str, ...] | None = None
    place: str = ""


@dataclass(frozen=True)
class Get:
    """A page over HTTP: the port's number among the {PORT} places, path, expected status and lines it must have.

    `differing_has` is what the server under test has in place of `has`, by the named `differences`.
    """

    port: int
    path: str
    status: int
    has: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    differing_has: tuple[str, ...] = ()
    place: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Write:
    """A file of the case rewritten while the servers run."""

    name: str
    text: str


@dataclass(frozen=True)
class Wait:
    """Time that passes, in seconds."""

    seconds: float


@dataclass(frozen=True)
class Never:
    """A question that from here to the case's end must never be denied, however often it is asked."""

    question: Question
    place: str = ""


Step = Ask | Get | Change | Write | Wait | Never


@dataclass(frozen=True)
class Case:
    """One Corefile with all that belongs to it; `name` is FILE below cases/, or FILE:NAME for a named Corefile.

    `needs` are plugins without which a server cannot be asked. `namespaces` are its own in a cluster with controllers.
    """

    name: str
    about: str = ""
    corefile: str = ""
    cluster: str = ""
    namespaces: tuple[str, ...] = ()
    objects: tuple[Object, ...] = ()
    api: str = "any"
    order: str = "any"
    fails: str = ""
    needs: tuple[str, ...] = ()
    upstreams: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()

    @property
    def questions(self) -> list[Ask]:
        """The questions among the steps."""
        return [step for step in self.steps if isinstance(step, Ask)]

    @property
    def checks(self) -> int:
        """How many things this case looks at: questions, pages, and a start that fails."""
        return sum(isinstance(step, Ask | Get | Never) for step in self.steps) + bool(self.fails)

    @property
    def needs_own_address(self) -> bool:
        """Whether it is about an address of this machine that is not a loopback one."""
        replies = [reply for step in self.questions for reply in (step.expected, step.differing) if reply]
        asks_servers = any(record.rtype == "NS" for reply in replies for record in reply.answer)
        return any(map(tells_own_address, replies)) or (asks_servers and _has_own_address(self.cluster))

    @property
    def is_cut(self) -> bool:
        """Whether the servers lose the API for a while."""
        return Outage("disconnect") in self.steps


def load_cases(folder: Path = CASES) -> list[Case]:
    """All cases below a folder in the order of their names. Raises `CaseError`."""
    cases: list[Case] = []
    for path in sorted(folder.rglob("*.case")):
        cases += parse_cases(path.read_text(), str(path.relative_to(folder).with_suffix("")))
    return cases


def _has_own_address(cluster: str) -> bool:
    """Whether the server itself is behind a Service of a cluster."""
    return bool(cluster) and OWN_ADDRESS in (CLUSTERS / f"{cluster}.yaml").read_text()


def load_cluster(name: str) -> tuple[Object, ...]:
    """The objects of clusters/NAME.yaml, in order."""
    return read_objects((CLUSTERS / f"{name}.yaml").read_text())


def parse_cases(text: str, name: str) -> list[Case]:
    """The cases of one file; raises `CaseError`."""
    parser = _Parser(name)
    for block in split_blocks(f"{name}.case", text.splitlines()):
        try:
            parser.take(block)
        except CaseError:
            raise
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
        handler(self, block)

    def finish(self) -> list[Case]:
        self._close()
        names = [case.name for case in self.cases]
        if len(set(names)) != len(names):
            raise CaseError(f"{self.name}.case: two cases of one name; give each `corefile` a name of its own")
        if any(case.cluster and case.namespaces for case in self.cases):
            raise CaseError(f"{self.name}.case: `cluster` and `controllers` exclude each other")
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
        self.settings = replace(self.settings, flags=frozenset(block.rest.split()) - {"none"})

    def negative(self, block: Block) -> None:
        soa = parse_record(block.rest, self.settings.origin)
        self.settings = replace(self.settings, negatives=(*self.settings.negatives, soa))

    def ask(self, block: Block) -> None:
        text, _, reply = block.rest.partition("=>")
        question = parse_question(text, self.settings.origin)
        expected = parse_reply(reply, block, self.settings, question) if reply else None
        step = Ask(question, expected, place=f"{block.source}:{block.line}")
        step = replace(step, heard=_remarks(block, "heard"), log=_remarks(block, "log"))
        for line in block.blocks():
            if line.directive == "differs":
                step = _differing(step, line, self.settings)
        self._step(step)

    def get(self, block: Block) -> None:
        text, tags = split_tags(block.rest)
        port, path, _, status = text.split()
        place = f"{block.source}:{block.line}"
        step = Get(int(port), path, int(status), _remarks(block, "has") or (), place=place, tags=tags)
        for line in block.blocks():
            if line.directive == "differs":
                has = _remarks(line, "has") or ()
                step = replace(step, differences=_names(line), differing_has=has)
        self._step(step)

    def change(self, block: Block) -> None:
        self._step(CHANGES[block.directive](block))

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
    reply = change_reply(step.expected, line.rest.partition("=>")[2], line, settings)
    return replace(step, differences=_names(line), differing=reply, differing_log=_remarks(line, "log"))


def _names(line: Block) -> tuple[str, ...]:
    """The named differences of a `differs` line."""
    names = tuple(line.rest.partition("=>")[0].split())
    unknown = set(names) - set(DIFFERENCES)
    if unknown or not names:
        raise line.error(f"differences.py has no {sorted(unknown)}")
    return names


def _remarks(block: Block, directive: str) -> tuple[str, ...] | None:
    """The lines of one kind below a question: None when there are none, () for `none`."""
    lines = [line.rest for line in block.blocks() if line.directive == directive]
    return tuple(line for line in lines if line != "none") if lines else None


def starting_objects(case: Case) -> Iterator[Object]:
    """The objects a case starts with: its named cluster, then its own."""
    if case.cluster:
        yield from load_cluster(case.cluster)
    yield from own_objects(case)


def own_objects(case: Case) -> Iterator[Object]:
    """The objects a case brings itself, its namespaces first."""
    for name in case.namespaces:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield from case.objects


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

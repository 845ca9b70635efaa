"""A case as a value: Corefile, objects, and the steps that are taken and looked at. Knows no servers and no files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.kubernetes.objects import Object
from conformance.servers.script import Rule
from conformance.table.changes import OWN_ADDRESS, Change, Outage, read_objects
from conformance.wire.compare import tells_own_address
from conformance.wire.message import Reply
from conformance.wire.question import Question

CLUSTERS = Path(__file__).parent.parent / "clusters"

NAMED = "pydns"
"""The server whose differences from CoreDNS are listed; what others do otherwise is a fault."""


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

    def expected_of(self, server: str) -> Reply | None:
        """What a server must answer."""
        return (self.differing if server == NAMED else None) or self.expected

    def log_of(self, server: str) -> tuple[str, ...] | None:
        """What a server must log."""
        return self.log if self.differing_log is None or server != NAMED else self.differing_log


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

    def has_of(self, server: str) -> tuple[str, ...]:
        """The lines that the page of a server must have."""
        return self.differing_has if self.differences and server == NAMED else self.has


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
    def tagged(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """FILE:LINE and the requirement numbers of each thing this case looks at."""
        for step in self.steps:
            if isinstance(step, Ask | Never):
                yield step.place, step.question.tags
            elif isinstance(step, Get):
                yield step.place, step.tags

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


def _has_own_address(cluster: str) -> bool:
    """Whether the server itself is behind a Service of a cluster."""
    return bool(cluster) and OWN_ADDRESS in (CLUSTERS / f"{cluster}.yaml").read_text()


def load_cluster(name: str) -> tuple[Object, ...]:
    """The objects of clusters/NAME.yaml, in order."""
    return read_objects((CLUSTERS / f"{name}.yaml").read_text())


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

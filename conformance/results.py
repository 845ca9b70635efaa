"""What a run found: checks with their faults by server, gathered into one outcome for each job. Judges nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.table.case import Case
from conformance.wire.message import Reply


@dataclass(frozen=True)
class Heard:
    """One question as it was seen on the wire, `milliseconds` after the client started."""

    milliseconds: float
    name: str
    qtype: str
    transport: str


@dataclass(frozen=True)
class Walk:
    """What one client program asked a server and what it got from it, in the words of the program's own result."""

    asked: tuple[Heard, ...]
    got: str


@dataclass(frozen=True)
class Verdict:
    """What became of one check of a job.

    `place` is where it is written, `text` what was asked. `faults` has an entry for every server that was judged, empty
    where all is well. `tags` are the requirements it covers (R11, K5, C3), `differences` the named differences it
    showed, `departures` the named departures from the specification it showed, by server, `notes` what is worth telling
    and no fault, `settled` how many milliseconds a change took to show, by server, and `walks` what a client did, by
    server.
    """

    job: str
    place: str
    text: str
    faults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    departures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    settled: Mapping[str, float] = field(default_factory=dict)
    walks: Mapping[str, Walk] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        """All faults as text, each with its server in front."""
        return [f"{server}: {fault}" for server, faults in self.faults.items() for fault in faults]


@dataclass
class Outcome:
    """All verdicts of a job.

    `skipped` says what this machine lacks for it, `waits` which plugin the server does not serve, `absent` what the
    cluster has none of: in these cases nothing was looked at. `about` and `tags` are what the job said of itself before
    it ran. `case` and `replies` (of the reference, in the order of the questions) are there for recording; `api` is the
    kind of API that objects were read from, empty where there were none. `broken` are the servers with which the job
    could not go on.
    """

    name: str
    about: str = ""
    tags: tuple[str, ...] = ()
    case: Case | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    api: str = ""
    broken: set[str] = field(default_factory=set)
    skipped: str = ""
    waits: str = ""
    absent: str = ""
    seconds: float = 0.0

    @property
    def problems(self) -> list[Verdict]:
        """The verdicts that must be looked at."""
        return [verdict for verdict in self.verdicts if verdict.problems]

    def fail(self, server: str, text: str, fault: str) -> None:
        """Notes that a job could not go on."""
        self.broken.add(server)
        self.verdicts.append(Verdict(self.name, self.name, text, {server: (fault,)}))

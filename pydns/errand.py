"""A plain query on the short way to another server and back.

Queries for another server pass the same links, leave, wait, and pass the links again.  With a plain query and a plain
reply (`pydns.dns.plain`) each link does next to nothing, so they are not called as a chain but asked one by one:

1. The chain is the definition.  An errand comes to what the chain would come to, or is given up.
2. Ahead, each link says whether `serve` would just pass the query on (`Passes.ahead`).  Nothing is changed or counted.
3. The link that asks other servers sends the query (`Sends.run`).
4. When a plain reply comes, each link counts and keeps it, the last one first (`Passes.back`).
5. When anything else comes, a reply or an error, the errand is given up: the chain gets the query from its first link
   on, and the link that sent it takes what has come as the outcome of its first try.

It knows no plugin by name, and no socket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol, runtime_checkable

from pydns.dns.message import HEADER, Message, Question
from pydns.dns.name import note_wire
from pydns.dns.plain import Shape, parse_plain
from pydns.upstream.reply import ExchangeError, read_datagram

Hook = Callable[["Errand"], Any]


class Asker(Protocol):
    """Whoever sent a datagram, and where a reply goes."""

    @property
    def address(self) -> tuple[str, int]:
        """The client's."""

    @property
    def family(self) -> int:
        """4 or 6: the client's address family."""

    @property
    def local(self) -> tuple[str, int]:
        """The address that was asked."""

    def send(self, reply: bytes | None, /) -> object:
        """Send the reply; None where there is none."""


class Home(Protocol):
    """Where errands begin and end."""

    label: str
    """CoreDNS's server label."""

    def finish(self, errand: Errand) -> None:
        """A plain reply is there."""

    def give_up(self, errand: Errand) -> None:
        """The chain must go on with what has come."""


class Errand:
    """One query of ``asker`` under way, and what waits for its reply.

    ``name`` is lower-case, ``zone`` the block's zone that matched, ``received`` and ``now`` clock readings in seconds
    at the query and at the reply.  ``flags``, ``ttl`` and ``rdatas`` are those of a plain reply.  ``target`` is the
    server that was asked, ``order`` has those to be tried after it (None: all, once more), ``outcome`` is what has come
    of it where the errand is given up.
    """

    __slots__ = (
        "_question", "asked", "asker", "backs", "data", "flags", "home", "ident", "name", "now", "order", "outcome",
        "qname", "rdatas", "received", "shape", "socket", "target", "ttl", "until", "zone",
    )  # fmt: skip

    ident: bytes
    socket: Any
    until: float
    target: Any
    now: float
    flags: int
    ttl: int
    rdatas: list[bytes]

    def __init__(
        self, data: bytes, qname: str, name: str, end: int, shape: Shape, asker: Asker, home: Home, received: float,
        zone: str, backs: tuple[Hook, ...],
    ) -> None:  # fmt: skip
        self.data = data
        self.qname = qname
        self.name = name
        self.asked = data[HEADER.size : end + 4]
        self.shape = shape
        self.asker = asker
        self.home = home
        self.received = received
        self.zone = zone
        self.backs = backs
        self.order: Iterator[Any] | None = None
        self.outcome: Message | ExchangeError | None = None
        self._question: Question | None = None

    @property
    def question(self) -> Question:
        """What is asked, one object for the query and for its reply."""
        if self._question is None:
            self._question = Question(self.qname, self.shape.qtype)
        return self._question

    @property
    def reply_size(self) -> int:
        """Octets of the reply without name compression and OPT."""
        return HEADER.size + len(self.asked) + len(self.rdatas) * (len(self.asked) + 6 + self.shape.length)

    def going(self) -> bytes:
        """The query behind its ID as it goes to another server."""
        return self.shape.asking + self.data[4:]

    def reply(self) -> bytes:
        """What the client gets."""
        return self.shape.reply(self.data[:2], self.flags, self.asked, self.ttl, self.rdatas)

    def message(self) -> Message:
        """The query, for the chain."""
        note_wire(self.qname, self.asked[:-4])
        return self.shape.query(int.from_bytes(self.data[:2], "big"), self.question, self.asked)

    def offer(self, data: bytes) -> bool:
        """Take ``data`` from the server that was asked, if it is the reply."""
        plain = parse_plain(data, self.asked, self.shape)
        if plain is not None:
            self.flags, self.ttl, self.rdatas = plain
            self.home.finish(self)
            return True
        reply = read_datagram(self.data[:2] + data[2:], self.question, self.shape.limit, self.asked)
        if reply is not None:
            self._give_up(reply)
        return reply is not None

    def fail(self, error: ExchangeError) -> None:
        """No reply will come."""
        self._give_up(error)

    def _give_up(self, outcome: Message | ExchangeError) -> None:
        self.outcome = outcome
        self.home.give_up(self)

    def take_outcome(self) -> Message:
        """What has come, once.  Raises ExchangeError."""
        outcome, self.outcome = self.outcome, None
        assert outcome is not None
        if isinstance(outcome, ExchangeError):
            raise outcome
        return outcome


class Passes:
    """A link that errands may pass."""

    keeps: ClassVar[bool] = False
    """Whether it is a cache: such a link asks for AD, and ends what others say in OPT."""

    def ahead(self, name: str, shape: Shape) -> bool:
        """Whether `serve` would just pass on a query of ``shape`` for ``name`` (lower-case)."""
        return True

    def back(self, errand: Errand) -> None:
        """Do what `serve` would do with a plain reply."""


@runtime_checkable
class Sends(Protocol):
    """A link that asks other servers."""

    def run(self, errand: Errand) -> bool:
        """Send the query, if its reply may then go back as it is; False where nothing was done."""

    def back(self, errand: Errand) -> None:
        """Count a plain reply."""

"""One question on its way through a chain, and the ways in which it can end.

Rules:

1. A link that answers makes its reply of the query (`Query.reply`); messages are values, and are never changed.
2. A query that ends otherwise ends with `Failure` or `Dropped`; any other exception is a bug.

It knows no plugins and no sockets.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from pydns.dns.edns import MIN_SIZE, Edns
from pydns.dns.message import MAX_MESSAGE, RR, Message, Question
from pydns.dns.packed import Packed
from pydns.dns.replay import Replay
from pydns.dns.types import OPCODE_MASK, Flag, Rcode, new
from pydns.errand import Errand

Address = tuple[str, int]

_KEPT_OF_OTHERS = OPCODE_MASK
_KEPT_OF_QUERY = OPCODE_MASK | Flag.RD | Flag.CD
"""The flags that a reply takes from a query of opcode QUERY, which is 0."""


class Failure(Exception):
    """A query that ends without a reply written below: the server answers ``rcode`` alone.

    ``why`` is what *errors* logs; empty for an rcode that CoreDNS returns without an error.
    """

    def __init__(self, rcode: int = Rcode.SERVFAIL, why: str = "") -> None:
        super().__init__(why)
        self.rcode = rcode
        self.why = why


class Dropped(Exception):
    """The query gets no reply."""


class Server(Protocol):
    """The listener that a query came in by."""

    label: str
    """CoreDNS's server label: ``dns://:53``, ``dns://127.0.0.1:53``."""

    async def resolve(self, query: Query) -> Message:
        """Answer as if a client had asked: zone chosen anew, failures made replies (CoreDNS's ``upstream.Lookup``)."""


class Query:
    """One question on its way through a chain.

    ``client`` and ``local`` are (host, port) of the two ends, ``transport`` is ``udp`` or ``tcp``, ``received`` a
    clock reading in seconds, ``zone`` the block's zone that matched (lower-case), ``size`` the octets of the message,
    ``metadata`` what plugins noted about it (label → value, evaluated when asked for).  Of a reply with several equally
    right forms, ``variant`` counts those that are kept and sent one after the other; else it is any number.
    ``asks_ad`` is whether another server is to be asked with AD even where the client did not set it, ``errand`` has
    what came of a first try that was made the short way.  ``counters`` join those of the reply's `Replay`.
    """

    __slots__ = (
        "asks_ad", "client", "counters", "depth", "do", "errand", "local", "message", "metadata", "name", "qclass",
        "qname", "qtype", "question", "received", "server", "size", "transport", "variant", "view", "zone",
    )  # fmt: skip

    message: Message
    question: Question
    name: str
    """The name asked for in lower case."""
    qname: str
    """The same in the client's letter case."""
    do: bool
    """Whether the client wants DNSSEC records."""

    def __init__(
        self,
        message: Message,
        client: Address,
        local: Address,
        transport: str,
        server: Server,
        *,
        size: int = 0,
        received: float = 0.0,
    ) -> None:
        question, edns = message.question, message.edns
        assert question is not None
        self.message = message
        self.question = question
        self.qname, self.qtype, self.qclass = question
        self.name = self.qname.lower()
        self.do = edns is not None and edns.do
        self.client = client
        self.local = local
        self.transport = transport
        self.server = server
        self.size = size
        self.received = received
        self.zone = "."
        self.view = ""
        self.depth = 0
        self.variant = 0
        self.asks_ad = False
        self.errand: Errand | None = None
        self.metadata: dict[str, Callable[[], str]] = {}
        self.counters: list[Callable[[int], None]] = []

    @property
    def family(self) -> int:
        """4 or 6: the client's address family."""
        return 6 if ":" in self.client[0] else 4

    @property
    def max_size(self) -> int:
        """Octets that a reply may have: over UDP what the client advertises, 512 at least."""
        if self.transport == "tcp":
            return MAX_MESSAGE
        edns = self.message.edns
        return MIN_SIZE if edns is None or edns.size < MIN_SIZE else edns.size

    def reply(
        self,
        rcode: int = Rcode.NOERROR,
        *,
        flags: int = 0,
        answer: tuple[RR, ...] = (),
        authority: tuple[RR, ...] = (),
        additional: tuple[RR, ...] = (),
        edns: Edns | None = None,
        replay: Replay | None = None,
        packed: Packed | None = None,
    ) -> Message:
        """A reply to this query: ID, opcode, question, for QUERY also RD and CD (miekg/dns ``SetReply``).

        ``edns`` only where a plugin has something to say in it: the server adds the OPT record that the client is due.
        ``packed`` where the octets are known; see there what it must name.
        """
        asked = self.message
        kept = _KEPT_OF_OTHERS if asked.flags & OPCODE_MASK else _KEPT_OF_QUERY
        word = Flag.QR | asked.flags & kept | flags
        head = asked.id, word, rcode, asked.question
        return new(Message, (*head, answer, authority, additional, edns, replay, False, packed))

    def with_message(self, message: Message) -> Query:
        """The same query with another message, for the links below."""
        other = Query(
            message, self.client, self.local, self.transport, self.server, size=self.size, received=self.received
        )
        other.zone = self.zone
        other.view = self.view
        other.depth = self.depth
        other.variant = self.variant
        other.asks_ad = self.asks_ad
        other.metadata = self.metadata
        other.counters = self.counters
        return other

    def ask(self, name: str, qtype: int) -> Query:
        """Another question, of class IN as in CoreDNS, for a reply of its own; one deeper, so that loops end."""
        question = Question(name, qtype)
        other = self.with_message(self.message._replace(question=question))
        other.depth += 1
        other.counters = []
        return other


Serve = Callable[[Query], Awaitable[Message]]

"""Writes a line to the log for each query.

Without words every query of the block is logged in the common format.  Names restrict that to queries at or below
them, a format says what a line looks like, and `class` which replies are logged:

* `success` - answers and referrals,
* `denial` - the name or the type does not exist,
* `error` - SERVFAIL, REFUSED and the like, transfers, and queries without a reply,
* `all` - every reply, the default.

With several *log* lines the first one whose name matches counts.  A format is the last of at least two words, has a
`{`, and may contain:

* `{type}`, `{name}`, `{class}` - what was asked, the name in lower case,
* `{proto}` - `udp` or `tcp`; `{remote}`, `{port}` - the client; `{local}` - the server's address,
* `{size}`, `{>id}`, `{>opcode}`, `{>do}`, `{>bufsize}` - of the query: octets, ID, opcode, DO bit, size accepted,
* `{rcode}`, `{rsize}`, `{>rflags}` - of the reply: response code, octets before compression, flags,
* `{duration}` - time to answer, as in `0.000274s`,
* `{/LABEL}` - what a plugin noted about the query; see *metadata*,
* `{common}` - the default: `{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" {rcode}
  {>rflags} {rsize} {duration}`,
* `{combined}` - the same and `"{>opcode}"`.

A query that *log* stands in the way of is answered by the plugins every time: replies that are sent again without
asking them could not be logged.

## Examples

```corefile
. {
    log
    whoami
}
```

```corefile
. {
    log example.org "{remote} {name} {type} {rcode}" {
        class denial error
    }
    whoami
}
```
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydns import log
from pydns.corefile.options import Options, argument, option
from pydns.corefile.types import choice, text
from pydns.dns.message import Message, uncompressed_size
from pydns.dns.name import is_below
from pydns.dns.signatures import has_expired_signature
from pydns.dns.types import Flag, Opcode, Rcode, Type, class_name, type_name
from pydns.plugin import Block, Plugin
from pydns.query import Dropped, Failure, Query

EMPTY = "-"
COMMON = (
    '{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}"'
    " {rcode} {>rflags} {rsize} {duration}"
)
COMBINED = COMMON + ' "{>opcode}"'
ALL, SUCCESS, DENIAL, ERROR = "all", "success", "denial", "error"
FLAGS = (
    (Flag.QR, "qr"), (Flag.AA, "aa"), (Flag.TC, "tc"), (Flag.RD, "rd"),
    (Flag.RA, "ra"), (Flag.Z, "z"), (Flag.AD, "ad"), (Flag.CD, "cd"),
)  # fmt: skip


class Exchange(NamedTuple):
    """A query and what became of it: the reply (None: none was sent) and the seconds it took."""

    query: Query
    reply: Message | None
    seconds: float


Piece = Callable[[Exchange], str]


def _bracketed(host: str) -> str:
    """An address without its zone, IPv6 in brackets (RFC 3986 section 3.2.2)."""
    address = host.partition("%")[0]
    return f"[{address}]" if ":" in address else address


def _rcode(exchange: Exchange) -> str:
    if exchange.reply is None:
        return EMPTY
    try:
        return Rcode(exchange.reply.rcode).name
    except ValueError:
        return str(exchange.reply.rcode)


def _flags(exchange: Exchange) -> str:
    if exchange.reply is None:
        return EMPTY
    flags = exchange.reply.flags
    return ",".join(name for bit, name in FLAGS if flags & bit)


def _seconds(exchange: Exchange) -> str:
    """Seconds to the nanosecond without trailing zeros."""
    return f"{exchange.seconds:.9f}".rstrip("0").rstrip(".") + "s"


PLACEHOLDERS: dict[str, Piece] = {
    "{type}": lambda exchange: type_name(exchange.query.qtype),
    "{name}": lambda exchange: exchange.query.name,
    "{class}": lambda exchange: class_name(exchange.query.qclass),
    "{proto}": lambda exchange: exchange.query.transport,
    "{size}": lambda exchange: str(exchange.query.size),
    "{remote}": lambda exchange: _bracketed(exchange.query.client[0]),
    "{port}": lambda exchange: str(exchange.query.client[1]),
    "{local}": lambda exchange: _bracketed(exchange.query.local[0]),
    "{>id}": lambda exchange: str(exchange.query.message.id),
    "{>opcode}": lambda exchange: str(exchange.query.message.opcode),
    "{>do}": lambda exchange: "true" if exchange.query.do else "false",
    "{>bufsize}": lambda exchange: str(exchange.query.max_size),
    "{rcode}": _rcode,
    "{rsize}": lambda exchange: str(0 if exchange.reply is None else uncompressed_size(exchange.reply)),
    "{>rflags}": _flags,
    "{duration}": _seconds,
}


def compile_format(form: str) -> list[Piece]:
    """The pieces of a format; what is no placeholder stays as it is."""
    pieces: list[Piece] = []
    while (end := form.find("}")) >= 0:
        start = max(form.rfind("{", 0, end), 0)
        piece = _placeholder(form[start : end + 1])
        literal = form[:start] if piece else form[: end + 1]
        pieces += [_literal(literal), *([piece] if piece else [])]
        form = form[end + 1 :]
    return [*pieces, _literal(form)]


def _placeholder(word: str) -> Piece | None:
    return _metadata(word[2:-1]) if word.startswith("{/") else PLACEHOLDERS.get(word)


def _literal(literal: str) -> Piece:
    return lambda exchange: literal


def _metadata(label: str) -> Piece:
    def value(exchange: Exchange) -> str:
        source = exchange.query.metadata.get(label)
        return source() if source else EMPTY

    return value


def kind(reply: Message | None, now: float) -> tuple[str, str]:
    """CoreDNS's type of a reply and the class that it belongs to; ``now`` is Unix seconds."""
    if reply is None:
        return "OTHERERROR", ERROR
    if reply.opcode == Opcode.UPDATE:
        return "UPDATE", ERROR
    if reply.opcode == Opcode.NOTIFY or (reply.question and reply.question.type in (Type.AXFR, Type.IXFR)):
        return "META", ERROR
    if has_expired_signature(reply, now):
        return "OTHERERROR", ERROR
    if reply.rcode == Rcode.NOERROR:
        return _positive_kind(reply)
    if reply.rcode == Rcode.NXDOMAIN and not reply.answer:
        return "NXDOMAIN", DENIAL
    return ("SERVERERROR" if reply.rcode in (Rcode.SERVFAIL, Rcode.NOTIMP) else "OTHERERROR"), ERROR


def _positive_kind(reply: Message) -> tuple[str, str]:
    if reply.answer:
        return "NOERROR", SUCCESS
    types = {record.type for record in reply.authority}
    if Type.SOA in types:
        return "NODATA", DENIAL
    return ("DELEGATION" if Type.NS in types else "NOERROR"), SUCCESS


@dataclass
class LogOptions(Options):
    words: tuple[str, ...] = argument(text, many=True, name="NAMES", help="names to log, and a format")
    classes: tuple[str, ...] = option(
        choice(ALL, DENIAL, ERROR, SUCCESS), many=True, name="class", help="replies to log"
    )

    @classmethod
    def usage(cls) -> str:
        return "[NAMES...] [FORMAT]"


class _Rule(NamedTuple):
    """What is logged for names at or below ``scope``."""

    scope: str
    classes: frozenset[str]
    pieces: list[Piece]

    def line(self, exchange: Exchange) -> str:
        return "".join(piece(exchange) for piece in self.pieces)


def _rules(conf: LogOptions) -> Iterator[_Rule]:
    names, form = conf.words, COMMON
    if len(names) > 1 and "{" in names[-1]:
        names, form = names[:-1], names[-1].replace("{common}", COMMON).replace("{combined}", COMBINED)
    pieces = compile_format(form)
    classes = frozenset(conf.classes or (ALL,))
    for name in names or (".",):
        yield _Rule(name.lower().removesuffix(".") + ".", classes, pieces)


class Log(Plugin):
    name = "log"
    options = LogOptions
    repeatable = True

    def __init__(self, block: Block, conf: Sequence[LogOptions]) -> None:
        super().__init__(block, conf)
        self._rules = [rule for each in conf for rule in _rules(each)]
        self._output = log.Log()

    async def serve(self, query: Query) -> Message:
        rule = next((rule for rule in self._rules if is_below(query.name, rule.scope)), None)
        if rule is None:
            return await self.next(query)
        started = self.process.clock()
        try:
            reply = await self.next(query)
        except Failure as failure:
            self._note(rule, query, query.reply(failure.rcode), started)
            raise
        except Dropped:
            self._note(rule, query, None, started)
            raise
        self._note(rule, query, reply, started)
        return reply

    def _note(self, rule: _Rule, query: Query, reply: Message | None, started: float) -> None:
        type_, class_ = kind(reply, self.process.wall())
        if "metadata" in self.block.plugins:
            query.metadata |= {"log/type": lambda: type_, "log/class": lambda: class_}
        if rule.classes & {ALL, class_}:
            self._output.info(rule.line(Exchange(query, reply, self.process.clock() - started)))

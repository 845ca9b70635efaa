"""Replies as text: `=> RCODE FLAGS` with one line for each record below it, read and written.

The same form states what a case expects, what a scripted upstream answers and what was recorded.
Knows no servers and no sockets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from conformance.wire.blocks import Block
from conformance.wire.message import FLAGS, RCODES, SECTIONS, TIMEOUT, Edns, Record, Reply, parse_record
from conformance.wire.question import Question

REPLY_LINES = (*SECTIONS, "opt", "question", "opcode")
"""Lines below a question that say what the reply has."""

REMARKS = ("heard", "log", "differs")
"""Lines below a question that are not about the reply; the case parser reads them."""


@dataclass(frozen=True)
class Settings:
    """What a file says once for all its replies: origin, the flags not written out and the SOAs of denials."""

    origin: str = "."
    flags: frozenset[str] = frozenset({"aa", "rd"})
    negatives: tuple[Record, ...] = ()

    def negative(self, name: str) -> tuple[Record, ...]:
        """The SOA of the closest declared zone above a name (none when no zone above it is declared)."""
        below = [soa for soa in self.negatives if f".{name}".lower().endswith(f".{soa.owner}".lower())]
        return tuple(sorted(below, key=lambda soa: len(soa.owner))[-1:])


def parse_reply(words: str, block: Block, settings: Settings, question: Question) -> Reply:
    """`RCODE [FLAG…]` and the lines of `block`, with everything that was left out filled in from the question.

    NODATA is NOERROR with the denial's SOA. `none` in place of flags, a section, `opt` or `question` says empty.
    """
    rcode, *flags = words.split()
    if rcode == TIMEOUT.rcode:
        return TIMEOUT
    if rcode not in (*RCODES, "NODATA"):
        raise block.error(f"{rcode!r} is not a response code")
    reply = Reply(
        "NOERROR" if rcode == "NODATA" else rcode,
        _flags(flags, block) if flags else _default_flags(settings, question),
        question.opcode,
        _default_question(question),
        authority=settings.negative(question.name) if rcode in ("NODATA", "NXDOMAIN") else (),
        opt=_default_opt(question),
    )
    return _parse_lines(reply, block, settings)


def change_reply(reply: Reply, words: str, block: Block, settings: Settings) -> Reply:
    """A reply with another rcode and flags (where `words` has them) and other sections (where the lines have them)."""
    rcode, *flags = words.split() or [reply.rcode]
    if rcode == TIMEOUT.rcode:
        return TIMEOUT
    reply = replace(reply, rcode=rcode, flags=_flags(flags, block) if flags else reply.flags)
    return _parse_lines(reply, block, settings)


def _flags(words: list[str], block: Block) -> frozenset[str]:
    unknown = set(words) - {*FLAGS, "none"}
    if unknown:
        raise block.error(f"{sorted(unknown)} are not header flags")
    return frozenset(words) - {"none"} | {"qr"}


def _default_flags(settings: Settings, question: Question) -> frozenset[str]:
    """RD and CD come back as they were sent (RFC 1035 section 4.1.1, RFC 4035 section 3.2.2)."""
    return settings.flags - {"rd", "cd"} | question.flags & {"rd", "cd"} | {"qr"}


def _default_question(question: Question) -> str:
    return "" if question.packet else f"{question.name} {question.qclass} {question.qtype}"


def _default_opt(question: Question) -> Edns | None:
    return question.edns and replace(question.edns, version=0, options=())


def _parse_lines(reply: Reply, block: Block, settings: Settings) -> Reply:
    given: dict[str, list[Record]] = {}
    for line in block.blocks():
        if line.directive in SECTIONS:
            records = given.setdefault(line.directive, [])
            if line.rest != "none":
                records.append(_record(line, settings.origin))
        elif line.directive == "opt":
            reply = replace(reply, opt=_parse_opt(line))
        elif line.directive == "question":
            reply = replace(reply, question="" if line.rest == "none" else line.rest)
        elif line.directive == "opcode":
            reply = replace(reply, opcode=line.rest)
        elif line.directive not in REMARKS:
            raise line.error(f"{line.directive!r} is none of {', '.join((*REPLY_LINES, *REMARKS))}")
    return reply.with_sections(given)


def _record(line: Block, origin: str) -> Record:
    try:
        return parse_record(line.rest, origin)
    except ValueError as error:
        raise line.error(error) from error


def _parse_opt(line: Block) -> Edns | None:
    if line.rest == "none":
        return None
    opt = Edns(0)
    for word in line.rest.split():
        name, _, value = word.partition("=")
        if word == "do":
            opt = replace(opt, do=True)
        elif name == "udp":
            opt = replace(opt, size=int(value))
        elif name == "version":
            opt = replace(opt, version=int(value))
        elif name == "z":
            opt = replace(opt, z=int(value, 0))
        else:
            opt = replace(opt, options=(*opt.options, word))
    return opt


def render_reply(reply: Reply, question: Question) -> Iterator[str]:
    """The words after `=>`, then the indented lines; `parse_reply` with empty `Settings` reads them back."""
    if reply == TIMEOUT:
        yield TIMEOUT.rcode
        return
    yield f"{reply.rcode} {' '.join(name for name in FLAGS if name in reply.flags - {'qr'}) or 'none'}"
    if reply.opcode != question.opcode:
        yield f"    opcode {reply.opcode}"
    if reply.question != _default_question(question):
        yield f"    question {reply.question or 'none'}"
    for section, records in reply.sections.items():
        for record in records:
            yield f"    {section} {record}"
    if reply.opt != _default_opt(question):
        yield f"    opt {reply.opt or 'none'}"

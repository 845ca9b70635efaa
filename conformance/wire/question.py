"""A question of a case: its words as one would give them to dig, and the query packet they make.

Knows nothing of expectations, servers or sockets.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from conformance.wire.message import FLAGS, OPCODES, Edns, class_number, encode_name, encode_opt, type_number

DEFAULT_EDNS_SIZE = 1232
"""Octets offered when a question asks for EDNS without a size; what resolvers send since the DNS flag day 2020."""


@dataclass(frozen=True)
class Question:
    """What is asked and how. `text` is the line of the case file; `port` numbers the case's {PORT} places.

    `source` is the client's own port (0: any), `pipeline` how many copies go out at once on one connection. `gap` says
    that a denial is no fault between the answer before a change and the one after it.
    """

    text: str
    name: str = "."
    qtype: str = "A"
    qclass: str = "IN"
    transport: str = "udp"
    flags: frozenset[str] = frozenset({"rd"})
    opcode: str = "QUERY"
    edns: Edns | None = None
    packet: bytes = b""
    ident: int = 0x1234
    server: str = "127.0.0.1"
    port: int = 1
    source: int = 0
    pipeline: int = 1
    dribble: bool = False
    timeout: float = 4.0
    slack: int = 0
    live: bool = False
    gap: bool = False
    tags: tuple[str, ...] = field(default=())

    def wire(self) -> bytes:
        """The query packet; the octets themselves where the case gives them as `hex:`."""
        if self.packet:
            return self.packet
        bits = OPCODES.index(self.opcode) << 11 | sum(FLAGS[flag] for flag in self.flags)
        head = struct.pack("!6H", self.ident, bits, 1, 0, 0, 1 if self.edns else 0)
        asked = encode_name(self.name) + struct.pack("!HH", type_number(self.qtype), class_number(self.qclass))
        return head + asked + (encode_opt(self.edns) if self.edns else b"")


def parse_question(text: str, origin: str) -> Question:
    """`NAME [CLASS] TYPE [@SERVER] [+OPTION…] [[TAG…]]`; a name without a final dot is relative to `origin`.

    Raises `ValueError` that names the word it does not understand.
    """
    text, tags = split_tags(" ".join(text.split()))
    question = Question(text, tags=tags)
    positional = []
    for word in text.split():
        if word[0] == "@":
            question = replace(question, server=word[1:])
        elif word[0] == "+":
            question = _apply_option(question, word)
        else:
            positional.append(word)
    return _apply_name(question, positional, origin)


def absolute(name: str, origin: str) -> str:
    """The name itself if it ends in a dot, else the name below `origin`."""
    return name if name.endswith(".") else f"{name}.{origin}".replace("..", ".")


def split_tags(text: str) -> tuple[str, tuple[str, ...]]:
    """A line without the `[TAG…]` at its end, and the tags."""
    if not text.endswith("]"):
        return text, ()
    words, _, tags = text[:-1].rpartition("[")
    return words.strip(), tuple(tags.split())


def _apply_name(question: Question, words: list[str], origin: str) -> Question:
    if words and words[0].startswith("hex:"):
        return replace(question, packet=bytes.fromhex("".join(words)[4:]))
    if not 2 <= len(words) <= 3:
        raise ValueError(f"a question is NAME [CLASS] TYPE, not {question.text!r}")
    qclass = words[1] if len(words) == 3 else "IN"
    class_number(qclass), type_number(words[-1])
    return replace(question, name=absolute(words[0], origin), qclass=qclass, qtype=words[-1])


def _apply_option(question: Question, word: str) -> Question:
    name, _, value = word[1:].partition("=")
    if name in FLAGS:
        return replace(question, flags=question.flags | {name})
    option = _OPTIONS.get(name)
    if option is None:
        raise ValueError(f"unknown option {word!r}; there are {', '.join(sorted({*_OPTIONS, *FLAGS}))}")
    return option(question, value)


def _edns(question: Question) -> Edns:
    return question.edns or Edns(DEFAULT_EDNS_SIZE)


def _option(question: Question, value: str) -> Question:
    edns = _edns(question)
    code, _, octets = value.partition(":")
    return replace(question, edns=replace(edns, options=(*edns.options, f"{int(code)}:{octets}")))


_OPTIONS: dict[str, Callable[[Question, str], Question]] = {
    "tcp": lambda question, _: replace(question, transport="tcp"),
    "norec": lambda question, _: replace(question, flags=question.flags - {"rd"}),
    "opcode": lambda question, value: replace(question, opcode=value),
    "id": lambda question, value: replace(question, ident=int(value, 0)),
    "edns": lambda question, value: replace(
        question, edns=replace(_edns(question), size=int(value or DEFAULT_EDNS_SIZE))
    ),
    "do": lambda question, _: replace(question, edns=replace(_edns(question), do=True)),
    "version": lambda question, value: replace(question, edns=replace(_edns(question), version=int(value))),
    "zbits": lambda question, value: replace(question, edns=replace(_edns(question), z=int(value, 0))),
    "opt": _option,
    "port": lambda question, value: replace(question, port=int(value)),
    "source": lambda question, value: replace(question, source=int(value)),
    "pipeline": lambda question, value: replace(question, transport="tcp", pipeline=int(value)),
    "dribble": lambda question, _: replace(question, transport="tcp", dribble=True),
    "timeout": lambda question, value: replace(question, timeout=float(value)),
    "slack": lambda question, value: replace(question, slack=int(value)),
    "live": lambda question, _: replace(question, live=True),
    "gap": lambda question, _: replace(question, gap=True),
}

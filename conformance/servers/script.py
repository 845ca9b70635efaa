"""What a scripted upstream answers, as a case declares it. Knows no sockets.

A script holds records (served as an authority would, with NXDOMAIN and NODATA around them) and rules,
`? NAME TYPE +BEHAVIOUR… => RCODE FLAGS`, which win over the records. NAME may be `*` or `*.ZONE`, TYPE may be `*`.
Rules for one question are used in turn; the last one stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from conformance.wire.blocks import Block
from conformance.wire.expectation import Settings, parse_reply
from conformance.wire.message import Record, Reply, parse_record
from conformance.wire.question import Question

BEHAVIOURS = ("drop", "delay", "truncate", "wrong-id", "wrong-question", "garbage")
"""drop: no reply; delay=S: after S seconds; truncate: empty with TC over UDP, whole over TCP; wrong-id and
wrong-question: such a reply first and the right one behind it; garbage: octets that are no message."""


@dataclass(frozen=True)
class Rule:
    """One line of a script. A record without a rule of its own is a rule without behaviour."""

    name: str
    qtype: str
    reply: Reply
    behaviour: dict[str, str] = field(default_factory=dict)

    def matches(self, name: str, qtype: str) -> bool:
        """Name without regard to letter case, `*.zone.` for everything below a zone."""
        if self.qtype not in ("*", qtype):
            return False
        if self.name == "*":
            return True
        if self.name.startswith("*."):
            return name.lower().endswith(self.name[1:].lower())
        return name.lower() == self.name.lower()


class Script:
    """The rules of one upstream with their turns; every subject gets a Script of its own."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._turns: Counter[tuple[str, str]] = Counter()

    def rule(self, name: str, qtype: str) -> Rule:
        """The rule for a question; each time the next of those that fit best, the last one for ever."""
        first = next(rule for rule in self._rules if rule.matches(name, qtype))
        fitting = [rule for rule in self._rules if (rule.name, rule.qtype) == (first.name, first.qtype)]
        turn = self._turns[first.name, first.qtype]
        self._turns[first.name, first.qtype] += 1
        return fitting[min(turn, len(fitting) - 1)]


def parse_script(block: Block) -> tuple[Rule, ...]:
    """The body of an `upstream` directive; replies have RD and RA unless they say otherwise."""
    settings = Settings(flags=frozenset({"rd", "ra"}))
    rules: list[Rule] = []
    records: list[Record] = []
    for line in block.blocks():
        if line.directive == "negative":
            settings = Settings(flags=settings.flags, negatives=(parse_record(line.rest),))
        elif line.directive == "?":
            rules.append(_rule(line, settings))
        else:
            records.append(parse_record(line.head))
    ruled = {(rule.name, rule.qtype) for rule in rules}
    return (*rules, *(rule for rule in _zone_rules(records, settings) if (rule.name, rule.qtype) not in ruled))


def _rule(line: Block, settings: Settings) -> Rule:
    asked, arrow, reply = line.rest.partition("=>")
    name, qtype, *words = asked.split()
    behaviour = dict(_behaviour(word, line) for word in words)
    question = Question(asked, name)
    return Rule(name, qtype, parse_reply(reply if arrow else "NOERROR", line, settings, question), behaviour)


def _behaviour(word: str, line: Block) -> tuple[str, str]:
    name, _, value = word.removeprefix("+").partition("=")
    if name not in BEHAVIOURS:
        raise line.error(f"{word!r} is none of {', '.join(BEHAVIOURS)}")
    return name, value


def _zone_rules(records: list[Record], settings: Settings) -> list[Rule]:
    """Rules for each name and type, then for the names' other types, then NXDOMAIN for all other names."""
    flags = settings.flags | {"qr"}
    rules = []
    for owner, rtype in _owned_types(records):
        answer = tuple(_answer(owner, rtype, records))
        rules.append(Rule(owner, rtype, Reply("NOERROR", flags, answer=answer)))
    for owner in dict.fromkeys(record.owner for record in records):
        alias = tuple(_answer(owner, "CNAME", records))
        rules.append(Rule(owner, "*", Reply("NOERROR", flags, answer=alias, authority=settings.negatives)))
    return [*rules, Rule("*", "*", Reply("NXDOMAIN", flags, authority=settings.negatives))]


def _owned_types(records: list[Record]) -> list[tuple[str, str]]:
    """Each owner with each type it leads to, itself or through its CNAME."""
    own = [(record.owner, record.rtype) for record in records]
    aliases = [record for record in records if record.rtype == "CNAME"]
    followed = [(alias.owner, rtype) for alias in aliases for owner, rtype in own if owner == alias.rdata]
    return list(dict.fromkeys(own + followed))


def _answer(owner: str, rtype: str, records: list[Record]) -> Iterator[Record]:
    """The CNAME of a name and what it leads to, or the name's records of the type."""
    for record in records:
        if record.owner == owner and record.rtype == "CNAME":
            yield record
            if rtype != "CNAME":
                yield from _answer(record.rdata, rtype, records)
        elif record.owner == owner and record.rtype == rtype:
            yield record

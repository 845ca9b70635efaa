"""BIND's tools: `dig +search`, `host` and `nslookup` (reference: resolvers, sections 2, 4 and 5).

After bin/dig/dighost.c, host.c and nslookup.c of BIND 9.18.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.clients.candidates import BIND, candidates, nameservers, number
from conformance.clients.model import Answer, Failure, Kind, Lookup, ResolvConf, Want, World, got
from conformance.clients.walks.expectation import Expectation
from conformance.clients.walks.wire import EDNS, FAILING, PLAIN, Wire, whole

TRIES = 3
HOST_TRIES = 2
FAILURES = {Kind.NXDOMAIN: Failure.NOT_FOUND, Kind.SERVFAIL: Failure.TRY_AGAIN, Kind.TIMEOUT: Failure.TRY_AGAIN}


@dataclass(frozen=True)
class Tool:
    """What differs: what is asked of a name once its A was not denied, whether there is a next server, EDNS, tries."""

    then: tuple[str, ...] = ()
    next_server: bool = True
    room: int = PLAIN
    tries: int | None = None


DIG = Tool(next_server=False, room=EDNS)
HOST = Tool(then=("AAAA", "MX"), tries=HOST_TRIES)
NSLOOKUP = Tool(then=("AAAA",))


def dig(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """`dig +search NAME TYPE`."""
    return _walk(DIG, conf, lookup, world)


def host(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """`host NAME`, or `host -t TYPE NAME`. Its `attempts` are two, whatever the file says."""
    return _walk(HOST, conf, lookup, world)


def nslookup(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """`nslookup NAME`, or `nslookup -type=TYPE NAME`."""
    return _walk(NSLOOKUP, conf, lookup, world)


def _walk(tool: Tool, conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """Only NXDOMAIN leads to the next candidate; without a type, A finds the name and the others are asked of it."""
    asker = _Asker(tool, conf, Wire(world, tool.room))
    first = "A" if lookup.want is Want.BOTH else lookup.want.value
    for name in candidates(BIND, lookup.name, conf):
        answer = asker.ask(name, first)
        if answer.kind is not Kind.NXDOMAIN:
            break
    answers = [answer]
    if lookup.want is Want.BOTH and answer.kind not in FAILURES and answer.kind not in FAILING:
        further = {qtype: asker.ask(answer.alias or name, qtype) for qtype in tool.then}
        answers.append(further["AAAA"])
    return asker.wire.end(_result(answers))


class _Asker:
    """One question after the other: `start_udp`, `recv_done`."""

    def __init__(self, tool: Tool, conf: ResolvConf, wire: Wire) -> None:
        self.wire = wire
        self._tool = tool
        self._servers = nameservers(BIND, conf)
        self._tries = tool.tries or number(conf, "attempts", TRIES)
        self._tcp = False

    def ask(self, name: str, qtype: str) -> Answer:
        """The answer in the end: once a reply was truncated, all further questions go over TCP."""
        answer = self.wire.over_udp(name, qtype)
        if answer.kind is Kind.TRUNCATED and not self._tcp:
            self.wire.send(name, [qtype])
            self._tcp = True
        self.wire.send(name, [qtype], self._times(answer), "tcp" if self._tcp else "udp")
        return whole(answer)

    def _times(self, answer: Answer) -> int:
        """Tries are for the first server; the next are asked once, after SERVFAIL and after any reply without RA."""
        if answer.kind is Kind.TIMEOUT:
            return self._tries + self._servers - 1
        unsure = answer.kind in {Kind.SERVFAIL, Kind.LAME} or not answer.recursion
        return self._servers if unsure and self._tool.next_server else 1


def _result(answers: Sequence[Answer]) -> str:
    """What was found, or the last thing said."""
    found = got(found for answer in answers for found in answer.found)
    last = answers[-1].kind
    return found or FAILURES.get(last, Failure.REFUSED if last in FAILING else Failure.NO_DATA)

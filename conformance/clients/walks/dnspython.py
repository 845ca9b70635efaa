"""dnspython's `resolve(name, type, search=True)` (reference: resolvers, sections 2, 4 and 5).

After dns/resolver.py of dnspython 2.9: `_Resolution`.
"""

from __future__ import annotations

from conformance.clients.candidates import DNSPYTHON, NameTooLong, candidates, nameservers, number, option
from conformance.clients.model import Answer, Failure, Kind, Lookup, ResolvConf, World, got
from conformance.clients.walks.expectation import Expectation
from conformance.clients.walks.wire import EDNS, FAILING, PLAIN, Wire, whole

LIFETIME = 5.0
"""Seconds for the whole look-up."""
TIMEOUT = 2
"""Seconds for one try, where the file does not say `timeout`; `attempts` says nothing here."""


def dnspython(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """One type; only NXDOMAIN leads to the next candidate, and a server with an error is not asked again."""
    wire = Wire(world, PLAIN if option(conf, "edns0") is None else EDNS)
    try:
        names = candidates(DNSPYTHON, lookup.name, conf)
    except NameTooLong:
        return wire.end(Failure.FAILED)
    for name in names:
        answer = wire.over_udp(name, lookup.want.value)
        wire.send(name, [lookup.want.value], _times(conf, answer))
        if answer.kind is Kind.TRUNCATED:
            wire.send(name, [lookup.want.value], transport="tcp")
        if answer.kind is not Kind.NXDOMAIN:
            return wire.end(_result(whole(answer)))
    return wire.end(Failure.NOT_FOUND)


def _times(conf: ResolvConf, answer: Answer) -> int:
    servers = nameservers(DNSPYTHON, conf)
    if answer.kind is Kind.TIMEOUT:
        return tries(number(conf, "timeout", TIMEOUT), servers)
    return servers if answer.kind in FAILING else 1


def tries(timeout: float, servers: int) -> int:
    """How often a question is sent when nothing comes back: all servers, a pause that doubles, all servers again."""
    count, spent, pause = 0, 0.0, 0.1
    while spent < LIFETIME:
        for _ in range(servers):
            if spent < LIFETIME:
                count += 1
                spent += min(LIFETIME - spent, timeout)
        spent += pause
        pause = min(2 * pause, 2.0)
    return count


def _result(answer: Answer) -> str:
    if answer.kind is Kind.TIMEOUT:
        return Failure.TRY_AGAIN
    return Failure.FAILED if answer.kind in FAILING else got(answer.found) or Failure.NO_DATA

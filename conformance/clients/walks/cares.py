"""c-ares: ares_getaddrinfo and ares_search, and ares_query as Node calls it (reference: resolvers, sections 2 to 5).

After src/lib/ares_getaddrinfo.c, ares_search.c and ares_process.c of c-ares 1.34.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.clients.candidates import CARES, CARES_QUERY, candidates, nameservers, number, too_long
from conformance.clients.model import Answer, Failure, Kind, Lookup, ResolvConf, Want, World, got
from conformance.clients.walks.expectation import Expectation, Question
from conformance.clients.walks.wire import EDNS, FAILING, PLAIN, Wire, types_of, whole

NODE_TRIES = 4
"""Whatever `attempts` says."""
RETRIED = frozenset({Kind.SERVFAIL, Kind.REFUSED, Kind.NOTIMP, Kind.TIMEOUT})
ERRORS = FAILING | {Kind.TIMEOUT}
DENIALS = {Kind.NXDOMAIN: Failure.NOT_FOUND, Kind.NODATA: Failure.NO_DATA}


def cares(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """getaddrinfo for addresses, search for SRV: denials lead on, errors end it, but for a name of one label.

    pycares, as seen on the wire, searches without EDNS.
    """
    wire = Wire(world, PLAIN if lookup.want is Want.SRV else EDNS)
    search = _Search(conf, types_of(lookup.want), wire)
    return wire.end(search.search(candidates(CARES, lookup.name, conf)))


class _Search:
    """The candidates one after the other, and what was learnt on the way."""

    def __init__(self, conf: ResolvConf, types: Sequence[str], wire: Wire) -> None:
        self._types = types
        self._wire = wire
        self._tries = number(conf, "attempts", 3) * nameservers(CARES, conf)
        self._by_search = types == ("SRV",)
        self._nodata = False

    def search(self, names: Sequence[str]) -> str:
        """What the program reports: what was found, the first error that ends it, or the last status."""
        result: str = Failure.NOT_FOUND
        for name in names:
            if too_long(name):
                return Failure.FAILED
            answers = self._wire.over_udp_each(name, self._types)
            self._send(name, answers)
            answers = [whole(answer) for answer in answers]
            found = got(found for answer in answers for found in answer.found)
            if found or self._ends(name, answers):
                return found or _failure(self._last(answers))
            result = self._status(answers)
        return result

    def _last(self, answers: Sequence[Answer]) -> Answer:
        """The reply that comes last, which is the one asked for again."""
        return next((answer for answer in reversed(answers) if answer.kind in ERRORS), answers[-1])

    def _ends(self, name: str, answers: Sequence[Answer]) -> bool:
        """Whether no other candidate is tried; two errors of a name with one label are passed over."""
        last = self._last(answers).kind
        if last in {Kind.SERVFAIL, Kind.REFUSED} and name.count(".") == 1:
            return False
        return last in ERRORS or (self._by_search and last is Kind.DANGLING)

    def _status(self, answers: Sequence[Answer]) -> Failure:
        """What is reported if nothing follows. NODATA is remembered, by getaddrinfo before an error, too."""
        last = self._last(answers)
        self._nodata |= last.kind not in ERRORS and any(answer.kind is not Kind.NXDOMAIN for answer in answers)
        if self._nodata and (last.kind not in ERRORS or not self._by_search):
            return Failure.NO_DATA
        return _failure(last)

    def _send(self, name: str, answers: Sequence[Answer]) -> None:
        """Both types at once, then over TCP what was truncated; nothing is asked for again once A has its answer."""
        enough = self._types[0] == "A" and answers[0].kind is Kind.ANSWER
        pairs = list(zip(self._types, answers, strict=True))
        self._wire.wave(*(self._question(name, qtype, answer, enough) for qtype, answer in pairs))
        truncated = [Question(name, qtype, "tcp") for qtype, answer in pairs if answer.kind is Kind.TRUNCATED]
        self._wire.wave(*truncated, ordered=False)

    def _question(self, name: str, qtype: str, answer: Answer, enough: bool) -> Question:
        if answer.kind is Kind.FORMERR:
            times = 1 if self._by_search else 2
            return Question(name, qtype, least=times, most=times)
        if answer.kind not in RETRIED or (enough and answer.kind is Kind.TIMEOUT):
            return Question(name, qtype)
        return Question(name, qtype, least=1 if enough else self._tries, most=self._tries)


def node_resolve(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """Node's dns.resolve: one type, never a search list, the name in lower case, any reply is taken as it is."""
    wire = Wire(world)
    (name,) = candidates(CARES_QUERY, lookup.name.lower(), conf)
    answer = wire.over_udp(name, lookup.want.value)
    tries = NODE_TRIES * nameservers(CARES_QUERY, conf) if answer.kind is Kind.TIMEOUT else 1
    wire.send(name, [lookup.want.value], tries)
    if answer.kind is Kind.TRUNCATED:
        wire.send(name, [lookup.want.value], transport="tcp")
    answer = whole(answer)
    return wire.end(got(answer.found) or _failure(answer))


def _failure(answer: Answer) -> Failure:
    if answer.kind in {Kind.SERVFAIL, Kind.TIMEOUT}:
        return Failure.TRY_AGAIN
    return Failure.REFUSED if answer.kind in FAILING else DENIALS.get(answer.kind, Failure.NO_DATA)

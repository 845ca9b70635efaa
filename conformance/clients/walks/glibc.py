"""glibc: getaddrinfo and res_search, and every program that calls them (reference: resolvers, sections 2, 4 and 5).

After resolv/res_query.c, resolv/res_send.c, nss_dns/dns-host.c and sysdeps/posix/getaddrinfo.c of glibc 2.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from conformance.clients.candidates import GLIBC, candidates, nameservers, ndots, number, option
from conformance.clients.model import Answer, Failure, Kind, Lookup, ResolvConf, Want, World, got
from conformance.clients.walks.expectation import Expectation, Question
from conformance.clients.walks.wire import PLAIN, Wire, types_of, whole

EDNS0 = 1200
"""Octets that `options edns0` announces."""
BUFFER = 1024
"""Octets of getaddrinfo's first buffer for addresses of both families; each takes 40, and one name is there too."""
TUPLE = 40
UNHEARD = frozenset({Kind.SERVFAIL, Kind.NOTIMP, Kind.REFUSED, Kind.LAME})
"""Replies that are as good as none: the next server is asked, the same one again if it is the only one."""


class _Error(Enum):
    """h_errno after one candidate; SERVFAIL is TRY_AGAIN with this rcode in the reply, which walks on."""

    NOT_FOUND = auto()
    NO_DATA = auto()
    TRY_AGAIN = auto()
    SERVFAIL = auto()
    NO_RECOVERY = auto()


GETADDRINFO = {
    _Error.NOT_FOUND: Failure.NOT_FOUND,
    _Error.NO_DATA: Failure.NO_DATA,
    _Error.TRY_AGAIN: Failure.TRY_AGAIN,
    _Error.SERVFAIL: Failure.TRY_AGAIN,
    _Error.NO_RECOVERY: Failure.NOT_FOUND,
}
"""getaddrinfo has no word for NO_RECOVERY and says EAI_NONAME."""
RES_SEARCH = GETADDRINFO | {_Error.NO_RECOVERY: Failure.FAILED}
WALKS_ON = frozenset({_Error.NOT_FOUND, _Error.NO_DATA, _Error.SERVFAIL})
UNHEARD_OF = frozenset({_Error.TRY_AGAIN, _Error.SERVFAIL})


@dataclass(frozen=True)
class _Reply:
    """What one candidate or all of them gave: an error, or what was found (nothing, for a CNAME that leads nowhere).

    `last` is the error of the candidate asked last, which may not be the one that is told.
    """

    error: _Error | None
    found: tuple[str, ...] = ()
    last: _Error | None = None


def glibc(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """getaddrinfo without AI_CANONNAME, as Python and Node call it too; res_search for SRV.

    For A alone getaddrinfo calls gethostbyname2_r. That one, as seen on the wire, forgets a server's failure unless
    the last candidate met it, and has another word for a CNAME that leads nowhere.
    """
    search = _Search(conf, lookup, world)
    reply = search.search(lookup.name)
    if lookup.want is Want.A and reply.error in UNHEARD_OF and reply.last not in UNHEARD_OF:
        reply = _Reply(_Error.NOT_FOUND)
    words = RES_SEARCH if lookup.want is Want.SRV else GETADDRINFO
    alone = lookup.want in {Want.A, Want.SRV}
    return search.end(words[reply.error] if reply.error else _found(reply, alone))


def java(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """Java's InetAddress: getaddrinfo with AI_CANONNAME."""
    search = _Search(conf, lookup, world)
    reply = search.search(lookup.name)
    return search.end(GETADDRINFO[reply.error] if reply.error else _found(reply, alone=False))


def node_lookup(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """Node's dns.lookup: getaddrinfo for the name in lower case; its EAI_NODATA is reported as ENOTFOUND."""
    expected = glibc(conf, replace(lookup, name=lookup.name.lower()), world)
    return Expectation(expected.waves, expected.got.replace(Failure.NO_DATA, Failure.NOT_FOUND))


def _found(reply: _Reply, alone: bool) -> str:
    return got(reply.found) or (Failure.NO_DATA if alone else Failure.NOT_FOUND)


class _Search:
    """`__res_context_search` over one file, for one or two types at once."""

    def __init__(self, conf: ResolvConf, lookup: Lookup, world: World) -> None:
        self._conf = conf
        self._types = types_of(lookup.want)
        self._wire = Wire(world, PLAIN if option(conf, "edns0") is None else EDNS0)
        self._times = number(conf, "attempts", 2, most=5) * nameservers(GLIBC, conf)
        self._one_at_a_time = False

    def search(self, name: str) -> _Reply:
        """Tries all candidates. Where one fails for good, the list ends and only the name itself is still tried."""
        as_is = name if name.endswith(".") else f"{name}."
        as_is_first = name.endswith(".") or name.count(".") >= ndots(GLIBC, self._conf)
        names = candidates(GLIBC, name, self._conf)
        asked: list[str] = []
        errors: list[_Error] = []
        ended = False
        for candidate in names:
            if ended and (candidate != as_is or as_is in asked):
                continue
            reply = self._try(candidate)
            if reply.error is None:
                self._wire.again(self._repetitions(candidate, reply.found))
                return reply
            ended |= reply.error not in WALKS_ON and not (as_is_first and not errors)
            asked.append(candidate)
            errors.append(reply.error)
        listed = errors[:-1] if names[-1] == as_is else errors
        return _Reply(errors[0] if as_is_first else _overall(errors, listed), last=errors[-1])

    def end(self, result: str) -> Expectation:
        """All that was sent, and what the program reports."""
        return self._wire.end(result)

    def _repetitions(self, name: str, found: Sequence[str]) -> int:
        """How often the whole walk is made again, as seen on the wire: each time with a buffer of twice the size."""
        if len(self._types) == 1:
            return 0
        need, room, times = TUPLE * len(found) + len(name), BUFFER, 0
        while need > room:
            room, times = 2 * room, times + 1
        return times

    def _try(self, name: str) -> _Reply:
        """One candidate: `send_dg`, and `send_vc` once a reply is truncated."""
        answers = self._wire.over_udp_each(name, self._types)
        if option(self._conf, "use-vc") is not None:
            return self._by_tcp_alone(name, answers)
        kinds = [answer.kind for answer in answers]
        if Kind.TRUNCATED in kinds:
            return self._over_tcp(name, answers)
        heard = [answer for answer in answers if answer.kind not in UNHEARD | {Kind.TIMEOUT}]
        if not heard:
            self._wire.send(name, self._types, self._times)
            return _Reply(_Error.SERVFAIL if Kind.SERVFAIL in kinds else _Error.TRY_AGAIN)
        if Kind.TIMEOUT in kinds:
            return self._half_silent(name, answers)
        self._wire.send(name, self._types)
        return _read(heard)

    def _by_tcp_alone(self, name: str, answers: Sequence[Answer]) -> _Reply:
        """`options use-vc`, with a server that does its work: both questions on one connection."""
        self._wire.send(name, self._types, transport="tcp")
        return _read([whole(answer) for answer in answers])

    def _over_tcp(self, name: str, answers: Sequence[Answer]) -> _Reply:
        """Both questions again, on one connection."""
        self._wire.send(name, self._types)
        self._wire.send(name, self._types, transport="tcp")
        return _read([whole(answer) for answer in answers])

    def _half_silent(self, name: str, answers: Sequence[Answer]) -> _Reply:
        """One of two has no reply: both again one after the other, then each on a new socket, and so on from then.

        A second question is only sent when the first has its reply.
        """
        sooner = self._one_at_a_time
        self._one_at_a_time = True
        if answers[1].kind is Kind.TIMEOUT:
            self._wire.send(name, self._types, 1 if sooner else 3)
            return _read(answers[:1])
        first = self._times if sooner else self._times + 1
        second = [] if sooner else [Question(name, self._types[1])]
        self._wire.wave(Question(name, self._types[0], least=first, most=first), *second)
        return _Reply(_Error.TRY_AGAIN)


def _read(answers: Sequence[Answer]) -> _Reply:
    """What the replies to one candidate say together: one with records is enough."""
    kinds = {answer.kind for answer in answers}
    if kinds & {Kind.ANSWER, Kind.DANGLING}:
        return _Reply(None, tuple(found for answer in answers for found in answer.found))
    if Kind.NXDOMAIN in kinds:
        return _Reply(_Error.NOT_FOUND)
    return _Reply(_Error.NO_DATA if kinds <= {Kind.NODATA, Kind.LAME} else _Error.NO_RECOVERY)


def _overall(errors: Sequence[_Error], listed: Sequence[_Error]) -> _Error:
    """The best news of the list, else what came last."""
    return next((error for error in (_Error.NO_DATA, _Error.SERVFAIL) if error in listed), errors[-1])

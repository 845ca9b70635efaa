"""One *forward* line at work: which upstreams are asked for a query, in which order, how often.

Rules (CoreDNS ``forward.ServeDNS``):

1. Upstreams are tried in the order of the policy, round and round, those that are down left out.
2. Where all are down, health checking is taken to be broken and one of them, at random, is tried once.
3. A failure starts a health check and the next try, until the attempts or five seconds are used up.
4. A reply is passed on as it came, with the client's ID.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import chain

from pydns.dns.message import Message, pack
from pydns.dns.name import is_below
from pydns.dns.types import Flag, Rcode
from pydns.errand import Errand
from pydns.plugin import Process
from pydns.plugins.forward.options import ForwardOptions
from pydns.plugins.forward.target import Counters, Target
from pydns.plugins.forward.to import resolve
from pydns.query import Failure, Query
from pydns.upstream.policy import Policy, make_policy
from pydns.upstream.reply import ExchangeError, answers

DEADLINE = 5.0
"""Seconds after which no further upstream is tried for a query."""
ATTEMPTS = 2
"""Tries for each upstream that one query is worth, unless max_connect_attempts says otherwise."""
_FLAGS = 3
"""Where in a message the octet with AD stands."""
NO_HEALTHY = "no healthy proxies"


class Stanza:
    """The upstreams of one line.  ``noting``: each query is told which upstream it went to, for *metadata*."""

    def __init__(self, conf: ForwardOptions, process: Process, counters: Counters, noting: bool) -> None:
        self._conf = conf
        self._process = process
        self._counters = counters
        self._noting = noting
        self._random = process.random
        self._clock = process.clock
        self._policy: Policy[Target] = make_policy(conf.policy, self._random)
        self._under_way = 0
        self._is_plain = not (
            noting or conf.next or conf.next_on_nodata or conf.force_tcp or conf.max_concurrent
            or conf.failfast_all_unhealthy_upstreams
        )  # fmt: skip
        self._takes_all = conf.zone == "." and not conf.excepted
        self.targets: list[Target] = []

    async def start(self) -> None:
        """Look up host names.  Raises ValueError."""
        addresses = await resolve(self._conf.targets, self._conf.resolver)
        self.targets = [Target(address, self._conf, self._process, self._counters) for address in addresses]

    async def stop(self) -> None:
        for target in self.targets:
            await target.health.stop()
            target.upstream.close()

    def takes(self, name: str) -> bool:
        """Whether queries for ``name`` (lower-case) are forwarded."""
        if self._takes_all:
            return True
        zone = self._conf.zone
        if not is_below(name, zone):
            return False
        return name == zone or not any(is_below(name, excepted) for excepted in self._conf.excepted)

    def passes(self, reply: Message) -> bool:
        """Whether the next line is to be asked instead."""
        if reply.rcode in self._conf.next:
            return True
        return self._conf.next_on_nodata and reply.rcode == Rcode.NOERROR and not reply.answer

    async def ask(self, query: Query) -> Message:
        """The reply of the first upstream that gives one.  Raises Failure."""
        limit = self._conf.max_concurrent
        if limit and self._under_way >= limit:
            self._counters.rejected.inc()
            raise Failure(Rcode.REFUSED, f"concurrent queries exceeded maximum {limit}")
        self._under_way += 1
        try:
            return await self._try_targets(query)
        finally:
            self._under_way -= 1

    def run(self, errand: Errand) -> bool:
        """Send a query to the first upstream, if a plain reply is the last word here."""
        if not self._is_plain:
            return False
        errand.target = target = self.targets[0]
        if len(self.targets) > 1 or target.is_down:
            errand.order = self._order()
            errand.target = next(errand.order)
        try:
            errand.target.upstream.send(errand.going(), errand)
        except ExchangeError as error:
            errand.fail(error)
        return True

    async def _try_targets(self, query: Query) -> Message:
        errand, query.errand = query.errand, None
        attempts = self._conf.max_connect_attempts
        if attempts is None:
            attempts = ATTEMPTS * len(self.targets)
        started = self._clock() if errand is None else errand.received
        wire = _asked(query)
        why = NO_HEALTHY
        failures = failovers = 0
        for target in self._order() if errand is None else chain((errand.target,), errand.order or self._order()):
            try:
                reply = await self._ask_target(target, query, wire, errand)
            except ExchangeError as error:
                errand, why = None, str(error)
                target.failed()
                failures += 1
                if failures == attempts or self._clock() >= started + DEADLINE:
                    break
                await asyncio.sleep(0)  # a network that is unreachable says so without waiting
                continue
            if reply.rcode not in self._conf.failover:
                return reply
            errand = None
            failovers += 1
            if failovers == len(self.targets):
                return reply
        raise Failure(Rcode.SERVFAIL, why)

    def _order(self) -> Iterator[Target]:
        """The upstreams to try, one after the other (rules 1 and 2)."""
        order = self._policy(self.targets)
        while True:
            tried = False
            for target in order:
                if not target.is_down:
                    tried = True
                    yield target
            if not tried:
                self._counters.broken.inc()
                if not self._conf.failfast_all_unhealthy_upstreams:
                    yield self._random.choice(self.targets)
                return

    async def _ask_target(self, target: Target, query: Query, wire: bytes, errand: Errand | None) -> Message:
        """The reply of one upstream: that which ``errand`` has brought, or else it is asked."""
        if self._noting:
            query.metadata["forward/upstream"] = target.upstream.__str__
        transport = self._transport(query)
        if errand is not None:
            started, reply = errand.received, errand.take_outcome()
        else:
            started = self._clock()
            reply = await target.upstream.ask(wire, query.question, transport, query.max_size)
        if self._conf.prefer_udp and transport == "udp" and reply.truncated:
            reply = await target.upstream.ask(wire, query.question, "tcp", query.max_size)
        target.took(self._clock() - started, reply.rcode)
        if reply.question is query.question or answers(reply, query.question):
            return reply
        return query.reply(Rcode.FORMERR)

    def _transport(self, query: Query) -> str:
        if self._conf.force_tcp:
            return "tcp"
        return "udp" if self._conf.prefer_udp or query.transport == "udp" else "tcp"


def _asked(query: Query) -> bytes:
    """The query as it goes to an upstream, its ID still the client's."""
    wire = pack(query.message)
    if query.asks_ad and not wire[_FLAGS] & Flag.AD:
        return wire[:_FLAGS] + bytes((wire[_FLAGS] | Flag.AD,)) + wire[_FLAGS + 1 :]
    return wire

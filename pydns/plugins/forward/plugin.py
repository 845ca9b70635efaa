"""Sends queries to other DNS servers.

## Description

Queries for names in FROM go to one of the upstreams TO, over UDP or TCP as the client asked, and the replies come back
as they are.  An upstream is an address, an address with a port, a file like /etc/resolv.conf (its name servers), or a
host name, which is looked up once, at the start.

A failed query starts a health check of its upstream: a query for `. NS`, every half second until there is a reply, of
whatever response code.  While more than `max_fails` checks in a row have failed the upstream is down and passed over.
Where all are down, health checking is taken to be broken and a random one is asked.

Several *forward* lines may stand in one server block.  They are tried in the order written, so the more specific zone
stands first; a line takes the queries in its FROM that it does not `except`.

An upstream has two seconds to reply.  A query is given up with SERVFAIL after five seconds, or after two tries for each
upstream.

Queries leave from ports that the kernel chooses at random and that change, with random IDs.  A reply counts when its
address, ID and question match; anything else is ignored while the right one may still come.

## Examples

Everything to the resolvers of the node:

```corefile
. {
    forward . /etc/resolv.conf
}
```

A stub domain, and two resolvers for the rest, the second only when the first fails:

```corefile
. {
    forward corp.example 10.0.0.53 10.0.1.53:5353
    forward . 192.0.2.1 192.0.2.2 {
        policy sequential
        max_concurrent 1000
    }
}
```

Names that one resolver does not know are asked of another:

```corefile
. {
    forward . 192.0.2.1 {
        next NXDOMAIN
    }
    forward . 192.0.2.2
}
```

## Metrics

* `coredns_forward_healthcheck_broken_total` - queries for which all upstreams were down.
* `coredns_forward_max_concurrent_rejects_total` - queries refused because of `max_concurrent`.
* `coredns_proxy_request_duration_seconds{proxy_name="forward", to, rcode}` - time until a reply.
* `coredns_proxy_healthcheck_failures_total{proxy_name="forward", to}` - failed health checks.
* `coredns_proxy_conn_cache_hits_total{proxy_name="forward", to, proto}` - queries by a socket that was open.
* `coredns_proxy_conn_cache_misses_total{proxy_name="forward", to, proto}` - queries by a new socket.

Over UDP eight sockets take turns, and are replaced after 128 queries, so hits and misses are not those of CoreDNS.
Queries that were read together leave by the same one.
"""

from __future__ import annotations

from pydns.dns.message import Message
from pydns.dns.types import Rcode
from pydns.errand import Errand
from pydns.plugin import Block, Plugin
from pydns.plugins.forward.options import ForwardOptions
from pydns.plugins.forward.stanza import Stanza
from pydns.plugins.forward.target import Counters
from pydns.query import Query


class Forward(Plugin):
    """All *forward* lines of a server block."""

    name = "forward"
    options = ForwardOptions
    repeatable = True
    replay_safe = True
    any_class = True

    def __init__(self, block: Block, conf: list[ForwardOptions]) -> None:
        super().__init__(block, conf)
        process = self.process
        counters = Counters(process.metrics)
        noting = "metadata" in block.plugins
        self._stanzas = [Stanza(line, process, counters, noting) for line in conf]

    async def start(self) -> None:
        for stanza in self._stanzas:
            await stanza.start()

    async def stop(self) -> None:
        for stanza in self._stanzas:
            await stanza.stop()

    async def serve(self, query: Query) -> Message:
        last = self._stanzas[-1]
        for stanza in self._stanzas:
            if not stanza.takes(query.name):
                continue
            reply = await stanza.ask(query)
            if stanza is last or not stanza.passes(reply):
                return reply
        return await self.next(query)

    def run(self, errand: Errand) -> bool:
        """See `pydns.errand.Sends`."""
        for stanza in self._stanzas:
            if stanza.takes(errand.name):
                return stanza.run(errand)
        return False

    def back(self, errand: Errand) -> None:
        """See `pydns.errand.Sends`."""
        errand.target.took(errand.now - errand.received, Rcode.NOERROR)

"""Gives queries of type ANY a minimal answer.

ANY serves attackers (a small query with a large reply) more than anybody else.  As RFC 8482 proposes, every such query
gets one HINFO record: `"ANY obsoleted" "See RFC 8482"`.  Other queries pass.

## Examples

```corefile
example.org {
    whoami
    any
}
```

A query for `example.org ANY` is answered with

    example.org.  8482  IN  HINFO  "ANY obsoleted" "See RFC 8482"
"""

import math
from dataclasses import dataclass

from pydns.corefile.options import Options
from pydns.dns import rdata
from pydns.dns.message import RR, Message
from pydns.dns.replay import Replay
from pydns.dns.types import Type
from pydns.plugin import Plugin
from pydns.query import Query

TTL = 8482
HINFO = rdata.hinfo("ANY obsoleted", "See RFC 8482")


@dataclass
class AnyOptions(Options):
    pass


class Any(Plugin):
    name = "any"
    options = AnyOptions
    first_line_only = True
    replay_safe = True

    def treats_alike(self, zone: str) -> bool:
        return True

    async def serve(self, query: Query) -> Message:
        if query.qtype != Type.ANY:
            return await self.next(query)
        reply = query.reply(answer=(RR(query.qname, Type.HINFO, TTL, HINFO),))
        return reply.with_replay(Replay(math.inf))

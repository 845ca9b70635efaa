"""Answers every query with the client's own address, port and transport.

The answer section is empty.  The additional section has an A or AAAA record with the address, and an SRV record below
the name, at `_udp` or `_tcp`, with the port, unless the name is too long to have one below.  Useful to see which
address a server sees, and to try a Corefile out.

## Examples

```corefile
example.org {
    whoami
}
```

A query for `example.org A` gets these additional records:

    example.org.        0  IN  A    10.240.0.1
    _udp.example.org.   0  IN  SRV  0 0 40212 .
"""

from dataclasses import dataclass
from ipaddress import ip_address

from pydns.corefile.options import Options
from pydns.dns import rdata
from pydns.dns.message import RR, Message
from pydns.dns.name import MAX_NAME, to_wire
from pydns.dns.types import Flag, Type
from pydns.plugin import Plugin
from pydns.query import Query


@dataclass
class WhoamiOptions(Options):
    pass


class Whoami(Plugin):
    name = "whoami"
    options = WhoamiOptions
    first_line_only = True

    async def serve(self, query: Query) -> Message:
        host, port, *_ = query.client  # an IPv6 peer has four parts
        address = ip_address(host.partition("%")[0])
        rrtype = Type.A if address.version == 4 else Type.AAAA
        additional = [RR(query.qname, rrtype, 0, address.packed, query.qclass)]
        label = f"_{query.transport}."
        if len(to_wire(query.qname)) + len(label) <= MAX_NAME:
            below = label + query.qname.removeprefix(".")
            additional.append(RR(below, Type.SRV, 0, rdata.srv(port=port, target="."), query.qclass))
        return query.reply(flags=Flag.AA, additional=tuple(additional))

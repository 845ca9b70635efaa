"""Finds forwarding loops at the start, and ends the process when there is one.

After the sockets opened the plugin sends itself a query of type HINFO for a random name, once a second until it is
answered, for at most half a minute.  When that query comes in more than twice, the server forwards to itself, mostly
because `/etc/resolv.conf` names a local address, such as 127.0.0.53, that leads back here.  The process then ends with
exit status 1 and a line in the log:

    [FATAL] plugin/loop: Loop (127.0.0.1:55953 -> :53) detected for zone ".", see
    https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO 4547991504243258144.3688648895315093531."

On a node with systemd-resolved, let the kubelet use the real file: `resolvConf: /run/systemd/resolve/resolv.conf`, or
name the upstreams: `forward . 8.8.8.8`.

## Examples

```corefile
. {
    loop
    forward . /etc/resolv.conf
}
```
"""

import asyncio
import socket
from dataclasses import dataclass
from random import Random

from pydns.address import Address
from pydns.corefile.options import Options
from pydns.dns.message import Message, Question, pack
from pydns.dns.types import Flag, Type
from pydns.errand import Passes
from pydns.plugin import Block, Plugin
from pydns.query import Query
from pydns.tasks import Tasks

DEADLINE = 30.0
"""Seconds after which an unanswered query is given up."""
RETRY = 1.0
TIMEOUT = 2.0
SEEN = 2
"""How often the plugin may meet its own query."""
BITS = 62
"""The size of each of the two random numbers in the name."""


@dataclass
class LoopOptions(Options):
    pass


class Loop(Passes, Plugin):
    name = "loop"
    options = LoopOptions
    replay_safe = True

    def __init__(self, block: Block, conf: LoopOptions) -> None:
        super().__init__(block, conf)
        self._zone = block.zones[0]
        luck = Random(f"{self.process.common} {self._address} {self._zone}")  # the same in all processes that serve
        numbers = ".".join(str(luck.getrandbits(BITS)) for _ in range(2))
        self._qname = f"{numbers}.{self._zone.lstrip('.')}"
        self._seen = 0
        self._active = True
        self._tasks = Tasks()

    @property
    def _address(self) -> Address:
        """Where the block listens first."""
        return Address(next(iter(self.block.settings.addresses), ""), self.block.keys[0].port)

    async def serve(self, query: Query) -> Message:
        if query.qtype == Type.HINFO and self._active and query.name == self._qname:
            self._seen += 1
            if self._seen > SEEN:
                self._end(query)
        return await self.next(query)

    def _end(self, query: Query) -> None:
        self._active = False
        self.log.fatal(
            f'Loop ({Address(*query.client[:2])} -> {self._address}) detected for zone "{self._zone}", '
            f'see https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO {self._qname}"'
        )
        self.process.fatal()

    async def serving(self) -> None:
        self._tasks.run(self._probe())

    async def stop(self) -> None:
        await self._tasks.stop()

    async def _probe(self) -> None:
        deadline = self.process.clock() + DEADLINE
        while self.process.clock() < deadline and not await self._is_answered():
            self._seen = 0
            await self.process.sleep(RETRY)
        self._active = False

    async def _is_answered(self) -> bool:
        """Send the query to ourselves; whether anything came back in time.  Of several processes the parent asks."""
        if self.process.worker:
            return False
        ident = self.process.random.getrandbits(16)
        query = pack(Message(ident, Flag.RD, question=Question(self._qname, Type.HINFO)))
        loop = asyncio.get_running_loop()
        address = self._address
        host = address.host or "127.0.0.1"
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.setblocking(False)
            try:
                async with asyncio.timeout(TIMEOUT):
                    await loop.sock_connect(sock, (host, address.port))
                    await loop.sock_sendall(sock, query)
                    return bool(await loop.sock_recv(sock, 4096))
            except OSError:  # a time-out is one
                return False

"""A listening address, which outlives a reload: its sockets, and who answers what arrives by them.

Rules:

1. There is one set of sockets for each process that serves the address, all of them opened and kept here.  This
   process serves the first set, or none where worker processes do.
2. Handing an endpoint to another `Listener` takes effect between two datagrams: none is lost.
3. A set that is given up gets no more datagrams first; what the kernel holds for it is answered by whoever serves it.

It knows no zones and no plugins.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydns.address import host_port
from pydns.log import Log
from pydns.query import Address
from pydns.server.listener import Listener
from pydns.server.sockets import WILDCARDS, Sockets, bind_all, shared, spread, twin
from pydns.server.tcp import Limits, TcpConnections
from pydns.server.tcp_socket import TcpSocket
from pydns.server.udp import UdpSocket, WildcardUdpSocket

_log = Log()


class Endpoint:
    """The sockets of ``address`` (host, port); an empty host is the wildcard."""

    def __init__(self, address: Address, listener: Listener, limits: Limits | None = None) -> None:
        self.address = address
        self.listener = listener
        self.sets: list[Sockets] = []
        self._udp: list[UdpSocket] = []
        self._tcp: list[TcpSocket] = []
        self._connections = TcpConnections(self, limits)

    def bind(self, neighbours: Sequence[Endpoint] = ()) -> None:
        """Take the port; what arrives waits in the kernel for `serve`.  Raises OSError worded as CoreDNS does.

        ``neighbours`` are endpoints of ours on the same port, with other hosts or about to be closed.
        """
        beside = [sock for neighbour in neighbours for each in neighbour.sets for sock in each.all()]
        with shared(beside):
            self.sets = [bind_all(self.address, bool(beside), {neighbour.address[0] for neighbour in neighbours})]
        if missing := self.sets[0].missing_family(self.address):
            _log.info(f"no {missing} on this machine: {host_port(*self.address)} is served without it")

    def adopt(self, sockets: Sockets) -> None:
        """Serve sockets that somebody else has opened."""
        self.sets = [sockets]

    def grow(self, count: int, neighbours: Sequence[Endpoint] = ()) -> None:
        """Have ``count`` sets at least; the new ones get their part of the clients from now on.  Raises OSError."""
        everybody = [sock for each in (self, *neighbours) for sockets in each.sets for sock in sockets.all()]
        while len(self.sets) < count:
            with shared(everybody):
                self.sets.append(twin(self.sets[0]))
            everybody += self.sets[-1].all()
            spread(self.sets[0].all(), True)

    def leave(self, count: int) -> None:
        """Give no more datagrams to the sets behind the first ``count`` ones (rule 3)."""
        for sockets in self.sets[count:]:
            sockets.leave()

    def shrink(self, count: int) -> None:
        """Have ``count`` sets at most; the others were left before."""
        while len(self.sets) > count:
            self.sets.pop().close()
        if count == 1:
            spread(self.sets[0].all(), False)

    def serve(self) -> None:
        """Answer what arrives by the first set; nothing changes where that is done already."""
        if self._udp:
            return
        streams, datagrams, single = self.sets[0]
        kind = WildcardUdpSocket if self.address[0] in WILDCARDS else UdpSocket
        self._udp = [kind(sock, self) for sock in datagrams] + [UdpSocket(sock, self) for sock in single]
        self._tcp = [TcpSocket(sock, self._connections) for sock in streams]
        for sock in self._udp:
            sock.start()
        for listening in self._tcp:
            listening.start()

    def pause(self) -> None:
        """Take no more queries in this process; connections end with their queries in flight."""
        for sock in self._udp:
            sock.stop()
        for listening in self._tcp:
            listening.stop()
        self._udp, self._tcp = [], []
        self._connections.finish()

    def stop(self) -> None:
        """Take no more queries in any process: `pause`, and new connections are refused."""
        self.pause()
        for sockets in self.sets:
            for sock in sockets.streams:
                sock.close()

    def close(self) -> None:
        """Give the port back."""
        self._connections.cut()
        while self.sets:
            self.sets.pop().close()

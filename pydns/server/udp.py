"""DNS over UDP: sockets that are drained a batch at a time.

Rules:

1. A reply leaves from the address that was asked.  A socket bound to an address does that by itself; the wildcard
   socket is told the address of each datagram and sends it back (IP_PKTINFO, RFC 3542 for IPv6), which costs half as
   much again and is left to addresses that came after the start.
2. A datagram is read whole, whatever its size.
3. What cannot be sent is lost, as UDP goes; the client asks again.
4. A turn ends after `BATCH` datagrams: queries in flight, timers and connections go on before the next.
5. Where the machine can (`mmsg`), a turn is two system calls for what the packet cache knows, else two for each.
   The replies that other servers bring within a turn of theirs (`pydns.turn`) leave in one system call, too.

It knows how to read and send, not what is answered: that is its endpoint's `Listener`.
"""

from __future__ import annotations

import asyncio
import select
import socket
from functools import partial
from struct import Struct
from typing import Any

from pydns.dns.message import MAX_MESSAGE
from pydns.mmsg import SLOTS, Peer, Recall, peer_of, shared_batch, shared_outgoing
from pydns.query import Address
from pydns.server.listener import Client, HasListener
from pydns.turn import TURN

BATCH = SLOTS
"""Datagrams that one socket may have read before others get their turn."""
LAST_BATCHES = 8192 // BATCH
"""How often a socket is drained at the most before it is given up; the kernel holds about so many datagrams."""

IP_PKTINFO = getattr(socket, "IP_PKTINFO", 8)
_PKTINFO4 = Struct("=i4s4s")
_PKTINFO6 = Struct("=16sI")
_ANCILLARY = socket.CMSG_SPACE(_PKTINFO6.size)


class Asker:
    """Who sent a datagram to ``sock``; ``name`` are the octets of a socket address.  See `pydns.errand.Asker`."""

    __slots__ = ("_peer", "_socket", "name")

    def __init__(self, sock: UdpSocket, name: bytes) -> None:
        self._socket = sock
        self.name = name
        self._peer: Peer | None = None

    @property
    def peer(self) -> Peer:
        """The socket address, which most queries need not know."""
        if self._peer is None:
            self._peer = peer_of(self.name)
        return self._peer

    @property
    def address(self) -> Address:
        return self.peer[:2]

    @property
    def family(self) -> int:
        return self._socket.family

    @property
    def local(self) -> Address:
        return self._socket.local

    def send(self, reply: bytes | None) -> None:
        if reply is not None:
            self._socket.reply(reply, self)


class UdpSocket:
    """A socket bound to one address."""

    def __init__(self, sock: socket.socket, endpoint: HasListener) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.family = 6 if sock.family == socket.AF_INET6 else 4
        self.local: Address = sock.getsockname()[:2]
        self._endpoint = endpoint
        self._batch = shared_batch(sock.family)
        self._outgoing = shared_outgoing(sock.family)
        self._unsent: list[bytes] = []
        self._names: list[bytes] = []

    def start(self) -> None:
        asyncio.get_running_loop().add_reader(self.sock, self.drain)

    def stop(self) -> None:
        """Answer what the kernel holds, and what comes meanwhile within reason, then read no more.

        Replies can still be sent.
        """
        readable = select.poll()
        readable.register(self.sock, select.POLLIN)
        for _ in range(LAST_BATCHES):
            if not readable.poll(0):
                break
            self.drain()
        asyncio.get_running_loop().remove_reader(self.sock)

    def drain(self) -> None:
        """Answer what has arrived, `BATCH` datagrams at most."""
        cache = self._endpoint.listener.cache("udp", self.family)
        with TURN:
            self._answer(_unknown if cache is None else cache.get)

    def _answer(self, recall: Recall) -> None:
        if self._batch is not None:
            self._batch.exchange(self.sock.fileno(), recall, self._missed)
        else:
            self._answer_singly(recall)

    def _missed(self, data: bytes, name: bytes) -> None:
        self._endpoint.listener.ask(data, Asker(self, name))

    def reply(self, reply: bytes, asker: Asker) -> None:
        """Send a reply, within a turn at its end."""
        if not TURN.under_way:
            self._send(asker.peer, reply)
            return
        self._unsent.append(reply)
        self._names.append(asker.name)
        if len(self._unsent) == 1:
            TURN.at_end(self._flush)

    def _flush(self) -> None:
        assert self._outgoing is not None
        replies, names, self._unsent, self._names = self._unsent, self._names, [], []
        if len(replies) == 1:  # costs less than to fill a batch
            self._send(peer_of(names[0]), replies[0])
        else:
            self._outgoing.send(self.sock.fileno(), replies, names, _lose)

    def _answer_singly(self, recall: Recall) -> None:
        """The same where there is no way to take a batch."""
        receive, send = self.sock.recvfrom, self.sock.sendto
        for _ in range(BATCH):
            try:
                data, peer = receive(MAX_MESSAGE)
                reply = recall(data)
                if reply is not None:
                    send(reply, peer)
                    continue
            except OSError:
                return
            self._endpoint.listener.ask(data, Client(peer[:2], self.local, partial(self._send, peer)))

    def _send(self, peer: Peer, reply: bytes | None) -> None:
        if reply is not None:
            try:
                self.sock.sendto(reply, peer)
            except OSError:
                pass  # rule 3


class WildcardUdpSocket(UdpSocket):
    """A socket bound to no address, for queries to addresses that have no socket of their own."""

    def __init__(self, sock: socket.socket, endpoint: HasListener) -> None:
        super().__init__(sock, endpoint)
        if self.family == 6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        else:
            sock.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)

    def _answer(self, recall: Recall) -> None:
        for _ in range(BATCH):
            try:
                data, ancillary, _, peer = self.sock.recvmsg(MAX_MESSAGE, _ANCILLARY)
            except OSError:
                return
            send = partial(self._send_from, ancillary, peer)
            reply = recall(data)
            if reply is not None:
                send(reply)
            else:
                self._endpoint.listener.ask(data, Client(peer[:2], self._asked(ancillary), send))

    def _asked(self, ancillary: Any) -> Address:
        """The address that a datagram was sent to."""
        for _, _, data in ancillary:
            if self.family == 6:
                return socket.inet_ntop(socket.AF_INET6, data[:16]), self.local[1]
            return socket.inet_ntoa(data[4:8]), self.local[1]
        return self.local

    def _send_from(self, ancillary: Any, peer: Peer, reply: bytes | None) -> None:
        if reply is not None:
            try:
                self.sock.sendmsg(
                    [reply], [(level, kind, _source(kind, data)) for level, kind, data in ancillary], 0, peer
                )
            except OSError:
                pass  # rule 3


def _source(kind: int, data: bytes) -> bytes:
    """Ancillary data that ask for the address of ``data`` as source, by whatever interface leads to the client."""
    if kind == IP_PKTINFO:
        _, local, _ = _PKTINFO4.unpack(data)
        return _PKTINFO4.pack(0, local, local)
    address, _ = _PKTINFO6.unpack(data)
    return _PKTINFO6.pack(address, 0)


def _unknown(_: bytes) -> None:
    """What a packet cache says where there is none."""


def _lose(_: int, __: OSError) -> None:
    """Rule 3."""

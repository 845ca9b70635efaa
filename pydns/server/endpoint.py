"""A listening address and its sockets, which outlive a reload.

Rules:

1. A port is taken exclusively first, so that a port in use is an error.  Only among our own sockets a port may be
   shared by the wildcard and single addresses: the kernel's options for that are on while one binds beside others.
2. Without an address (the wildcard) each local address gets a UDP socket of its own, so that replies leave from the
   address that was asked, and a wildcard socket serves addresses that come later.
3. IPv4 and IPv6 have sockets of their own; a machine without IPv6 has none for it.
4. Handing an endpoint to another `Listener` takes effect between two datagrams: none is lost.

It knows no zones and no plugins.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from pydns.address import host_port
from pydns.net import interface_addresses
from pydns.plugin import Address
from pydns.server.listener import Listener
from pydns.server.tcp import Limits, TcpConnections
from pydns.server.udp import UdpSocket, WildcardUdpSocket

BACKLOG = 1024
"""TCP connections that the kernel may hold until they are accepted."""
RECEIVE_BUFFER = 4 << 20
"""Octets asked of the kernel for datagrams not read yet; it may give less."""
WILDCARDS = ("", "0.0.0.0", "::")
"""Hosts that stand for all addresses of both families, as in Go's ``net.Listen``."""

_NO_FAMILY = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


class Endpoint:
    """The sockets of ``address`` (host, port); an empty host is the wildcard."""

    def __init__(self, address: Address, listener: Listener, limits: Limits | None = None) -> None:
        self.address = address
        self.listener = listener
        self._udp: list[UdpSocket] = []
        self._tcp: list[asyncio.Server] = []
        self._connections = TcpConnections(self, limits)
        self._sockets: _Sockets | None = None

    def bind(self, neighbours: Sequence[Endpoint] = ()) -> None:
        """Take the port; what arrives waits in the kernel for `serve`.  Raises OSError worded as CoreDNS does.

        ``neighbours`` are endpoints of ours on the same port, with other hosts or about to be closed.
        """
        beside = [sock for neighbour in neighbours if neighbour._sockets for sock in neighbour._sockets.all()]
        with _shared(beside):
            self._sockets = _bind_all(self.address, bool(beside), {neighbour.address[0] for neighbour in neighbours})

    async def serve(self) -> None:
        """Answer what arrives on the port taken."""
        assert self._sockets is not None
        streams, datagrams, single = self._sockets
        kind = WildcardUdpSocket if self.address[0] in WILDCARDS else UdpSocket
        self._udp = [kind(sock, self) for sock in datagrams] + [UdpSocket(sock, self) for sock in single]
        for sock in self._udp:
            sock.start()
        loop = asyncio.get_running_loop()
        self._tcp = [await loop.create_server(self._connections, sock=sock, backlog=BACKLOG) for sock in streams]

    def stop(self) -> None:
        """Take no more queries; connections end with their queries in flight."""
        for sock in self._udp:
            sock.stop()
        for server in self._tcp:
            server.close()
        self._connections.finish()

    def close(self) -> None:
        """Give the port back."""
        self._connections.cut()
        if self._sockets is not None:
            for sock in self._sockets.all():
                sock.close()
            self._sockets = None


class _Sockets(NamedTuple):
    streams: list[socket.socket]
    datagrams: list[socket.socket]
    single: list[socket.socket]

    def all(self) -> list[socket.socket]:
        return self.streams + self.datagrams + self.single


@contextmanager
def _shared(sockets: Sequence[socket.socket]) -> Iterator[None]:
    """Let others of ours bind to the port of ``sockets``."""
    for sock in sockets:
        _share(sock, True)
    try:
        yield
    finally:
        for sock in sockets:
            _share(sock, False)


def _bind_all(address: Address, share: bool, taken: Collection[str]) -> _Sockets:
    """``taken`` are hosts with an endpoint of their own."""
    host, port = address
    with ExitStack() as undo:
        streams = _bind_families(address, socket.SOCK_STREAM, share, undo)
        datagrams = _bind_families(address, socket.SOCK_DGRAM, share, undo)
        single = _bind_single(port, datagrams, taken, undo) if host in WILDCARDS else []
        undo.pop_all()
    sockets = _Sockets(streams, datagrams, single)
    for sock in sockets.all():
        _share(sock, False)
    return sockets


def _bind_families(address: Address, kind: socket.SocketKind, share: bool, undo: ExitStack) -> list[socket.socket]:
    """Sockets of one kind for the address's family, or both families for the wildcard (rule 3)."""
    host, port = address
    bound: list[socket.socket] = []
    failed: OSError | None = None
    for each in ("0.0.0.0", "::") if host in WILDCARDS else (host,):
        try:
            bound.append(undo.enter_context(_bind((each, port), kind, share)))
        except OSError as error:
            failed = error
            if error.errno not in _NO_FAMILY:
                break
    if failed is not None and (not bound or failed.errno not in _NO_FAMILY):
        what = "Listen: listen tcp" if kind == socket.SOCK_STREAM else "ListenPacket: listen udp"
        raise OSError(f"{what} {host_port(*address)}: bind: {os.strerror(failed.errno or 0).lower()}") from None
    return bound


def _bind(address: Address, kind: socket.SocketKind, share: bool) -> socket.socket:
    family, *_, sockaddr = _resolve(address, kind)
    sock = socket.socket(family, kind)
    try:
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        _share(sock, share)
        if kind == socket.SOCK_DGRAM:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
            sock.bind(sockaddr)
        else:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, True)  # for connections in TIME_WAIT
            sock.bind(sockaddr)
            sock.listen(BACKLOG)  # it is here that a port in use shows
    except OSError:
        sock.close()
        raise
    return sock


def _resolve(address: Address, kind: socket.SocketKind) -> tuple[Any, ...]:
    """Family and socket address; the zone of ``fe80::1%eth0`` becomes a scope ID."""
    return socket.getaddrinfo(*address, type=kind, flags=socket.AI_NUMERICHOST | socket.AI_PASSIVE)[0]


def _bind_single(
    port: int, wildcards: Sequence[socket.socket], taken: Collection[str], undo: ExitStack
) -> list[socket.socket]:
    """Sockets for each local address, beside the wildcard ones (rules 1 and 2)."""
    single = []
    with _shared(wildcards):
        for host in _local_hosts():
            if host in taken:
                continue
            try:
                single.append(undo.enter_context(_bind((host, port), socket.SOCK_DGRAM, True)))
            except OSError:
                continue  # an address not usable yet: the wildcard socket serves it
    return single


def _local_hosts() -> Iterable[str]:
    """The machine's addresses; none where the kernel does not tell, and the wildcard socket serves them all."""
    try:
        return dict.fromkeys(found.address for found in interface_addresses())
    except OSError:
        return ()


def _share(sock: socket.socket, on: bool) -> None:
    option = socket.SO_REUSEADDR if sock.type == socket.SOCK_DGRAM else socket.SO_REUSEPORT
    sock.setsockopt(socket.SOL_SOCKET, option, on)

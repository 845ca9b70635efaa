"""The sockets of a listening address: how a port is taken, shared among ours, and given back.

Rules:

1. A port is taken exclusively first, so that a port in use is an error.  Only among our own sockets a port may be
   shared by the wildcard and single addresses: the kernel's options for that are on while one binds beside others.
2. Without an address (the wildcard) each local address gets a UDP socket of its own, so that replies leave from the
   address that was asked, and a wildcard socket serves addresses that come later.
3. IPv4 and IPv6 have sockets of their own; a machine without IPv6 has none for it.
4. Of further sets of the same sockets the kernel gives each client to one (SO_REUSEPORT, which then stays on).
5. A reply over TCP leaves at once, whether or not the client has acknowledged the last one (TCP_NODELAY): it would wait
   for 40 ms.  asyncio sets that for sockets of its own only.

It does not know what is done with them.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, Self

from pydns.address import host_port
from pydns.net import interface_addresses
from pydns.query import Address

BACKLOG = 1024
"""TCP connections that the kernel may hold until they are accepted."""
RECEIVE_BUFFER = 4 << 20
"""Octets asked of the kernel for datagrams not read yet; it may give less."""
CONNECTION_BUFFER = 16 << 10
"""Octets asked of the kernel for what one TCP connection has not read, and for what its client has not; Linux takes
twice as many.  Left to itself it takes up to 4 MB for a client that never reads, and a container pays for it."""
WILDCARDS = ("", "0.0.0.0", "::")
"""Hosts that stand for all addresses of both families, as in Go's ``net.Listen``."""

_FAMILIES = {socket.AF_INET: "IPv4", socket.AF_INET6: "IPv6"}
_NO_FAMILY = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


class Sockets(NamedTuple):
    """One set: listening TCP sockets, UDP sockets of the address or wildcard, UDP sockets of single local addresses."""

    streams: list[socket.socket]
    datagrams: list[socket.socket]
    single: list[socket.socket]

    def all(self) -> list[socket.socket]:
        return self.streams + self.datagrams + self.single

    def duplicate(self) -> Self:
        """The same sockets once more, closed apart from these."""
        return type(self)(*([sock.dup() for sock in part] for part in self))

    def descriptors(self) -> tuple[list[int], ...]:
        """The file descriptors; `of_descriptors` makes the same set of them in another process."""
        return tuple([sock.fileno() for sock in part] for part in self)

    @classmethod
    def of_descriptors(cls, descriptors: Sequence[Sequence[int]]) -> Self:
        return cls(*([socket.socket(fileno=descriptor) for descriptor in part] for part in descriptors))

    def missing_family(self, address: Address) -> str:
        """The family that the wildcard stands for and that this machine has no sockets for (rule 3), or nothing."""
        bound = {sock.family for sock in self.streams}
        if address[0] not in WILDCARDS or bound.issuperset(_FAMILIES):
            return ""
        return next(name for family, name in _FAMILIES.items() if family not in bound)

    def leave(self) -> None:
        """Have the kernel give no more datagrams to this set; those that it holds can still be read and answered."""
        for sock in self.datagrams + self.single:
            sock.connect(sock.getsockname())  # a connected socket gets what its peer sends: nothing

    def close(self) -> None:
        for sock in self.all():
            sock.close()


@contextmanager
def shared(sockets: Sequence[socket.socket]) -> Iterator[None]:
    """Let others of ours bind to the port of ``sockets``."""
    before = [_is_shared(sock) for sock in sockets]
    for sock in sockets:
        _share(sock, True)
    try:
        yield
    finally:
        for sock, was in zip(sockets, before, strict=True):
            _share(sock, was)


def twin(sockets: Sockets) -> Sockets:
    """Another set on the same addresses (rule 4); others on the port are `shared` meanwhile.  Raises OSError."""
    with ExitStack() as undo:
        found = Sockets(*([undo.enter_context(_twin(sock)) for sock in part] for part in sockets))
        undo.pop_all()
    for sock in found.datagrams + found.single:
        _share(sock, False)
    return found


def _twin(sock: socket.socket) -> socket.socket:
    spread([sock], True)
    other = _new_socket(sock.family, sock.type, share=True)
    spread([other], True)
    return _bound(other, sock.getsockname())


def spread(sockets: Iterable[socket.socket], on: bool) -> None:
    """Whether the kernel spreads clients over these sockets and others on the same address."""
    for sock in sockets:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, on)


def bind_all(address: Address, share: bool, taken: Collection[str]) -> Sockets:
    """The first set.  ``share`` is whether others of ours are on the port, ``taken`` names hosts that have their own.

    Raises OSError worded as CoreDNS does.
    """
    host, port = address
    with ExitStack() as undo:
        streams = _bind_families(address, socket.SOCK_STREAM, share, undo)
        datagrams = _bind_families(address, socket.SOCK_DGRAM, share, undo)
        single = _bind_single(port, datagrams, taken, undo) if host in WILDCARDS else []
        undo.pop_all()
    sockets = Sockets(streams, datagrams, single)
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
    return _bound(_new_socket(family, kind, share), sockaddr)


def _new_socket(family: int, kind: int, share: bool) -> socket.socket:
    sock = socket.socket(family, kind)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    _share(sock, share)
    if kind == socket.SOCK_DGRAM:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    else:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, True)  # for connections in TIME_WAIT
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)  # connections inherit it (rule 5)
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            sock.setsockopt(socket.SOL_SOCKET, option, CONNECTION_BUFFER)  # and that
    return sock


def _bound(sock: socket.socket, sockaddr: Any) -> socket.socket:
    """The socket, bound and listening; closed where that fails.  Raises OSError."""
    try:
        sock.bind(sockaddr)
        if sock.type == socket.SOCK_STREAM:
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
    with shared(wildcards):
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
    sock.setsockopt(socket.SOL_SOCKET, _sharing(sock), on)


def _is_shared(sock: socket.socket) -> bool:
    return bool(sock.getsockopt(socket.SOL_SOCKET, _sharing(sock)))


def _sharing(sock: socket.socket) -> int:
    """The option with which the kernel lets sockets of the wildcard and of single addresses have the same port."""
    return socket.SO_REUSEADDR if sock.type == socket.SOCK_DGRAM else socket.SO_REUSEPORT

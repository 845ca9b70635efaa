"""Datagrams a batch at a time: Linux's recvmmsg and sendmmsg, called through ctypes.

A pair of calls takes up to `SLOTS` datagrams in and their replies out.  Beside one recvfrom and one sendto for each it
saves the calls, the exception that ends a loop, and the socket addresses, which are never made into Python objects.
`Batch` is for what comes in and is answered at once, `Outgoing` for what leaves some other time.

Rules:

1. Memory, socket addresses and headers are laid out once.  A datagram comes into a slot; its reply takes its place and
   leaves by the same slot, to the socket address that the kernel wrote there.  Only octets and lengths are written.
2. A slot holds the longest datagram there is, so each is read whole.  Pages that no datagram has reached take no
   memory: about 300 kB for short ones, 4 MB after `SLOTS` of the longest.
3. A reply that cannot be sent is lost, and none but that.
4. Sockets of one family share a batch: a process reads them one after the other, from one thread.  The memory is
   private, so a forked process has its own.
5. Socket addresses are known by their octets, which serve to answer; `peer_of` reads them.
6. Whether the machine has these calls, and they do what they should (a C library, a kernel or a filter of system calls
   may differ), is tried once on loopback.

It knows nothing of DNS.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import sys
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from struct import Struct
from typing import Any

SLOTS = 64
"""Datagrams of one batch.  Twice as many gain nothing that can be measured, and others wait for their turn longer."""
SLOT = (1 << 16) + 192
"""Octets from one slot to the next: a datagram, and a step that spreads the slots over a processor's cache."""
LONGEST = (1 << 16) - 1
"""Octets of the longest datagram or reply."""

Peer = tuple[Any, ...]
"""A socket address as Python's sockets have it: two parts for IPv4, four for IPv6."""
Recall = Callable[[bytes], bytes | None]
Missed = Callable[[bytes, bytes], None]
Refused = Callable[[int, OSError], None]

_IPV4 = Struct("!HH4s8x")
_IPV6 = Struct("!HHI16s4s")
_SIZES = {int(socket.AF_INET): _IPV4.size, int(socket.AF_INET6): _IPV6.size}
_STARTS = range(0, SLOTS * SLOT, SLOT)


class _Vector(ctypes.Structure):
    """``struct iovec``."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Header(ctypes.Structure):
    """``struct msghdr``."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("vector", ctypes.c_void_p),
        ("vectors", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class _Message(ctypes.Structure):
    """``struct mmsghdr``."""

    _fields_ = (("header", _Header), ("length", ctypes.c_uint))


_STEP = ctypes.sizeof(_Message)


class Batch:
    """Slots for the datagrams of one socket family.  Raises AttributeError where the C library has no such calls."""

    def __init__(self, family: int) -> None:
        library = _library()
        self._recvmmsg = _prototype(library.recvmmsg, ctypes.c_void_p)
        self._sendmmsg = _prototype(library.sendmmsg)
        self._name = _IPV4 if family == socket.AF_INET else _IPV6
        self._memory = _memory(SLOTS * SLOT)
        self._names = _memory(SLOTS * self._name.size)
        self._incoming, self._incoming_vectors = self._lay_out()
        self._outgoing, self._outgoing_vectors = self._lay_out()
        self._received = ctypes.addressof(self._incoming)
        self._to_send = ctypes.addressof(self._outgoing)
        self._lengths = _column(self._incoming, _Message.length, "I")
        self._sizes = _column(self._outgoing_vectors, _Vector.length, "N")

    def _lay_out(self) -> tuple[ctypes.Array[_Message], ctypes.Array[_Vector]]:
        """Headers that point at the slots and their socket addresses, for one direction."""
        memory, names = _address(self._memory), _address(self._names)
        vectors, messages = (_Vector * SLOTS)(), (_Message * SLOTS)()
        for slot, (vector, message) in enumerate(zip(vectors, messages, strict=True)):
            vector.base, vector.length = memory + slot * SLOT, LONGEST
            size = self._name.size
            message.header = _Header(names + slot * size, size, ctypes.addressof(vector), 1)
        return messages, vectors

    def exchange(self, descriptor: int, recall: Recall, missed: Missed) -> int:
        """Take what has arrived, `SLOTS` datagrams at most, and send what ``recall`` has for each.

        Where it has None, ``missed`` gets the datagram and the socket address that it came from (rule 5).
        Returns how many datagrams there were.
        """
        count: int = self._recvmmsg(descriptor, self._received, SLOTS, socket.MSG_DONTWAIT, None)
        if count <= 0:
            return 0
        memory, sizes, names, name_size = self._memory, self._sizes, self._names, self._name.size
        unsent = 0
        for slot, length in enumerate(self._lengths[:count].tolist()):
            start = slot * SLOT
            datagram = memory[start : start + length]
            reply = recall(datagram)
            if reply is None:
                self._send(descriptor, unsent, slot)
                unsent = slot + 1
                missed(datagram, names[slot * name_size : (slot + 1) * name_size])
            else:
                sizes[slot] = size = len(reply)
                memory[start : start + size] = reply
        self._send(descriptor, unsent, count)
        return count

    def _send(self, descriptor: int, slot: int, end: int) -> None:
        """Send the replies in the slots up to ``end``; one that fails ends a call, or is the first of the next."""
        while slot < end:
            sent = self._sendmmsg(descriptor, self._to_send + slot * _STEP, end - slot, socket.MSG_DONTWAIT)
            slot += max(1, sent)

    def receive(self, descriptor: int) -> list[bytes]:
        """What has arrived, `SLOTS` datagrams at most.  Raises OSError, BlockingIOError where there is nothing."""
        count: int = self._recvmmsg(descriptor, self._received, SLOTS, socket.MSG_DONTWAIT, None)
        if count < 0:
            raise _error()
        memory = self._memory
        sizes = self._lengths[:count].tolist()
        return [memory[start : start + size] for start, size in zip(_STARTS[:count], sizes, strict=True)]


class Outgoing:
    """Sends datagrams that Python has, through memory of their own.  Raises AttributeError as `Batch` does.

    ``family`` is that of the socket addresses they go to, None for sockets that are connected.
    """

    def __init__(self, family: int | None) -> None:
        self._sendmmsg = _prototype(_library().sendmmsg)
        self._memory = _memory(SLOTS * LONGEST)
        size = 0 if family is None else _SIZES[family]
        self._names = _memory(SLOTS * max(size, 1))
        self._vectors, self._messages = (_Vector * SLOTS)(), (_Message * SLOTS)()
        names = _address(self._names) if size else None
        for slot, (vector, message) in enumerate(zip(self._vectors, self._messages, strict=True)):
            message.header = _Header(names and names + slot * size, size, ctypes.addressof(vector), 1)
        self._start = _address(self._memory)
        self._to_send = ctypes.addressof(self._messages)
        self._bases = _column(self._vectors, _Vector.base, "L")
        self._sizes = _column(self._vectors, _Vector.length, "L")

    def send(self, descriptor: int, datagrams: Sequence[bytes], names: Sequence[bytes], refused: Refused) -> None:
        """Send all; ``refused`` is told the position of each datagram that cannot be sent, and why."""
        for first in range(0, len(datagrams), SLOTS):
            at, end = 0, self._fill(datagrams[first : first + SLOTS], names[first : first + SLOTS])
            while at < end:
                sent = self._sendmmsg(descriptor, self._to_send + at * _STEP, end - at, socket.MSG_DONTWAIT)
                if sent <= 0:
                    refused(first + at, _error())
                at += max(1, sent)

    def _fill(self, datagrams: Sequence[bytes], names: Sequence[bytes]) -> int:
        """Put datagrams into the memory one behind the other; how many there are."""
        sizes = array("L", map(len, datagrams))
        count = len(sizes)
        self._sizes[:count] = sizes
        self._bases[:count] = array("L", accumulate(sizes[:-1], initial=self._start))
        octets, addresses = b"".join(datagrams), b"".join(names)
        self._memory[: len(octets)] = octets
        self._names[: len(addresses)] = addresses
        return count


def peer_of(name: bytes) -> Peer:
    """The socket address with these octets."""
    if len(name) == _IPV4.size:
        _, port, host = _IPV4.unpack(name)
        return socket.inet_ntop(socket.AF_INET, host), port
    _, port, flow, host, scope = _IPV6.unpack(name)
    return socket.inet_ntop(socket.AF_INET6, host), port, flow, int.from_bytes(scope, sys.byteorder)


def _library() -> Any:
    """The C library.  Its calls keep the interpreter's lock: giving it up would cost more than they do."""
    return ctypes.PyDLL(None, use_errno=True)


def _memory(size: int) -> mmap.mmap:
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def _address(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _error() -> OSError:
    """What the last call failed with."""
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


def _prototype(function: Any, *more: Any) -> Any:
    """A function of the C library with its types declared: descriptor, headers, how many, flags."""
    function.argtypes = ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, *more
    return function


def _column(array: ctypes.Array[Any], field: Any, kind: str) -> memoryview[int]:
    """One field of each structure in ``array``, to read and to write."""
    items: memoryview[int] = memoryview(array).cast("B").cast(kind)  # type: ignore[call-overload]
    step = len(items) // len(array)
    return items[field.offset // items.itemsize :: step]


@cache
def shared_batch(family: int) -> Batch | None:
    """The batch for all sockets of a family (AF_INET or AF_INET6); None where it would not work."""
    return Batch(family) if works() else None


@cache
def shared_outgoing(family: int | None) -> Outgoing | None:
    """The same for what leaves by sockets that are connected (None), or to socket addresses of a family."""
    return Outgoing(family) if works() else None


@cache
def works() -> bool:
    """Whether two datagrams through a batch come back as they should, to the socket that sent them (rule 5)."""
    try:
        return _round_trip([b"one", b"another one"])
    except (OSError, AttributeError):
        return False


def _round_trip(datagrams: list[bytes]) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours, socket.socket(ours.family, ours.type) as peer:
        for sock in (ours, peer):
            sock.bind(("127.0.0.1", 0))
        peer.connect(ours.getsockname())
        Outgoing(None).send(peer.fileno(), datagrams, (), lambda *_: None)
        Batch(socket.AF_INET).exchange(ours.fileno(), bytes.upper, lambda *_: None)
        return [peer.recv(LONGEST, socket.MSG_DONTWAIT) for _ in datagrams] == [each.upper() for each in datagrams]

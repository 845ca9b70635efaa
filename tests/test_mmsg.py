"""Batches of datagrams through real sockets; what a kernel says of peers it cannot reach is scripted."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns import mmsg
from pydns.mmsg import LONGEST, SLOT, SLOTS, Batch, Outgoing, shared_batch, shared_outgoing, works

FAMILIES = [socket.AF_INET, socket.AF_INET6]
HOSTS = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}


class Ends:
    """A socket that a batch serves, and clients connected to it: replies from elsewhere do not reach them."""

    def __init__(self, family: int, clients: int, stack: ExitStack) -> None:
        self.batch = shared(family)
        self.ours, *self.clients = (
            stack.enter_context(socket.socket(family, socket.SOCK_DGRAM)) for _ in range(clients + 1)
        )
        self.ours.bind((HOSTS[socket.AddressFamily(family)], 0))
        for client in self.clients:
            client.connect(self.ours.getsockname())
        self.missed: list[tuple[bytes, mmsg.Peer]] = []

    def exchange(self, recall: Callable[[bytes], bytes | None]) -> int:
        return self.batch.exchange(self.ours.fileno(), recall, self._note)

    def _note(self, datagram: bytes, name: bytes) -> None:
        self.missed.append((datagram, mmsg.peer_of(name)))


@contextmanager
def ends(family: int, clients: int = 1) -> Iterator[Ends]:
    with ExitStack() as stack:
        yield Ends(family, clients, stack)


def shared(family: int) -> Batch:
    batch = shared_batch(family)
    assert batch is not None, "Linux has these calls"
    return batch


def received(sock: socket.socket) -> list[bytes]:
    """All that has arrived."""
    datagrams = []
    while True:
        try:
            datagrams.append(sock.recv(LONGEST, socket.MSG_DONTWAIT))
        except BlockingIOError:
            return datagrams


def echo(datagram: bytes) -> bytes | None:
    """A reply longer than its query, one that is empty for an empty one, and none for ``?...``."""
    return None if datagram.startswith(b"?") else datagram * 2


DATAGRAMS = st.lists(
    st.tuples(st.integers(0, 2), st.one_of(st.binary(max_size=40), st.binary(max_size=40).map(b"?".__add__))),
    max_size=SLOTS + 6,
)


@given(st.sampled_from(FAMILIES), DATAGRAMS)
def test_every_datagram_gets_its_own_reply_and_nothing_of_another(
    family: int, datagrams: list[tuple[int, bytes]]
) -> None:
    with ends(family, 3) as both:
        for number, datagram in datagrams:
            both.clients[number].send(datagram)
        counts = [both.exchange(echo) for _ in range(2)]
        assert counts == [min(SLOTS, len(datagrams)), max(0, len(datagrams) - SLOTS)]
        for number, client in enumerate(both.clients):
            assert received(client) == [
                reply for n, each in datagrams if n == number and (reply := echo(each)) is not None
            ]
        assert both.missed == [
            (each, both.clients[number].getsockname()) for number, each in datagrams if echo(each) is None
        ]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [0, 1, 512, 513, 1232, 4096, 4097, 65507])
def test_a_datagram_is_read_whole(family: int, size: int) -> None:
    datagram = os.urandom(size)
    with ends(family) as both:
        for _ in range(3):
            both.clients[0].send(datagram)
        assert both.exchange(lambda known: known) == 3
        assert received(both.clients[0]) == [datagram] * 3


def test_all_slots_may_hold_the_longest_datagram() -> None:
    seen: list[bytes] = []

    def note(datagram: bytes) -> bytes:
        seen.append(datagram)
        return bytes(LONGEST)  # too long to be sent, and yet not into the next slot

    with ends(socket.AF_INET) as both:
        both.ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        sent = [bytes((number,)) * 65507 for number in range(SLOTS)]
        for datagram in sent:
            both.clients[0].send(datagram)
        count = both.exchange(note)
        assert count > 2  # the kernel may have room for fewer
        assert seen == sent[:count]


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_there_is_no_batch(family: int) -> None:
    with ends(family) as both:
        assert both.exchange(echo) == 0
    assert both.exchange(echo) == 0  # closed


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("bad", [[0], [1], [0, 1], [3, 4], [SLOTS - 1], range(SLOTS), range(0, SLOTS, 2)])
def test_a_reply_that_the_kernel_refuses_costs_no_other(family: int, bad: list[int]) -> None:
    def recall(datagram: bytes) -> bytes:
        return bytes(LONGEST) if datagram[0] in bad else datagram  # EMSGSIZE

    with ends(family) as both:
        for number in range(SLOTS):
            both.clients[0].send(bytes((number,)))
        both.exchange(recall)
        assert received(both.clients[0]) == [bytes((number,)) for number in range(SLOTS) if number not in bad]


def test_a_peer_that_cannot_be_reached_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with ends(socket.AF_INET, 3) as both:
        unreachable = both.clients[1].getsockname()
        monkeypatch.setattr(both.batch, "_sendmmsg", Refusing(both.batch, unreachable))
        for client in both.clients * 3:
            client.send(b"x")
        assert both.exchange(echo) == 9
        assert [len(received(client)) for client in both.clients] == [3, 0, 3]


class Refusing:
    """A kernel that cannot reach ``peer``: the calls end before it, or fail at it."""

    def __init__(self, batch: Batch, peer: mmsg.Peer) -> None:
        self._batch, self._peer = batch, peer
        self._sendmmsg = batch._sendmmsg

    def __call__(self, descriptor: int, at: int, count: int, flags: int) -> int:
        first = (at - self._batch._to_send) // ctypes.sizeof(mmsg._Message)
        fair = 0
        while fair < count and self._peer_in(first + fair) != self._peer:
            fair += 1
        if not fair:
            return -1
        sent: int = self._sendmmsg(descriptor, at, fair, flags)
        return sent

    def _peer_in(self, slot: int) -> mmsg.Peer:
        size = self._batch._name.size
        return mmsg.peer_of(self._batch._names[slot * size : (slot + 1) * size])


def test_a_peer_of_a_link_has_its_scope() -> None:
    name = b"\0\0\0\x35\0\0\0\7" + socket.inet_pton(socket.AF_INET6, "fe80::1") + b"\3\0\0\0"
    scope = 3 if sys.byteorder == "little" else 3 << 24
    assert mmsg.peer_of(name) == ("fe80::1", 53, 7, scope)


def test_a_forked_process_has_memory_of_its_own() -> None:
    batch = Batch(socket.AF_INET)
    child = os.fork()
    if not child:
        batch._memory[:SLOT] = b"x" * SLOT
        os._exit(0)
    os.waitpid(child, 0)
    assert batch._memory[:SLOT] == bytes(SLOT)


# What leaves some other time.


def outgoing(family: int | None) -> Outgoing:
    shared = shared_outgoing(family)
    assert shared is not None
    return shared


def refused_by(family: int | None, sock: socket.socket, datagrams: list[bytes], names: list[bytes]) -> dict[int, str]:
    """Send; the positions of what was not sent, with the errors' names."""
    refused: dict[int, str] = {}

    def note(position: int, error: OSError) -> None:
        refused[position] = errno.errorcode[error.errno or 0]

    outgoing(family).send(sock.fileno(), datagrams, names, note)
    return refused


@given(st.sampled_from(FAMILIES), DATAGRAMS)
def test_each_datagram_goes_to_its_own_client(family: int, datagrams: list[tuple[int, bytes]]) -> None:
    with ends(family, 3) as both:
        names = []
        for client in both.clients:
            client.send(b"")
            both.batch.exchange(both.ours.fileno(), lambda _: None, lambda _, name: names.append(name))
        to = [names[number] for number, _ in datagrams]
        assert refused_by(family, both.ours, [datagram for _, datagram in datagrams], to) == {}
        for number, client in enumerate(both.clients):
            assert received(client) == [each for n, each in datagrams if n == number]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("bad", [[0], [1], [0, 1], [3, 4], [SLOTS - 1], range(SLOTS), range(0, SLOTS, 2)])
def test_a_datagram_that_the_kernel_refuses_is_told_and_costs_no_other(family: int, bad: list[int]) -> None:
    datagrams = [bytes(LONGEST if number in bad else number) for number in range(SLOTS)]
    with ends(family) as both:
        refused = refused_by(None, both.clients[0], datagrams, [])
        assert refused == dict.fromkeys(bad, "EMSGSIZE")
        fair = [each for number, each in enumerate(datagrams) if number not in bad]
        assert received(both.ours) == fair


@pytest.mark.parametrize("family", FAMILIES)
def test_what_has_come_is_received_in_its_order_and_what_cannot_be_is_an_error(family: int) -> None:
    with ends(family) as both:
        for datagram in (b"one", b"", b"another one"):
            both.clients[0].send(datagram)
        assert both.batch.receive(both.ours.fileno()) == [b"one", b"", b"another one"]
        with pytest.raises(BlockingIOError):
            both.batch.receive(both.ours.fileno())
        both.ours.close()
        both.clients[0].send(b"x")
        with pytest.raises(ConnectionRefusedError, match="Connection refused"):
            both.batch.receive(both.clients[0].fileno())


# Machines without these calls.


class Library:
    """A C library whose calls are the real ones but for those given."""

    def __init__(self, **calls: Any) -> None:
        real = _LIBRARY(None)
        self.recvmmsg = calls.get("recvmmsg", real.recvmmsg)
        self.sendmmsg = calls.get("sendmmsg", real.sendmmsg)


_LIBRARY = ctypes.PyDLL


class Fails:
    """A call that a filter of system calls refuses."""

    def __call__(self, *_: object) -> int:
        return -1


class Pretends:
    """A call that says it has sent all."""

    def __call__(self, _descriptor: int, _at: int, count: int, _flags: int) -> int:
        return count


@pytest.mark.parametrize(
    "library",
    [
        pytest.param(lambda *_, **__: object(), id="a library without the calls"),
        pytest.param(lambda *_, **__: Library(recvmmsg=Fails()), id="no recvmmsg"),
        pytest.param(lambda *_, **__: Library(sendmmsg=Fails()), id="no sendmmsg"),
        pytest.param(lambda *_, **__: Library(sendmmsg=Pretends()), id="a call that does nothing"),
    ],
)
def test_what_does_not_work_is_not_used(library: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "PyDLL", library)
    assert works.__wrapped__() is False


def test_a_library_that_cannot_be_opened_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("Dynamic loading not supported")

    monkeypatch.setattr(ctypes, "PyDLL", refuse)
    monkeypatch.setattr(mmsg, "works", works.__wrapped__)
    assert shared_batch.__wrapped__(socket.AF_INET) is None


def test_where_it_works_it_is_used() -> None:
    assert works()
    assert shared_batch(socket.AF_INET) is shared_batch(socket.AF_INET)
    assert shared_batch(socket.AF_INET) is not shared_batch(socket.AF_INET6)

"""Which reply belongs to which query, and when it is right."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address

import pytest

from conformance.bench import asking
from conformance.bench.questions import Asked
from conformance.wire.message import Reply, encode, parse_record

A = Asked("a.test.", "A")
B = Asked("b.test.", "A")


def reply(asked: Asked, *records: str, rcode: str = "NOERROR") -> bytes:
    query = asking.packet(asked)
    answer = tuple(parse_record(record) for record in records)
    return encode(Reply(rcode, frozenset({"qr"}), answer=answer), 0x1234, query[12:])


def test_a_reply_belongs_to_a_query_by_id_and_question() -> None:
    query = asking.packet(A, asking.EDNS)
    assert asking.answers(reply(A), query)
    assert not asking.answers(reply(B), query)
    assert not asking.answers(b"xx" + reply(A)[2:], query)


def test_a_right_reply_has_rcode_and_number_of_answers() -> None:
    assert asking.is_right(A, reply(A, "a.test. 5 IN A 192.0.2.1"))
    assert not asking.is_right(A, reply(A))
    assert not asking.is_right(A, reply(A, "a.test. 5 IN A 192.0.2.1", rcode="SERVFAIL"))
    assert asking.is_right(Asked("a.test.", "A", "NXDOMAIN", 0), reply(A, rcode="NXDOMAIN"))


def test_addresses_are_these_and_no_more() -> None:
    found = reply(A, "a.test. 5 IN A 192.0.2.1", "a.test. 5 IN A 192.0.2.2")
    one, two, three = (IPv4Address("192.0.2.0") + number for number in (1, 2, 3))
    assert asking.has_addresses([two, one], found)
    assert not asking.has_addresses([one], found)
    assert not asking.has_addresses([one, three], found)


@contextmanager
def scripted(replies: Sequence[bytes]) -> Iterator[int]:
    """The port of a server that gives these replies one after the other, each to one query."""
    with socket.socket(type=socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=play, args=(server, replies))
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def play(server: socket.socket, replies: Sequence[bytes]) -> None:
    for one in replies:
        query, client = server.recvfrom(512)
        server.sendto(query[:2] + one[2:], client)


ONE, TWO = (reply(A, f"a.test. 5 IN A 192.0.2.{number}") for number in (1, 2))


@pytest.mark.parametrize(
    ("ours", "theirs", "faults"),
    [
        (ONE, ONE, []),
        (ONE, TWO, ["a.test. A: other records than the reference"]),
        (reply(A), ONE, ["a.test. A: NOERROR with 0 records"]),
        (ONE, reply(A), []),  # that is a fault of the reference
    ],
)
def test_whose_answers_are_wrong(ours: bytes, theirs: bytes, faults: list[str]) -> None:
    with scripted([ours]) as port, scripted([theirs]) as reference:
        assert asking.compare([A], port, reference) == faults


def test_servers_may_still_read_their_lists_when_they_first_answer() -> None:
    with scripted([reply(A), ONE]) as port, scripted([ONE, ONE]) as reference:
        assert asking.settled([A], port, reference) == []
    with scripted([reply(A)]) as port, scripted([ONE]) as reference:
        assert asking.settled([A], port, reference, patience=0) == ["a.test. A: NOERROR with 0 records"]


def test_late_replies_are_passed_over() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=answer_both, args=(server,))
        thread.start()
        with asking.Client(server.getsockname()[1]) as client:
            assert client.ask_again(asking.packet(A)) == reply(A)
        thread.join()


def answer_both(server: socket.socket) -> None:
    """The second copy of a question is answered, behind a reply to another one; the first is not."""
    server.recvfrom(512)
    _, client = server.recvfrom(512)
    server.sendto(reply(B), client)
    server.sendto(reply(A), client)

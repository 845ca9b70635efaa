"""Ports taken, shared among ours, given back."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pydns.dns.message import parse
from pydns.server.endpoint import Endpoint
from pydns.server.sockets import Sockets
from tests.server.parts import Running, TcpClient, UdpClient, free_port, make_listener, packet
from tests.support import answer, texts


@contextmanager
def in_use(kind: socket.SocketKind, host: str) -> Iterator[int]:
    """Somebody else's socket on a port."""
    port = free_port()
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind) as sock:
        sock.bind((host, port))
        if kind == socket.SOCK_STREAM:
            sock.listen()
        yield port


@pytest.mark.parametrize("held", ["127.0.0.1", "0.0.0.0", "::1"])
@pytest.mark.parametrize(
    "kind, words", [(socket.SOCK_STREAM, "Listen: listen tcp"), (socket.SOCK_DGRAM, "ListenPacket: listen udp")]
)
async def test_a_port_in_use_is_an_error_in_one_line(held: str, kind: socket.SocketKind, words: str) -> None:
    with in_use(kind, held) as port:
        with pytest.raises(OSError) as error:
            Endpoint(("", port), make_listener()).bind()
        assert str(error.value) == f"{words} :{port}: bind: address already in use"


async def test_an_address_that_is_not_ours_is_an_error() -> None:
    with pytest.raises(
        OSError, match=r"^Listen: listen tcp 192\.0\.2\.77:5300: bind: cannot assign requested address$"
    ):
        Endpoint(("192.0.2.77", 5300), make_listener()).bind()


@pytest.mark.parametrize("host", ["", "127.0.0.1"])
async def test_two_servers_cannot_share_a_port(host: str) -> None:
    async with Running(make_listener(), host) as server:
        for other in ("", "127.0.0.1"):
            with pytest.raises(OSError, match="address already in use"):
                Endpoint((other, server.port), make_listener()).bind()
        with UdpClient("127.0.0.1", server.port) as client:
            assert parse(await client.ask(packet())).answer


@pytest.mark.parametrize(
    "kind, option",
    [
        (socket.SOCK_DGRAM, socket.SO_REUSEADDR),
        (socket.SOCK_STREAM, socket.SO_REUSEPORT),
    ],
)
async def test_nobody_else_can_share_a_port_either(kind: socket.SocketKind, option: int) -> None:
    async with Running(make_listener(), "") as server:
        with socket.socket(socket.AF_INET, kind) as sock:
            sock.setsockopt(socket.SOL_SOCKET, option, 1)
            with pytest.raises(OSError, match="already in use"):
                sock.bind(("127.0.0.1", server.port))


async def test_sharing_is_over_once_ours_are_bound() -> None:
    port = free_port()
    first, second = Endpoint(("127.0.0.1", port), make_listener()), Endpoint(("127.0.0.2", port), make_listener())
    first.bind()
    second.bind([first])
    for host in ("127.0.0.1", "127.0.0.2"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with pytest.raises(OSError, match="already in use"):
                sock.bind((host, port))
    first.close()
    second.close()


async def test_an_error_leaves_nothing_behind() -> None:
    with in_use(socket.SOCK_DGRAM, "127.0.0.1") as port:
        with pytest.raises(OSError):
            Endpoint(("", port), make_listener()).bind()
        with socket.socket() as sock:  # TCP had been taken before
            sock.bind(("", port))
            sock.listen()


async def test_a_port_given_back_can_be_taken_again() -> None:
    async with Running(make_listener(), "") as server, await TcpClient.connect(server.port) as client:
        await client.ask(packet())
    endpoint = Endpoint(("", server.port), make_listener())
    endpoint.bind()
    endpoint.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
@pytest.mark.parametrize("asked", ["127.0.0.1", "::1"])
async def test_either_wildcard_is_both_families(host: str, asked: str) -> None:
    """Go's ``net.Listen`` does so, and with it CoreDNS's *bind*."""
    async with Running(make_listener(), host) as server:
        with UdpClient(asked, server.port) as client:
            assert parse(await client.ask(packet()))
        async with await TcpClient.connect(server.port, asked) as connection:
            assert parse(await connection.ask(packet()))


@pytest.mark.parametrize(
    ("families", "host", "missing"),
    [
        ((socket.AF_INET,), "", "IPv6"),
        ((socket.AF_INET,), "::", "IPv6"),
        ((socket.AF_INET6,), "0.0.0.0", "IPv4"),
        ((socket.AF_INET, socket.AF_INET6), "", ""),
        ((socket.AF_INET,), "127.0.0.1", ""),
    ],
)
def test_a_family_is_missing_where_the_wildcard_has_no_sockets_of_it(
    families: tuple[int, ...], host: str, missing: str
) -> None:
    sockets = Sockets([socket.socket(family) for family in families], [], [])
    assert sockets.missing_family((host, 53)) == missing
    sockets.close()


@pytest.mark.parametrize("order", [["", "127.0.0.1"], ["127.0.0.1", ""], ["127.0.0.1", "127.0.0.2", ""]])
async def test_the_wildcard_and_single_addresses_share_a_port(order: list[str]) -> None:
    port = free_port()
    endpoints: list[Endpoint] = []
    for number, host in enumerate(order):
        endpoint = Endpoint((host, port), make_listener(answer(f"example.org. 5 IN A 192.0.2.{number}")))
        endpoint.bind(endpoints)
        endpoint.serve()
        endpoints.append(endpoint)
    for asked in ("127.0.0.1", "127.0.0.2", "127.0.0.3", "::1"):
        number = order.index(asked if asked in order else "")
        with UdpClient(asked, port) as client:
            over_udp = parse(await client.ask(packet()))
        async with await TcpClient.connect(port, asked) as connection:
            over_tcp = parse(await connection.ask(packet()))
        assert texts(over_udp.answer) == texts(over_tcp.answer) == [f"example.org. 5 IN A 192.0.2.{number}"]
    with pytest.raises(OSError, match="address already in use"):
        Endpoint(("127.0.0.1", port), make_listener()).bind()
    for endpoint in endpoints:
        endpoint.stop()
        endpoint.close()


async def test_an_endpoint_may_be_closed_before_it_served() -> None:
    endpoint = Endpoint(("127.0.0.1", free_port()), make_listener())
    endpoint.close()
    endpoint.bind()
    endpoint.close()


# Several sets of sockets.


def clients(port: int, host: str = "127.0.0.1", number: int = 64) -> list[UdpClient]:
    found = [UdpClient(host, port) for _ in range(number)]
    for client in found:
        client.send(packet())
    return found


@pytest.mark.parametrize("host", ["", "127.0.0.1"])
async def test_the_kernel_spreads_clients_over_the_sets(host: str) -> None:
    endpoint = Endpoint((host, free_port()), make_listener())
    endpoint.bind()
    endpoint.grow(3)
    asking = clients(endpoint.address[1])
    servers = [Endpoint(endpoint.address, make_listener()) for _ in range(3)]
    for server, sockets in zip(servers, endpoint.sets, strict=True):
        assert select.select(sockets.datagrams + sockets.single, [], [], 0)[0], "each set has some"
        server.adopt(sockets.duplicate())
        server.serve()
    for client in asking:
        assert parse(await client.receive()).answer
        client.sock.close()
    async with await TcpClient.connect(endpoint.address[1]) as connection:
        assert parse(await connection.ask(packet())).answer
    for each in (*servers, endpoint):
        each.stop()
        each.close()


@pytest.mark.parametrize("host", ["", "127.0.0.1", "::1"])
async def test_a_set_that_was_left_keeps_what_it_holds_and_gets_no_more(host: str) -> None:
    endpoint = Endpoint((host, free_port()), make_listener())
    endpoint.bind()
    endpoint.grow(2)
    asking = clients(endpoint.address[1], host or "127.0.0.1")
    endpoint.leave(1)
    asking += clients(endpoint.address[1], host or "127.0.0.1")
    left = Endpoint(endpoint.address, make_listener())
    left.adopt(endpoint.sets[1].duplicate())
    left.serve()
    left.stop()
    await left.listener.finish()
    left.close()
    endpoint.shrink(1)
    endpoint.serve()
    for client in asking:
        assert parse(await client.receive()).answer
        client.sock.close()
    endpoint.stop()
    endpoint.close()


@pytest.mark.parametrize("count", [1, 2])
async def test_an_endpoint_with_several_sets_has_its_port_for_itself(count: int) -> None:
    endpoint = Endpoint(("", free_port()), make_listener())
    endpoint.bind()
    endpoint.grow(2)
    endpoint.leave(count)
    endpoint.shrink(count)
    for host in ("", "127.0.0.1"):
        with pytest.raises(OSError, match="address already in use"):
            Endpoint((host, endpoint.address[1]), make_listener()).bind()
    endpoint.close()


async def test_neighbours_with_several_sets() -> None:
    port = free_port()
    first, second = Endpoint(("127.0.0.1", port), make_listener()), Endpoint(("", port), make_listener())
    first.bind()
    first.grow(2)
    second.bind([first])
    second.grow(3, [first])
    first.grow(3, [second])
    assert [len(each.sets) for each in (first, second)] == [3, 3]
    asking = clients(port)
    held = [bool(select.select(sockets.datagrams, [], [], 0)[0]) for sockets in first.sets]
    assert held == [True] * 3, "the group is whole"
    for client in asking:
        client.sock.close()
    first.close()
    second.close()


async def test_whoever_pauses_leaves_its_sockets_open() -> None:
    endpoint = Endpoint(("127.0.0.1", free_port()), make_listener())
    endpoint.bind()
    endpoint.serve()
    endpoint.pause()
    with UdpClient(*endpoint.address) as client:
        client.send(packet())
        async with await TcpClient.connect(endpoint.address[1]) as connection:
            connection.send(packet())
            endpoint.serve()
            assert parse(await client.receive()).answer
            assert parse(await connection.receive()).answer
    endpoint.stop()
    endpoint.close()

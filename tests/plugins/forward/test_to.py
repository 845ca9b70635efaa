"""The TO arguments: addresses, files, host names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pydns.address import Address
from pydns.corefile.line import CorefileError
from pydns.plugins.forward.to import name_servers, read_targets, resolve
from tests.scripted_upstream import closed_address, saying, scripted_upstream
from tests.support import corefile_lines


def read(*words: str) -> list[str]:
    line = corefile_lines(f"forward . {' '.join(words)}")[0]
    return [str(target) for target in read_targets(line, line.args[1:])]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("192.0.2.1", "192.0.2.1:53"),
        ("192.0.2.1:5353", "192.0.2.1:5353"),
        ("dns://192.0.2.1", "192.0.2.1:53"),
        ("dns://192.0.2.1:5353", "192.0.2.1:5353"),
        ("2001:db8::1", "[2001:db8::1]:53"),
        ("[2001:db8::1]", "[2001:db8::1]:53"),
        ("[2001:db8::1]:5353", "[2001:db8::1]:5353"),
        ("fe80::1%eth0", "[fe80::1]:53"),
        ("[fe80::1%eth0]:5353", "[fe80::1]:5353"),
        ("dns.corp.example", "dns.corp.example:53"),
        ("dns.corp.example:5353", "dns.corp.example:5353"),
    ],
)
def test_words(word: str, expected: str) -> None:
    assert read(word) == [expected]


def test_repeats_go_and_the_order_stays() -> None:
    assert read("192.0.2.2", "192.0.2.1", "192.0.2.2:53", "192.0.2.1:53") == ["192.0.2.2:53", "192.0.2.1:53"]


def test_a_port_as_go_reads_it() -> None:
    assert read("192.0.2.1:+53", "192.0.2.2:0053") == ["192.0.2.1:53", "192.0.2.2:53"]


def test_an_impossible_port_is_left_out_with_a_warning() -> None:
    line = corefile_lines("forward . 192.0.2.1:99999 192.0.2.2")[0]
    assert read_targets(line, line.args[1:]) == (Address("192.0.2.2", 53),)
    (warning,) = line.warnings
    assert warning == (
        'plugin/forward: Corefile:2 - Warning: left out: 192.0.2.1:99999 must have a port from 0 to 65535: "99999"'
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["192.0.2.1:70000"], "no valid upstream addresses found (192.0.2.1:70000 must have a port from 0 to 65535"),
        (["a..b"], "not an IP address, file, or valid domain: a..b"),
        (["."], "not an IP address, file, or valid domain: ."),
        (["010.0.0.1"], "not an IP address, file, or valid domain: 010.0.0.1"),
        (["1.2.3:53"], "not an IP address, file, or valid domain: 1.2.3:53"),
        (["0x7f000001"], "not an IP address, file, or valid domain: 0x7f000001"),
        (["/nowhere/resolv.conf"], "/nowhere/resolv.conf: No such file or directory"),
        (["/"], "/: Is a directory"),
        (["host.example:0"], "not an IP address, file, or valid domain: host.example:0"),
        (["tls://192.0.2.1"], "tls://192.0.2.1: upstreams over tls are not served by this version yet"),
        (["https://192.0.2.1"], "https://192.0.2.1: upstreams over https are not served by this version yet"),
        (["grpc://192.0.2.1"], "grpc://192.0.2.1: upstreams over grpc are not served by this version yet"),
        ([f"192.0.2.{n}" for n in range(16)], "more than 15 TOs configured: 16"),
    ],
)
def test_what_is_none(words: list[str], message: str) -> None:
    with pytest.raises(CorefileError, match="plugin/forward: Corefile:2 - Error during parsing: ") as raised:
        read(*words)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("content", "servers"),
    [
        ("nameserver 192.0.2.1\nnameserver 2001:db8::1\n", ["192.0.2.1:53", "[2001:db8::1]:53"]),
        ("search a b\noptions ndots:5\nnameserver\t192.0.2.1 # x\n", ["192.0.2.1:53"]),
        ("# nameserver 192.0.2.9\n;nameserver 192.0.2.8\nnameserver\nnameserver bad\n", []),
        ("nameserver fe80::1%eth0\n", ["[fe80::1]:53"]),
    ],
)
def test_name_servers_of_a_file(tmp_path: Path, content: str, servers: list[str]) -> None:
    path = tmp_path / "resolv.conf"
    path.write_text(content)
    assert [str(server) for server in name_servers(path)] == servers


def test_files_stand_where_they_were_written_and_count_once(tmp_path: Path) -> None:
    path = tmp_path / "resolv.conf"
    path.write_text("".join(f"nameserver 198.51.100.{number}\n" for number in range(20)))
    assert read("192.0.2.1", str(path), "192.0.2.2")[:2] == ["192.0.2.1:53", "198.51.100.0:53"]
    assert len(read("192.0.2.1", str(path), "192.0.2.2")) == 22


def test_a_file_without_name_servers_is_no_upstream(tmp_path: Path) -> None:
    path = tmp_path / "resolv.conf"
    path.write_text("search example.org\n")
    assert read(str(path), "192.0.2.1") == ["192.0.2.1:53"]
    with pytest.raises(CorefileError, match="no valid upstream addresses found"):
        read(str(path))


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "resolv.conf"
    path.write_bytes(b"nameserver \xff\n")
    with pytest.raises(CorefileError, match=r"resolv\.conf: not a text file"):
        read(str(path))


async def test_addresses_need_no_look_up() -> None:
    targets = [Address("192.0.2.1", 53), Address("2001:db8::1", 5353)]
    assert await resolve(targets, ()) == [Address("192.0.2.1", 53), Address("2001:db8::1", 5353)]


async def test_a_host_name_stands_for_all_its_addresses() -> None:
    async with scripted_upstream(
        saying("dns.corp.example. 60 IN A 192.0.2.1", "dns.corp.example. 60 IN AAAA ::2")
    ) as server:
        resolvers = [closed_address(), server.address]
        found = await resolve([Address("dns.corp.example", 5353), Address("192.0.2.1", 5353)], resolvers)
    assert found == [Address("192.0.2.1", 5353), Address("::2", 5353)]
    assert [query.question.type for _, query in server.asked if query.question] == [1, 28]


async def test_localhost_is_known_to_the_system() -> None:
    assert Address("127.0.0.1", 5353) in await resolve([Address("localhost", 5353)], ())


async def test_a_name_that_is_not_known_is_an_error() -> None:
    async with scripted_upstream(saying(rcode=3)) as server:
        with pytest.raises(ValueError, match=r'failed to resolve "dns\.corp\.example": no addresses found'):
            await resolve([Address("dns.corp.example", 53)], [server.address])


async def test_a_resolver_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="connection refused"):
        await resolve([Address("dns.corp.example", 53)], [closed_address()])

"""The TO arguments of *forward*: addresses, resolv.conf files and host names.

Duty: what each word means, and the addresses of host names.  Files are read when the Corefile is, names looked up when
the plugin starts.  It knows nothing of policies or health.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from pathlib import Path

from pydns.address import Address, is_ip
from pydns.corefile.keys import strip_transport
from pydns.corefile.line import Line
from pydns.corefile.types import Mismatch, address
from pydns.dns.message import Message, Question, pack
from pydns.dns.name import normalize
from pydns.dns.rdata import address_text
from pydns.dns.types import Flag, Type
from pydns.upstream.exchange import Upstream
from pydns.upstream.reply import ExchangeError

PORT = 53
MAX_TARGETS = 15
LIMIT = 512
"""Octets that a reply to our own queries may have over UDP."""

_to_address = address(PORT)


def read_targets(line: Line, words: Sequence[str]) -> tuple[Address, ...]:
    """Addresses and host names in the order written, files replaced by their name servers, repeats removed.

    An address with an impossible port is left out: CoreDNS tries it and goes on to the next.  Raises CorefileError.
    """
    left_out: list[str] = []
    read = [targets for word in words if (targets := _read_target(line, word, left_out))]
    if len(read) > MAX_TARGETS:
        raise line.error(f"more than {MAX_TARGETS} TOs configured: {len(read)}")
    if not read:
        raise line.error("no valid upstream addresses found", "; ".join(left_out))
    for reason in left_out:
        line.warn(f"left out: {reason}")
    return tuple(dict.fromkeys(target for targets in read for target in targets))


def _read_target(line: Line, word: str, left_out: list[str]) -> list[Address]:
    transport, host = strip_transport(word)
    if transport != "dns":
        raise line.error(f"{word}: upstreams over {transport} are not served by this version yet")
    try:
        return [_to_address(_without_scope(host))]
    except Mismatch:
        pass  # a file or a host name
    except ValueError as error:
        left_out.append(f"{word} {error}")
        return []
    try:
        return name_servers(Path(host))
    except OSError as error:
        if "/" in host:
            raise line.error(f"{word}: {error.strerror}") from None
        return [_host_name(line, word, host)]
    except ValueError:
        raise line.error(f"{word}: not a text file") from None


def _without_scope(host: str) -> str:
    """``fe80::1%eth0`` without the interface, as CoreDNS takes it."""
    address, percent, rest = host.partition("%")
    if not percent:
        return host
    bracket = "]" if address.startswith("[") else ""
    _, colon, port = rest.rpartition(":")
    return address + bracket + (colon + port if colon else "")


def name_servers(path: Path) -> list[Address]:
    """The ``nameserver`` addresses of a resolv.conf(5) file, all with port 53.  Raises OSError, UnicodeDecodeError."""
    words = (text.split() for text in path.read_text().splitlines())
    servers = [fields[1].partition("%")[0] for fields in words if len(fields) > 1 and fields[0] == "nameserver"]
    return [Address(str(ip_address(server)), PORT) for server in servers if is_ip(server)]


def _host_name(line: Line, word: str, host: str) -> Address:
    name, colon, port = host.rpartition(":")
    try:
        found = Address(name, int(port)) if colon else Address(host, PORT)
        if normalize(found.host) != "." and not _ends_in_number(found.host) and 0 < found.port <= 65535:
            return found
    except ValueError:
        pass
    raise line.error(f"not an IP address, file, or valid domain: {word}")


def _ends_in_number(host: str) -> bool:
    """Whether C libraries take the name for an address in an old form (1.2.3, 010.0.0.1; RFC 6943 section 3.1.1)."""
    last = host.lower().removesuffix(".").rpartition(".")[2]
    return last.isdecimal() or last.startswith("0x")


async def resolve(targets: Iterable[Address], resolvers: Sequence[Address]) -> list[Address]:
    """The targets with each host name replaced by its addresses, repeats removed.  Raises ValueError."""
    found: list[Address] = []
    for host, port in targets:
        addresses = [host] if is_ip(host) else await _look_up(host, resolvers)
        found += [Address(address, port) for address in addresses]
    return list(dict.fromkeys(found))


async def _look_up(host: str, resolvers: Sequence[Address]) -> list[str]:
    why = f'no addresses found for "{host}"'
    for resolver in resolvers:
        try:
            if addresses := await _ask_resolver(host, resolver):
                return addresses
        except ExchangeError as error:
            why = f'no addresses found for "{host}": {error}'
    if not resolvers:
        try:
            return await _ask_system(host)
        except OSError as error:
            why = f"lookup {host}: {error.strerror}"
    raise ValueError(f'failed to resolve "{host}": {why}')


async def _ask_system(host: str) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_DGRAM)
    return [str(entry[4][0]) for entry in found]


async def _ask_resolver(host: str, resolver: Address) -> list[str]:
    """A, then AAAA; a failure of the second does not spoil the first."""
    upstream = Upstream(resolver)
    addresses: list[str] = []
    try:
        for qtype in (Type.A, Type.AAAA):
            question = Question(normalize(host), qtype)
            reply = await upstream.ask(pack(Message(flags=Flag.RD, question=question)), question, "udp", LIMIT)
            addresses += [address_text(record.rdata) for record in reply.answer if record.type == qtype]
    except ExchangeError:
        if not addresses:
            raise
    finally:
        upstream.close()
    return addresses

"""Addresses for objects that are written without one.

An address depends on what it is for (kind, namespace, name) alone: adding an object moves no other, unless the two
would get the same address.  Then the one whose name sorts later moves on, again by name alone.
"""

from collections.abc import Iterable
from hashlib import blake2b
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

STATIC_BAND: Final = 256
"""The first addresses of a network are for those who choose their own (10.96.0.1, 10.96.0.10), as in Kubernetes."""
LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes the generated part of a name from."""

IPV4: Final = "IPv4"
IPV6: Final = "IPv6"


def digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "big")


def suffix(text: str, length: int) -> str:
    """The generated part of a name, from what it is generated for."""
    number, letters = digest(text), ""
    for _ in range(length):
        number, letter = divmod(number, len(LETTERS))
        letters += LETTERS[letter]
    return letters


def family_of(address: str) -> str:
    """IPv4 or IPv6; raises ValueError for what is no address."""
    return IPV4 if ip_address(address).version == 4 else IPV6


class Pool:
    """One network's addresses; those in `taken` are not given away.  Ask in the order of names."""

    def __init__(self, network: str, taken: Iterable[str]) -> None:
        self._network: IPv4Network | IPv6Network = ip_network(network)
        self._taken = set(taken)

    def address(self, owner: str) -> str:
        """The address of `owner` (kind/namespace/name)."""
        room = self._network.num_addresses - STATIC_BAND - 1  # the last one is IPv4's broadcast address
        attempt = 0
        while (found := str(self._network[STATIC_BAND + digest(f"{owner}#{attempt}") % room])) in self._taken:
            attempt += 1
        self._taken.add(found)
        return found


class Pools:
    """A pool for each IP family."""

    def __init__(self, ipv4: str, ipv6: str, taken: Iterable[str]) -> None:
        taken = set(taken)
        self._pools = {IPV4: Pool(ipv4, taken), IPV6: Pool(ipv6, taken)}

    def address(self, family: str, owner: str) -> str:
        return self._pools[family].address(owner)

"""Values that the models of resolvers and the programs that are run have in common. Knows no resolver and no socket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class ResolvConf:
    """A resolv.conf file: addresses, search domains and options (`ndots:5`, `edns0`) in their order."""

    nameservers: tuple[str, ...]
    search: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The file as a container runtime writes it: no `search` or `options` line where there is nothing to say."""
        lines = [f"nameserver {address}" for address in self.nameservers]
        lines += [f"search {' '.join(self.search)}"] if self.search else []
        lines += [f"options {' '.join(self.options)}"] if self.options else []
        return "".join(f"{line}\n" for line in lines)


class Want(StrEnum):
    """What a program is asked to find for a name."""

    A = "A"
    AAAA = "AAAA"
    BOTH = "both"
    SRV = "SRV"


@dataclass(frozen=True)
class Lookup:
    """One look-up: the name as typed, with its final dot if it has one."""

    name: str
    want: Want = Want.BOTH


class Kind(StrEnum):
    """What comes back for one question, as a client sees it."""

    ANSWER = "answer"
    NODATA = "nodata"
    NXDOMAIN = "nxdomain"
    SERVFAIL = "servfail"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    TRUNCATED = "truncated"
    """TC and no record over UDP, the whole answer over TCP."""


@dataclass(frozen=True)
class Answer:
    """A reply to one question; `found` are addresses or SRV targets, in any order."""

    kind: Kind
    found: tuple[str, ...] = ()


World = Callable[[str, str], Answer]
"""What the right server answers to an absolute name (with its final dot) and a type."""

"""Values that the models of resolvers and the programs that are run have in common. Knows no resolver and no socket."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    NOTIMP = "notimp"
    FORMERR = "formerr"
    LAME = "lame"
    """NODATA with neither AA nor RA, which no right server sends."""
    DANGLING = "dangling"
    """NOERROR with a CNAME and nothing it leads to."""
    TIMEOUT = "timeout"
    TRUNCATED = "truncated"
    """TC and no record over UDP, the whole answer over TCP."""


@dataclass(frozen=True)
class Answer:
    """A reply to one question; `found` are addresses or SRV targets, in any order.

    `alias` is the name that a chain of CNAMEs in it leads to, with its final dot. `size` is how many octets the whole
    reply has, where that may be too much for UDP: it is truncated beyond what the question says it takes, 512 octets
    without EDNS. `recursion` is whether RA is set in it.
    """

    kind: Kind
    found: tuple[str, ...] = ()
    alias: str = ""
    size: int = 0
    recursion: bool = True


World = Callable[[str, str], Answer]
"""What the right server answers to an absolute name (with its final dot, in letters of either case) and a type."""


class Failure(StrEnum):
    """What a program reports when it found nothing, in words that fit every resolver's own.

    | word | libc | Go | c-ares, Node's dns.resolve | dnspython |
    |---|---|---|---|---|
    | not-found | EAI_NONAME, HOST_NOT_FOUND | IsNotFound | ENOTFOUND | NXDOMAIN |
    | no-data | EAI_NODATA, NO_DATA | - | ENODATA | NoAnswer |
    | try-again | EAI_AGAIN, TRY_AGAIN | IsTimeout, IsTemporary | ESERVFAIL, ETIMEOUT | LifetimeTimeout |
    | refused | - | any other | EREFUSED, ENOTIMP, EFORMERR | - |
    | failed | EAI_FAIL, NO_RECOVERY, any other | - | any other | NoNameservers, any other |

    BIND's tools and busybox name the rcode: NXDOMAIN is not-found, NOERROR without a record asked for no-data, SERVFAIL
    and no reply at all try-again, any other rcode refused; the last one counts. Node's `dns.lookup` says ENOTFOUND for
    EAI_NONAME and EAI_NODATA alike. Java's words are those of libc, in the text of its UnknownHostException.
    """

    NOT_FOUND = "not-found"
    NO_DATA = "no-data"
    TRY_AGAIN = "try-again"
    REFUSED = "refused"
    FAILED = "failed"


def got(found: Iterable[str]) -> str:
    """What a program found, as one text: addresses or SRV targets (with their final dot), each once, sorted."""
    return " ".join(sorted(set(found)))

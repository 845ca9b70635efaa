"""What a *forward* line says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from pydns.address import Address
from pydns.corefile.duration import format_duration
from pydns.corefile.line import Line
from pydns.corefile.options import NotServed, Options, argument, flag, option
from pydns.corefile.types import (
    Converter,
    address,
    choice,
    duration,
    integer,
    ip,
    named,
    text,
    unsigned,
    zone_or_cidr,
    zones,
)
from pydns.dns.name import normalize
from pydns.dns.types import Rcode
from pydns.plugins.forward.to import PORT, read_targets
from pydns.upstream.policy import NAMES

UINT32 = 2**32 - 1
RCODES: Mapping[str, int] = {
    **{rcode.name: rcode.value for rcode in Rcode if rcode != Rcode.BADVERS},
    "NOTIMPL": Rcode.NOTIMP,
    "BADSIG": 16,
}
"""The names that CoreDNS knows: 16 as TSIG calls it (RFC 8945), not as EDNS does."""


_rcode = named(RCODES, "rcode")


def _positive(word: str) -> float:
    seconds = duration()(word)
    if seconds <= 0:
        raise ValueError(f"must be positive: {word}")
    return seconds


def _failure(word: str) -> int:
    rcode = _rcode(word)
    if rcode == Rcode.NOERROR:
        raise ValueError("cannot be used with NOERROR")
    return rcode


@dataclass
class HealthCheck(Options):
    """``health_check DURATION [no_rec] [domain NAME]``; ``recursive`` and ``domain`` are read from ``words``."""

    interval: float = argument(duration(0), name="DURATION")
    words: tuple[str, ...] = argument(text, many=True)
    recursive: bool = True
    domain: str = "."

    @classmethod
    def usage(cls) -> str:
        return "DURATION [no_rec] [domain NAME]"

    def validate(self, line: Line) -> None:
        words = iter(self.words)
        for word in words:
            if word == "no_rec":
                self.recursive = False
            elif word == "domain":
                self.domain = _domain(line, next(words, ""))
            else:
                raise line.error(f"health_check: unknown option {word}")


def _domain(line: Line, word: str) -> str:
    if not word:
        raise line.wrong_args(f"usage: health_check {HealthCheck.usage()}")
    try:
        return normalize(word)
    except ValueError:
        raise line.error(f"health_check: invalid domain name {word}") from None


@dataclass
class ForwardOptions(Options):
    """``targets`` are the addresses and host names that ``to`` stands for, ``zone`` the first that ``origin`` does."""

    origin: tuple[str, ...] = argument(zone_or_cidr, name="from", help="only names in this zone are forwarded")
    to: tuple[str, ...] = argument(
        text, many=True, at_least=1, help="upstreams: address, address:port, resolv.conf file or host name; at most 15"
    )
    excepted: tuple[str, ...] = option(
        zones, many=True, name="except", help="names in these zones are not forwarded, the FROM name itself excepted"
    )
    force_tcp: bool = flag(help="ask over TCP always; stronger than prefer_udp")
    prefer_udp: bool = flag(help="ask over UDP always, again over TCP when the reply is truncated")
    expire: float = option(duration(0), surplus="property", default=10.0, help="how long unused sockets are kept")
    max_age: float = option(
        duration(0), surplus="property", default=0.0, help="how long a connection is used at all; 0 without a bound"
    )
    max_idle_conns: int = option(
        integer(0), surplus="property", default=0, help="unused connections kept for each upstream; 0 for all"
    )
    max_fails: int = option(
        unsigned(UINT32),
        surplus="property",
        default=2,
        help="an upstream is down after more failed health checks; 0 for no checks",
    )
    max_connect_attempts: int | None = option(
        unsigned(UINT32),
        surplus="property",
        help="tries for one query, twice the number of upstreams if not given; 0 without a bound",
    )
    health_check: HealthCheck = option(
        HealthCheck, default=HealthCheck(interval=0.5), help="how a failed upstream is probed until it replies"
    )
    policy: str = option(
        choice(*NAMES), surplus="property", default="random", help="the order in which upstreams are tried"
    )
    max_concurrent: int = option(
        integer(0), surplus="property", default=0, help="queries under way above which others are REFUSED; 0 for all"
    )
    next: tuple[int, ...] = option(
        _rcode, many=True, help="replies with these rcodes pass the query to the next forward line"
    )
    next_on_nodata: bool = flag(help="so do replies with rcode NOERROR and no answer")
    failover: tuple[int, ...] = option(
        Converter(_failure, "RCODE"), many=True, help="replies with these rcodes pass the query to the next upstream"
    )
    failfast_all_unhealthy_upstreams: bool = flag(help="SERVFAIL instead of a random try when all upstreams are down")
    read_timeout: float = option(
        Converter(_positive, "DURATION"), surplus="property", default=2.0, help="how long one upstream has to reply"
    )
    source_address: IPv4Address | IPv6Address | None = option(
        ip, surplus="property", help="the local address that queries leave from"
    )
    resolver: tuple[Address, ...] = option(
        address(PORT), many=True, help="servers that know the host names among TO, in place of the system's"
    )
    tls: NotServed | None = option(NotServed)
    tls_servername: NotServed | None = option(NotServed)
    doh_method: NotServed | None = option(NotServed)
    targets: tuple[Address, ...] = ()

    @property
    def zone(self) -> str:
        return self.origin[0]

    def validate(self, line: Line) -> None:
        if self.max_age and self.max_age < self.expire:
            age, expire = format_duration(self.max_age), format_duration(self.expire)
            raise line.error(f"max_age ({age}) must not be less than expire ({expire})")
        if len(self.origin) > 1:
            line.warn(f"{line.args[0]} stands for several zones, only {self.zone} is forwarded")
        self.targets = read_targets(line, self.to)

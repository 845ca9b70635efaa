"""What a *cache* line says."""

from __future__ import annotations

from dataclasses import dataclass

from pydns.corefile.line import WRONG_ARGS, Line
from pydns.corefile.options import NotServed, Options, argument, flag, option
from pydns.corefile.types import (
    Several,
    choice,
    duration,
    integer,
    percentage,
    seconds,
    strict,
    text,
    zone,
    zones,
)
from pydns.plugins.cache.store import DENIAL, SUCCESS

SHORTEST, LONGEST_SUCCESS, LONGEST_DENIAL = 5, 3600, 1800
"""Bounds of TTLs in seconds."""
LONGEST_RECHECK = 300
"""Seconds (RFC 8767 section 5)."""


@dataclass
class Bound(Options):
    """``CAPACITY [TTL [MINTTL]]``; further words are swallowed with a warning, as CoreDNS swallows them."""

    capacity: int = argument(integer())
    ttl: int | None = argument(strict(seconds(1)), default=None)
    minttl: int | None = argument(strict(seconds(0)), default=None)
    extra: tuple[str, ...] = argument(text, many=True)

    @classmethod
    def usage(cls) -> str:
        return "CAPACITY [TTL [MINTTL]]"

    def validate(self, line: Line) -> None:
        if self.extra:
            line.warn(f"'{' '.join(self.extra)}' is left out: usage: {line.name} {self.usage()}")


@dataclass
class Prefetch(Options):
    """``AMOUNT [DURATION [PERCENTAGE%]]``."""

    amount: int = argument(integer(0))
    gap: float = argument(strict(duration()), default=60.0, name="DURATION")
    percent: int = argument(percentage, default=10, name="PERCENTAGE%")

    @classmethod
    def usage(cls) -> str:
        return "AMOUNT [DURATION [PERCENTAGE%]]"

    def validate(self, line: Line) -> None:
        if not 10 <= self.percent <= 90:
            raise line.error(f"percentage should fall in range [10, 90]: {self.percent}")


@dataclass
class ServeStale(Options):
    """``[DURATION] [immediate [TTL [RECHECK]] | verify [TIMEOUT [TTL [RECHECK]]]]``, read from ``words``.

    All times are in seconds.
    """

    words: tuple[str, ...] = argument(text, many=True)
    up_to: float = 3600.0
    verify: bool = False
    timeout: float = 0.0
    """How long *verify* waits; 0 for as long as the upstream takes."""
    ttl: int = 0
    recheck: float = 0.0

    @classmethod
    def usage(cls) -> str:
        return "[DURATION] [immediate [TTL [RECHECK]] | verify [TIMEOUT [TTL [RECHECK]]]]"

    def validate(self, line: Line) -> None:
        words = list(self.words)
        if words:
            self.up_to = _seconds(line, "duration", words.pop(0))
        if words:
            self.verify = self._is_verify(line, words.pop(0))
        if words and self.verify:
            self.timeout = _seconds(line, "verify timeout", words.pop(0))
        if words:
            self.ttl = _whole_seconds(line, words.pop(0))
        if words:
            self.recheck = _seconds(line, "failure recheck", words.pop(0))
        if words:
            raise line.wrong_args(f"usage: serve_stale {self.usage()}")
        if self.recheck > LONGEST_RECHECK:
            raise line.error("serve_stale failure recheck cannot exceed 5 minutes")

    def _is_verify(self, line: Line, word: str) -> bool:
        if word.lower() not in ("immediate", "verify"):
            raise line.error(f"invalid value for serve_stale refresh mode: {word}")
        return word.lower() == "verify"


def _seconds(line: Line, what: str, word: str) -> float:
    try:
        return duration(0)(word)
    except ValueError as error:
        raise line.error(f"serve_stale {what} {error}") from None


def _whole_seconds(line: Line, word: str) -> int:
    ttl = _seconds(line, "response TTL", word)
    if ttl != int(ttl) or ttl >= 2**32:
        raise line.error(f"serve_stale response TTL must be a whole number of seconds below 2^32: {word}")
    return int(ttl)


@dataclass
class Disable(Options):
    """``success|denial [ZONES...]``; all zones without a word.  A word that is no zone stands for none."""

    kind: str = argument(choice(SUCCESS, DENIAL))
    zones: tuple[str, ...] = argument(Several(lambda word: (zone(word),), "ZONE"), many=True)

    def validate(self, line: Line) -> None:
        if len(line.args) == 1:
            self.zones = (".",)


@dataclass
class CacheOptions(Options):
    """``zones`` is empty for the zones of the server block."""

    unknown = WRONG_ARGS

    ttl: int | None = argument(
        seconds(1),
        default=None,
        help="upper bound of every TTL, 3600 for positive replies and 1800 for denials if not given",
    )
    zones: tuple[str, ...] = argument(
        zones, many=True, help="only names in these zones, the server block's if not given"
    )
    success: Bound = option(
        Bound,
        default=Bound(capacity=10000),
        help="the positive replies kept, and bounds of their TTL; MINTTL is 5 if not given",
    )
    denial: Bound = option(Bound, default=Bound(capacity=10000), help="the same for denials")
    prefetch: Prefetch | None = option(
        Prefetch,
        help="a reply asked for AMOUNT times without a gap of DURATION (1m) is refreshed when PERCENTAGE of its TTL is "
        "left (10%)",
    )
    serve_stale: ServeStale | None = option(
        ServeStale, help="expired replies are served for DURATION, while they are refreshed or when that fails"
    )
    serve_stale_policy: NotServed | None = option(NotServed)
    servfail: float = option(
        duration(0, 300), default=5.0, help="how long SERVFAIL and NOTIMP are kept; 0 for not at all"
    )
    disabled: tuple[Disable, ...] = option(
        Disable, many=True, name="disable", help="replies of this kind for names in these zones are not kept"
    )
    keepttl: bool = flag(help="TTLs do not count down while a reply is kept")

    @property
    def success_bounds(self) -> tuple[int, int]:
        """The shortest and the longest TTL of a positive reply, in seconds."""
        return self._bounds(self.success, LONGEST_SUCCESS)

    @property
    def denial_bounds(self) -> tuple[int, int]:
        """The shortest and the longest TTL of a denial, in seconds."""
        return self._bounds(self.denial, LONGEST_DENIAL)

    def _bounds(self, bound: Bound, longest: int) -> tuple[int, int]:
        """Where they contradict each other the upper one is stronger."""
        most = bound.ttl or self.ttl or longest
        return min(SHORTEST if bound.minttl is None else bound.minttl, most), most

    def disabled_zones(self, kind: str) -> tuple[str, ...]:
        """The zones whose replies of this kind are not kept; the last line of its kind counts."""
        lines = [disable.zones for disable in self.disabled if disable.kind == kind]
        return lines[-1] if lines else ()

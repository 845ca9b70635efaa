"""Declarations as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pydns.corefile.describe import Row, rows
from pydns.corefile.options import Options, argument, flag, ignored, option
from pydns.corefile.types import choice, duration, integer, path, seconds, zones


@dataclass
class Bound(Options):
    capacity: int = argument(integer(1))
    ttl: int = argument(seconds(1), default=3600)


@dataclass
class Probe(Options):
    every: float = argument(duration(), default=0.5)
    n: int = argument(integer(1), default=3)


@dataclass
class CacheOptions(Options):
    ttl: int = argument(seconds(1), default=3600, help="upper bound")
    wait: float = argument(duration(), default=30.0)
    zones: tuple[str, ...] = argument(zones, many=True)
    files: tuple[str, ...] = option(path, many=True)
    success: Bound | None = option(Bound)
    probe: Probe = option(Probe, default=Probe())
    denial: Bound = option(Bound, default=Bound(capacity=9984))
    disable: tuple[Bound, ...] = option(Bound, many=True)
    servfail: float = option(duration(0, 300), default=5.0, help="how long")
    policy: str = option(choice("a", "b"), default="a")
    keepttl: bool = flag(help="keep them")
    upstream: None = ignored(help="of old")


@pytest.mark.parametrize(
    ("options", "table"),
    [
        (
            CacheOptions,
            [
                ("TTL", "", "3600", "upper bound"),
                ("WAIT", "", "30s", ""),
                ("ZONES", "", "", ""),
                ("files", "PATH...", "", ""),
                ("success", "CAPACITY [TTL]", "", ""),
                ("probe", "[EVERY] [N]", "0.5s 3", ""),
                ("denial", "CAPACITY [TTL]", "9984 3600", ""),
                ("disable", "CAPACITY [TTL]", "", ""),
                ("servfail", "DURATION", "5s", "how long"),
                ("policy", "a|b", "a", ""),
                ("keepttl", "", "", "keep them"),
                ("upstream", "", "", "of old (ignored)"),
            ],
        ),
        (Bound, [("CAPACITY", "", "required", ""), ("TTL", "", "3600", "")]),
        (Options, []),
    ],
)
def test_rows(options: type[Options], table: list[tuple[str, str, str, str]]) -> None:
    assert rows(options) == [Row(*row) for row in table]

"""What a *cache* line says."""

from __future__ import annotations

import pytest

from pydns.corefile.line import CorefileError
from pydns.plugins.cache.options import CacheOptions
from pydns.plugins.cache.store import DENIAL, SUCCESS
from tests.support import corefile_lines


def parse(block: str = "", head: str = "") -> CacheOptions:
    return CacheOptions.parse(corefile_lines(f"cache {head} {{\n{block}\n}}" if block else f"cache {head}")[0])


@pytest.mark.parametrize(
    ("head", "block", "success", "denial"),
    [
        ("", "", (3600, 5), (1800, 5)),
        ("30", "", (30, 5), (30, 5)),
        ("30", "success 5000", (30, 5), (30, 5)),
        ("30", "success 5000 60 10\ndenial 2000 20 0", (60, 10), (20, 0)),
        ("", "success 5000 60", (60, 5), (1800, 5)),
        ("", "denial 2000 20 40", (3600, 5), (20, 20)),
    ],
)
def test_bounds(head: str, block: str, success: tuple[int, int], denial: tuple[int, int]) -> None:
    """Highest and lowest; the highest is stronger."""
    conf = parse(block, head)
    assert conf.success_bounds[::-1] == success
    assert conf.denial_bounds[::-1] == denial


def test_capacities() -> None:
    conf = parse("success 1\nsuccess 5000")
    assert (conf.success.capacity, conf.denial.capacity) == (5000, 10000)


@pytest.mark.parametrize(
    ("head", "ttl", "zones"),
    [
        ("", None, ()),
        ("30", 30, ()),
        ("30 Example.org b.example", 30, ("example.org.", "b.example.")),
        ("example.org", None, ("example.org.",)),
        ("10.0.0.0/24", None, ("0.0.10.in-addr.arpa.",)),
    ],
)
def test_ttl_and_zones(head: str, ttl: int | None, zones: tuple[str, ...]) -> None:
    conf = parse(head=head)
    assert (conf.ttl, conf.zones) == (ttl, zones)


@pytest.mark.parametrize(
    ("block", "success", "denial"),
    [
        ("", (), ()),
        ("disable success", (".",), ()),
        ("disable denial cluster.local B.example", (), ("cluster.local.", "b.example.")),
        ("disable success a..b", (), ()),
        ("disable success a..b c.example", ("c.example.",), ()),
        ("disable success a.example\ndisable success b.example\ndisable denial", ("b.example.",), (".",)),
    ],
)
def test_disable(block: str, success: tuple[str, ...], denial: tuple[str, ...]) -> None:
    conf = parse(block)
    assert (conf.disabled_zones(SUCCESS), conf.disabled_zones(DENIAL)) == (success, denial)


@pytest.mark.parametrize(
    ("words", "expected"),
    [("5", (5, 60, 10)), ("5 10s", (5, 10, 10)), ("5 1m 25%", (5, 60, 25)), ("0", (0, 60, 10))],
)
def test_prefetch(words: str, expected: tuple[int, float, int]) -> None:
    prefetch = parse(f"prefetch {words}").prefetch
    assert prefetch is not None
    assert (prefetch.amount, prefetch.gap, prefetch.percent) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", (3600, False, 0, 0, 0)),
        ("30m", (1800, False, 0, 0, 0)),
        ("1h immediate", (3600, False, 0, 0, 0)),
        ("1h IMMEDIATE 30s", (3600, False, 0, 30, 0)),
        ("1h immediate 30s 10s", (3600, False, 0, 30, 10)),
        ("1h verify", (3600, True, 0, 0, 0)),
        ("1h verify 100ms", (3600, True, 0.1, 0, 0)),
        ("1h verify 100ms 30s 5m", (3600, True, 0.1, 30, 300)),
    ],
)
def test_serve_stale(words: str, expected: tuple[float, bool, float, int, float]) -> None:
    stale = parse(f"serve_stale {words}").serve_stale
    assert stale is not None
    assert (stale.up_to, stale.verify, stale.timeout, stale.ttl, stale.recheck) == expected


def test_the_rest() -> None:
    conf = parse("servfail 1m\nkeepttl")
    assert (conf.servfail, conf.keepttl) == (60, True)
    conf = parse()
    assert (conf.servfail, conf.keepttl, conf.serve_stale, conf.prefetch) == (5, False, None, None)


def test_words_that_coredns_swallows() -> None:
    line = corefile_lines("cache {\nsuccess 100 30 5 extra words\n}")[0]
    CacheOptions.parse(line)
    assert line.warnings == [
        "plugin/cache: Corefile:3 - Warning: 'extra words' is left out: usage: success CAPACITY [TTL [MINTTL]]"
    ]


@pytest.mark.parametrize(
    ("head", "block", "message"),
    [
        ("0", "", "ttl must be at least 1: 0"),
        ("-5", "", "ttl must be at least 1: -5"),
        ("", "success", "Wrong argument count or unexpected line ending after 'success'"),
        ("", "success many", "success capacity must be a whole number"),
        ("", "success 100 0", "success ttl must be at least 1: 0"),
        ("", "denial 100 30 -1", "denial minttl must be at least 0: -1"),
        ("", "prefetch", "Wrong argument count or unexpected line ending after 'prefetch'"),
        ("", "prefetch -1", "must be at least 0: -1"),
        ("", "prefetch 1 1m 5%", "percentage should fall in range [10, 90]: 5"),
        ("", "prefetch 1 1m 91%", "percentage should fall in range [10, 90]: 91"),
        ("", "prefetch 1 1m 20", "must end in %"),
        ("", "prefetch 1 1m 20% x", "Wrong argument count or unexpected line ending after 'x'"),
        ("", "serve_stale 1h later", "invalid value for serve_stale refresh mode: later"),
        ("", "serve_stale -1h", "serve_stale duration must be at least 0"),
        ("", "serve_stale 1h immediate 1500ms", "serve_stale response TTL must be a whole number of seconds"),
        ("", "serve_stale 1h verify 1s 1s 6m", "serve_stale failure recheck cannot exceed 5 minutes"),
        ("", "serve_stale 1h immediate 1s 1s 1s", "Wrong argument count or unexpected line ending after '1s'"),
        ("", "serve_stale_policy prefer_positive", "serve_stale_policy is not served by this version yet"),
        ("", "servfail 5m1s", "servfail must be in range [0, 300]: 301"),
        ("", "servfail 5", "missing unit in duration"),
        ("", "disable", "Wrong argument count or unexpected line ending after 'disable'"),
        ("", "disable all", "must be one of success, denial"),
        ("", "denial 100 x", "denial ttl must be a whole number"),
        ("", "denial 100 30 x", "denial minttl must be a whole number"),
        ("", "prefetch 1 20%", "prefetch DURATION must be a duration"),
        ("", "keepttl yes", "Wrong argument count or unexpected line ending after 'yes'"),
        ("", "expire 10s", "Wrong argument count or unexpected line ending after 'expire'"),
    ],
)
def test_errors(head: str, block: str, message: str) -> None:
    with pytest.raises(CorefileError, match=r"^plugin/cache: Corefile:[23] - Error during parsing: ") as raised:
        parse(block, head)
    assert message in str(raised.value)

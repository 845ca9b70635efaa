"""What a *forward* line says."""

from __future__ import annotations

from typing import Any

import pytest

from pydns.corefile.line import CorefileError
from pydns.plugins.forward.options import ForwardOptions
from tests.support import corefile_lines


def parse(block: str = "", head: str = ". 192.0.2.1") -> ForwardOptions:
    lines = corefile_lines(f"forward {head} {{\n{block}\n}}" if block else f"forward {head}")
    return ForwardOptions.parse(lines[0])


def test_defaults() -> None:
    conf = parse()
    assert (conf.zone, conf.excepted, conf.policy, conf.max_concurrent) == (".", (), "random", 0)
    assert (conf.expire, conf.max_age, conf.max_idle_conns, conf.read_timeout) == (10, 0, 0, 2)
    assert (conf.max_fails, conf.max_connect_attempts) == (2, None)
    assert (conf.health_check.interval, conf.health_check.recursive, conf.health_check.domain) == (0.5, True, ".")


@pytest.mark.parametrize(
    ("word", "zone"),
    [
        ("Example.ORG", "example.org."),
        ("example.org:5353", "example.org."),
        ("10.0.0.0/8", "10.in-addr.arpa."),
        ("10.0.0.0/15", "0.10.in-addr.arpa."),
    ],
)
def test_from(word: str, zone: str) -> None:
    assert parse(head=f"{word} 192.0.2.1").zone == zone


def test_a_cidr_of_several_zones_is_warned_about() -> None:
    line = corefile_lines("forward 10.0.0.0/15 192.0.2.1")[0]
    ForwardOptions.parse(line)
    assert line.warnings == [
        "plugin/forward: Corefile:2 - Warning: "
        "10.0.0.0/15 stands for several zones, only 0.10.in-addr.arpa. is forwarded"
    ]


@pytest.mark.parametrize(
    ("block", "field", "value"),
    [
        ("except A.example b.example\nexcept c.example", "excepted", ("a.example.", "b.example.", "c.example.")),
        ("force_tcp", "force_tcp", True),
        ("prefer_udp", "prefer_udp", True),
        ("expire 30s", "expire", 30),
        ("max_age 1m", "max_age", 60),
        ("max_idle_conns 3", "max_idle_conns", 3),
        ("max_fails 0", "max_fails", 0),
        ("max_connect_attempts 0", "max_connect_attempts", 0),
        ("policy round_robin", "policy", "round_robin"),
        ("policy sequential", "policy", "sequential"),
        ("max_concurrent 1000", "max_concurrent", 1000),
        ("next nxdomain SERVFAIL\nnext REFUSED", "next", (3, 2, 5)),
        ("next_on_nodata", "next_on_nodata", True),
        ("failover NOTIMPL SERVFAIL", "failover", (4, 2)),
        ("failfast_all_unhealthy_upstreams", "failfast_all_unhealthy_upstreams", True),
        ("read_timeout 500ms", "read_timeout", 0.5),
        ("max_fails 3 expire 20s", "expire", 20),
        ("policy sequential prefer_udp", "prefer_udp", True),
        ("next BADSIG", "next", (16,)),
    ],
)
def test_properties(block: str, field: str, value: Any) -> None:
    assert getattr(parse(block), field) == value


def test_source_address_and_resolver() -> None:
    conf = parse("source_address 127.0.0.2\nresolver 192.0.2.1 192.0.2.2:5353 2001:db8::1")
    assert str(conf.source_address) == "127.0.0.2"
    assert [str(resolver) for resolver in conf.resolver] == ["192.0.2.1:53", "192.0.2.2:5353", "[2001:db8::1]:53"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("5s", (5, True, ".")),
        ("1s no_rec", (1, False, ".")),
        ("1s domain Example.org", (1, True, "example.org.")),
        ("1s no_rec domain example.org", (1, False, "example.org.")),
        ("0", (0, True, ".")),
    ],
)
def test_health_check(words: str, expected: tuple[float, bool, str]) -> None:
    check = parse(f"health_check {words}").health_check
    assert (check.interval, check.recursive, check.domain) == expected


@pytest.mark.parametrize(
    ("head", "block", "message"),
    [
        ("", "", "Wrong argument count or unexpected line ending after 'forward'"),
        (".", "", "Wrong argument count or unexpected line ending after '.'"),
        ("a..b 192.0.2.1", "", "from must be a zone"),
        (". 192.0.2.1", "polcy random", "unknown property 'polcy' (did you mean 'policy'?)"),
        (". 192.0.2.1", "policy weighted", "policy must be one of random, round_robin, sequential"),
        (". 192.0.2.1", "max_fails -1", "max_fails must be in range [0, 4294967295]: -1"),
        (". 192.0.2.1", "max_fails +1", 'max_fails must be a whole number without a sign: "+1"'),
        (". 192.0.2.1", "max_fails 3 4", "unknown property '4'"),
        (". 192.0.2.1", "next BADVERS", "next must be the name of a DNS rcode"),
        (". 192.0.2.1", "max_concurrent -1", "max_concurrent must be at least 0: -1"),
        (". 192.0.2.1", "max_concurrent many", "max_concurrent must be a whole number"),
        (". 192.0.2.1", "expire 10", "expire must be a duration: time: missing unit in duration"),
        (". 192.0.2.1", "expire -1s", "expire must be at least 0: -1"),
        (". 192.0.2.1", "expire 30s\nmax_age 10s", "max_age (10s) must not be less than expire (30s)"),
        (". 192.0.2.1", "read_timeout 0s", "read_timeout must be positive: 0s"),
        (". 192.0.2.1", "failover NOERROR", "failover cannot be used with NOERROR"),
        (". 192.0.2.1", "next NOSUCH", "next must be the name of a DNS rcode"),
        (". 192.0.2.1", "except", "Wrong argument count or unexpected line ending after 'except'"),
        (". 192.0.2.1", "force_tcp yes", "Wrong argument count or unexpected line ending after 'yes'"),
        (". 192.0.2.1", "resolver dns.example", "resolver must be"),
        (". 192.0.2.1", "source_address here", "source_address must be an IP address"),
        (". 192.0.2.1", "health_check", "Wrong argument count or unexpected line ending after 'health_check'"),
        (". 192.0.2.1", "health_check -1s", "must be at least 0: -1"),
        (". 192.0.2.1", "health_check 1s always", "health_check: unknown option always"),
        (". 192.0.2.1", "health_check 1s domain", "Wrong argument count or unexpected line ending after 'domain'"),
        (". 192.0.2.1", "health_check 1s domain a..b", "health_check: invalid domain name a..b"),
        (". 192.0.2.1", "tls", "tls is not served by this version yet"),
        (". 192.0.2.1", "tls_servername dns.example", "tls_servername is not served by this version yet"),
        (". 192.0.2.1", "doh_method GET", "doh_method is not served by this version yet"),
    ],
)
def test_errors(head: str, block: str, message: str) -> None:
    with pytest.raises(CorefileError, match=r"^plugin/forward: Corefile:[234] - Error during parsing: ") as raised:
        parse(block, head)
    assert message in str(raised.value)


def test_errors_name_the_property_s_line() -> None:
    for block in ("failover NOERROR", "read_timeout 0s", "health_check 1s always", "tls"):
        with pytest.raises(CorefileError, match="Corefile:3 - "):
            parse(block)


def test_the_page_names_what_is_not_served() -> None:
    assert "    tls (not served by this version yet)" in ForwardOptions.syntax("forward").splitlines()

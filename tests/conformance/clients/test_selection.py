"""Which look-ups are made on the wire: every possible pair of values, and what they look like as files."""

from __future__ import annotations

import itertools

import pytest

from conformance.clients.model import Kind, ResolvConf, Want
from conformance.clients.probes import CONFIGURED, LISTED, listed, probe
from conformance.clients.selection import PARAMETERS, Row, complete, pairs, possible, rows
from conformance.clients.shapes import SHAPES, Domains, Place, Policy, Shape, Trouble
from conformance.clients.toolbox import RESOLVERS
from conformance.clients.walks import MODELS

WELL = Trouble()


def shape(name: str) -> Shape:
    return next(each for each in SHAPES if each.name == name)


def test_every_possible_pair_of_values_is_there() -> None:
    covered = {
        frozenset(pair)
        for row in rows()
        for pair in itertools.combinations(((name, getattr(row, name)) for name in PARAMETERS), 2)
    }
    assert [dict(pair) for pair in pairs() if pair not in covered and complete(dict(pair))] == []


def test_every_row_is_possible_and_none_is_there_twice() -> None:
    assert [row for row in rows() if not possible({name: getattr(row, name) for name in PARAMETERS})] == []
    assert len(set(rows())) == len(rows())


def test_the_choice_is_the_same_each_time() -> None:
    assert rows.__wrapped__() == rows()


def test_every_value_is_met() -> None:
    for name, values in PARAMETERS.items():
        assert {getattr(row, name) for row in rows()} == set(values), name


@pytest.mark.parametrize(
    ("dots", "absolute"), [*((dots, False) for dots in range(7)), *((dots, True) for dots in (0, 1, 2, 3, 4, 6))]
)
def test_shapes_of_every_number_of_dots(dots: int, absolute: bool) -> None:
    assert [each.name for each in SHAPES if (each.dots, each.absolute) == (dots, absolute)]


@pytest.mark.parametrize(
    "values",
    [
        {"resolver": "dig", "want": Want.BOTH},
        {"resolver": "musl-1.2.5", "want": Want.SRV},
        {"ndots": "unset", "policy": Policy.CLUSTER_FIRST},
        {"domains": Domains(1), "policy": Policy.WITH_HOST_NET},
        {"domains": Domains(3), "policy": Policy.CLUSTER_FIRST, "trouble": Trouble(Kind.NODATA, Place.LAST)},
        {"policy": Policy.CLUSTER_FIRST, "trouble": Trouble(Kind.NODATA, Place.FIRST)},
        {"shape": shape("web."), "trouble": Trouble(Kind.NODATA, Place.FIRST)},
        {"shape": shape("web"), "trouble": Trouble(Kind.NODATA, Place.LAST)},
        {"shape": shape("web"), "trouble": Trouble(Kind.NODATA, Place.NAME)},
        {"domains": Domains(4), "trouble": Trouble(Kind.TIMEOUT, Place.WHOLE)},
        {"shape": shape("crowd"), "want": Want.SRV},
    ],
)
def test_what_cannot_be(values: dict[str, object]) -> None:
    assert complete(values) is None


def row(name: str, domains: Domains, trouble: Trouble, policy: Policy, ndots: str = "5") -> Row:
    return Row("glibc", shape(name), Want.BOTH, ndots, domains, trouble, policy)


CLUSTER = "shop.svc.cluster.local svc.cluster.local cluster.local"


@pytest.mark.parametrize(
    ("made", "name", "search"),
    [
        (row("web", Domains(3), WELL, Policy.CLUSTER_FIRST), "web", CLUSTER),
        (row("web", Domains(1), WELL, Policy.DEFAULT), "web", "shop.svc.cluster.local"),
        (row("web", Domains(6), WELL, Policy.NONE), "web", f"{CLUSTER} a.z b.z c.z"),
        (
            row("web", Domains(4), Trouble(Kind.SERVFAIL, Place.FIRST), Policy.NONE),
            "web",
            f"x.servfail.test {CLUSTER}",
        ),
        (
            row("web", Domains(6), Trouble(Kind.SERVFAIL, Place.MIDDLE), Policy.DEFAULT),
            "web",
            f"a.z x.servfail.test {CLUSTER} b.z",
        ),
        (
            row("nosuch", Domains(6), Trouble(Kind.NODATA, Place.MIDDLE), Policy.WITH_HOST_NET),
            "nosuch",
            f"{CLUSTER} x.nodata.test x.ok.test a.z",
        ),
        (
            row("nosuch", Domains(6), Trouble(Kind.REFUSED, Place.LAST), Policy.CLUSTER_FIRST),
            "nosuch",
            f"{CLUSTER} a.z b.z x.refused.test",
        ),
        (
            row("www.{}.test", Domains(3), Trouble(Kind.TRUNCATED, Place.NAME), Policy.NONE),
            "www.x.truncated.test",
            CLUSTER,
        ),
        (row("www.{}.test", Domains(3), Trouble(Kind.REFUSED, Place.WHOLE), Policy.NONE), "www.x.ok.test", CLUSTER),
    ],
)
def test_the_name_and_the_search_list(made: Row, name: str, search: str) -> None:
    found = probe(made, "x")
    assert (found.lookup.name, " ".join(found.conf.search)) == (name, search)


@pytest.mark.parametrize(
    ("policy", "ndots", "nameserver", "options"),
    [
        (Policy.CLUSTER_FIRST, "5", "10.96.0.10", "ndots:5 timeout:1 attempts:2"),
        (Policy.WITH_HOST_NET, "2", "10.96.0.10", "ndots:2 timeout:1 attempts:2"),
        (Policy.DEFAULT, "unset", "192.0.2.53", "timeout:1 attempts:2"),
        (Policy.NONE, "0", "10.96.0.10", "ndots:0 timeout:1 attempts:2"),
    ],
)
def test_the_rest_of_the_file(policy: Policy, ndots: str, nameserver: str, options: str) -> None:
    conf = probe(row("web", Domains(3), WELL, policy, ndots), "x").conf
    assert (conf.nameservers, " ".join(conf.options)) == ((nameserver,), options)


@pytest.mark.parametrize(
    ("domains", "least", "most"),
    [(Domains(32), 32, 255), (Domains(9, wide=True), 256, 511), (Domains(14, wide=True), 512, 2048)],
)
@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("kind", [Kind.ANSWER, Kind.TRUNCATED])
def test_the_length_of_search_lines(domains: Domains, least: int, most: int, policy: Policy, kind: Kind) -> None:
    """musl leaves out a line of 256 octets, c-ares one of 512: 32 domains are less, the wide ones more."""
    trouble = Trouble(kind, Place.LAST) if kind != Kind.ANSWER else WELL
    found = probe(row("nosuch", domains, trouble, policy), "node-resolve99").conf
    assert len(found.search) == domains.count
    assert least <= len(f"search {' '.join(found.search)}\n") <= most


def test_resolvers_have_a_program_and_a_model_each() -> None:
    assert list(RESOLVERS) == list(MODELS)


def test_every_listed_check_is_run_by_every_resolver_that_can() -> None:
    assert {tag for each in LISTED for tag in each.tags} == {"K1", "K3", "K6", "K10", "K11", "K12", "K13", "K15", "K31"}
    assert [each for each in listed("dig") if each.want == Want.BOTH] == []
    assert len(listed("dig")) == len(LISTED)
    assert len(listed("glibc")) == len(LISTED) + len(CONFIGURED)
    assert [each for each in listed("java") if each.want == Want.SRV] == []


def test_options_and_further_name_servers_are_those_of_the_dns_config() -> None:
    texts = {str(each): each.probe("x").conf for each in CONFIGURED}
    conf = texts["web both, ndots 5, ClusterFirst, 192.0.2.53 rotate"]
    assert conf.nameservers == ("10.96.0.10", "192.0.2.53")
    assert conf.options == ("ndots:5", "timeout:1", "attempts:2", "rotate")
    assert len(texts) == len(CONFIGURED)


@pytest.mark.parametrize(
    ("resolver", "options", "manner"),
    [
        ("glibc", ("ndots:5",), "+rd"),
        ("glibc", ("trust-ad", "edns0"), "+rd +ad +edns=1200"),
        ("python", ("edns0", "rotate"), "+rd +edns=1200"),
        ("musl-1.2.5", ("trust-ad", "edns0"), "+rd"),
    ],
)
def test_what_options_add_to_a_question(resolver: str, options: tuple[str, ...], manner: str) -> None:
    assert RESOLVERS[resolver].manners_with(ResolvConf(("10.96.0.10",), (), options)) == (manner,)

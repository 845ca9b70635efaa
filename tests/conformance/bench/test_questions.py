"""Questions and the cluster that they are about."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest

from conformance.bench import objects, questions
from conformance.bench.questions import Asked


def test_nine_hundred_names() -> None:
    asked = questions.cluster_ips(1000)
    assert len({one.name for one in asked}) == 900
    assert {(one.qtype, one.answers) for one in asked} == {("A", 1), ("AAAA", 0)}


def test_names_are_spread_over_a_large_cluster() -> None:
    numbers = [int(one.name.split(".")[0].removeprefix("svc-")) for one in questions.cluster_ips(50_000)]
    assert len(set(numbers)) == 900
    assert max(numbers) > 49_000


def test_headless_names_have_all_endpoints() -> None:
    assert questions.headless(1000)[1] == Asked("svc-10.ns-10.svc.cluster.local.", "A", answers=10)


def test_the_mix() -> None:
    asked = questions.mix(1000)
    headless = {one.name for one in questions.headless(1000)}
    counts = {
        "PTR": sum(one.qtype == "PTR" for one in asked),
        "search expansion": sum(one.rcode == "NXDOMAIN" for one in asked),
        "headless A and SRV": sum(one.name in headless for one in asked),
    }
    for part, count in counts.items():
        assert count / len(asked) == pytest.approx(questions.MIX[part] / 100, abs=0.01)
    assert questions.mix(1000) == asked, "the same in every run"


def test_the_mix_of_a_small_cluster_asks_for_what_there_is() -> None:
    names = {one.name for one in questions.mix(100) if one.rcode == "NOERROR" and one.qtype == "A"}
    assert names <= {f"svc-{number}.{objects.namespace_of(number)}.svc.cluster.local." for number in range(100)}


@pytest.mark.parametrize("ask", [questions.new_misses, questions.forwarded_new])
def test_new_names_are_new_in_every_round(ask: questions.Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "NEW_NAMES", 3000)
    rounds = [{one.name for one in ask(1000, turn)} for turn in (0, 1, 11)]
    assert [len(names) for names in rounds] == [questions.NEW_NAMES] * 3
    assert not rounds[0] & rounds[1] and not rounds[1] & rounds[2] and not rounds[0] & rounds[2]


def test_rcodes_and_lines() -> None:
    asked = [Asked("a.", "A"), Asked("b.", "AAAA", "NXDOMAIN", 0), Asked("c.", "A"), Asked("d.", "A")]
    assert questions.rcodes(asked, 9) == {"NOERROR": 7, "NXDOMAIN": 2}
    assert questions.rcodes(asked, 2) == {"NOERROR": 1, "NXDOMAIN": 1}
    assert questions.lines(asked[:2]) == "a. A\nb. AAAA\n"


def test_synced_looks_at_the_last_of_the_cluster() -> None:
    assert [one.name.split(".")[0] for one in questions.synced(1000)] == ["kubernetes", "svc-990", "svc-999"]
    assert [one.name.split(".")[0] for one in questions.synced(0)] == ["kubernetes"]


def test_addresses_are_each_their_own() -> None:
    services = [objects.cluster_ip(number) for number in range(50_000) if not objects.is_headless(number)]
    endpoints = [address for number in range(0, 50_000, 7) for address in objects.addresses(number)]
    assert len({*services, *endpoints}) == len(services) + len(endpoints)
    assert all(IPv4Address(address) in IPv4Network("10.96.0.0/12") for address in services[::500])


def test_a_changed_slice_has_another_first_address_each_time() -> None:
    turns = [objects.addresses(40, turn) for turn in range(4)]
    assert len({tuple(addresses) for addresses in turns}) == 4
    assert {tuple(addresses[1:]) for addresses in turns} == {tuple(turns[0][1:])}
    listed = objects.endpoint_slice(40, 2)["endpoints"]
    assert [one["addresses"][0] for one in listed] == turns[2]
    assert listed[0]["hostname"] == "svc-40-0"

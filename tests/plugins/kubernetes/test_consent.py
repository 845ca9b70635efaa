"""Tags and consents; a change must touch all that it may have changed, and of one Service no more than that."""

import pytest

from pydns.dns.replay import FOREVER, Lease, Replay
from pydns.k8s.objects import Endpoint, Namespace, Object, Pod
from pydns.k8s.store import Change, Store
from pydns.plugins.kubernetes.consent import Tag, Tags, consent, joined
from tests.plugins.kubernetes.cluster import cluster_ip, endpoints

TAGS = Tags()
WEB = TAGS.service("shop", "web")
PODS = TAGS.endpoints("shop", "web")
"""The slices of the same Service."""


def at(*addresses: str) -> list[Tag]:
    return [TAGS.address(address) for address in addresses]


def changes(before: list[Object], after: Object) -> list[Change]:
    """What a store that has ``before`` tells when ``after`` comes."""
    store = Store()
    for item in before:
        store.put(item)
    told: list[Change] = []
    store.on_change(told.append)
    store.put(after)
    return told


A, B, C = (Endpoint(f"10.0.0.{number}") for number in (1, 2, 3))
NAMED = Endpoint(A.address, hostname="a")


@pytest.mark.parametrize(
    "before, after, tags",
    [
        ([], Namespace("shop"), [TAGS.namespace("shop")]),
        ([], cluster_ip("web", "10.96.0.1", "fd00::1"), [WEB, *at("10.96.0.1", "fd00::1")]),
        ([cluster_ip("web", "10.96.0.1")], cluster_ip("web", "10.96.0.2"), [WEB, *at("10.96.0.1", "10.96.0.2")]),
        ([cluster_ip("web", "10.96.0.1")], cluster_ip("web", "10.96.0.1", ports=()), [WEB]),
        ([], endpoints("web", A, B), [PODS, *at("10.0.0.1", "10.0.0.2")]),
        ([endpoints("web", A, B)], endpoints("web", B, C), [PODS, *at("10.0.0.1", "10.0.0.3")]),
        ([endpoints("web", A)], endpoints("web", NAMED), [PODS, *at("10.0.0.1")]),
        ([endpoints("web", A, B)], endpoints("web", A, B, ports=()), [PODS]),
        ([endpoints("web", A, B, C)], endpoints("web", A, C), [PODS, *at("10.0.0.2")]),
        ([endpoints("web", A, C)], endpoints("web", A, B, C), [PODS, *at("10.0.0.2")]),
        ([endpoints("web", A, A, B)], endpoints("web", A, B), [PODS, *at("10.0.0.1")]),
        ([endpoints("web", A, B, C)], endpoints("web", C, B, A), [PODS]),
        ([endpoints("web", A, NAMED, B)], endpoints("web", NAMED, A, B), [PODS, *at("10.0.0.1")]),
        ([], Pod("shop", "p", "10.0.0.9"), [TAGS.pod("10.0.0.9")]),
        ([Pod("shop", "p", "10.0.0.9")], Pod("shop", "p", "10.0.0.8"), [TAGS.pod("10.0.0.9"), TAGS.pod("10.0.0.8")]),
    ],
)
def test_what_a_change_touches(before: list[Object], after: Object, tags: list[Tag]) -> None:
    (change,) = changes(before, after)
    assert set(TAGS.of(change)) == set(tags)


def test_a_slice_that_moves_touches_both_services() -> None:
    moved = endpoints("web", A)
    told = changes([moved], moved.__class__("shop", moved.name, "api", "IPv4", (A,), ()))
    touched = {tag for change in told for tag in TAGS.of(change)}
    assert touched == {PODS, TAGS.endpoints("shop", "api"), *at("10.0.0.1")}


def test_plugins_do_not_share_tags() -> None:
    assert Tags().service("shop", "web") != WEB


def test_a_joined_consent_is_the_narrower_of_both() -> None:
    def count(times: int) -> None: ...

    first = Replay(10.0, (WEB,), 1, (count,))
    second = Replay(7.0, (WEB, TAGS.namespace("shop")), 3)
    assert joined(first, second) == Replay(7.0, (WEB, TAGS.namespace("shop")), 3, (count,))
    assert joined(None, second) is joined(first, None) is None
    assert joined(consent(), consent(WEB)) == consent(WEB)


@pytest.mark.parametrize("first, second", [(True, False), (False, True)])
def test_a_joined_consent_is_for_any_order_as_either(first: bool, second: bool) -> None:
    replay = joined(consent()._replace(any_order=first), consent()._replace(any_order=second))
    assert replay is not None
    assert replay.any_order


ONE, OTHER = Lease(), Lease()


@pytest.mark.parametrize(
    "first, second, both",
    [(FOREVER, ONE, ONE), (ONE, FOREVER, ONE), (ONE, ONE, ONE), (FOREVER, FOREVER, FOREVER), (ONE, OTHER, None)],
)
def test_a_joined_consent_has_the_lease_of_either(first: Lease, second: Lease, both: Lease | None) -> None:
    replay = joined(consent().with_lease(first), consent(WEB).with_lease(second))
    assert (replay and replay.lease) is both

"""What a feeder tells, taken by a source elsewhere: the same objects, in whole steps."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.k8s.feed import OBJECTS_A_PIECE, FedSource, Feeder
from pydns.k8s.objects import Endpoint, EndpointSlice, Kind, Namespace, Object, Pod, Port, Service
from pydns.k8s.source import Interest
from pydns.k8s.store import Change, Store, key_of
from tests.plugins.kubernetes.cluster import OBJECTS, FixedSource
from tests.support import settle

WEB = Service("shop", "web", "ClusterIP", ("10.96.1.1",), ports=(Port("http", 80, "TCP"),), external_ips=("192.0.2.1",))
BEHIND = EndpointSlice(
    "shop", "web-1", "web", "IPv4", (Endpoint("10.0.0.1", "a", "pod-a", "zone-a"),), (Port("http", 80, "TCP"),)
)
EVERYTHING = Interest(pods=True)


def fed(pieces: Iterable[bytes]) -> FedSource:
    source = FedSource(EVERYTHING)
    for piece in pieces:
        source.take(piece)
    return source


def state(store: Store) -> object:
    return {key_of(item): item for item in store.objects()}, store.modified, store.external_modified, store.synced


@pytest.mark.parametrize("objects", [(), (WEB, BEHIND, Namespace("shop"), Pod("shop", "p", "10.0.0.9")), OBJECTS])
def test_a_snapshot_is_the_same_elsewhere(objects: tuple[Object, ...]) -> None:
    source = FixedSource(objects)
    source.store.external_modified = 1600000000
    assert state(fed(Feeder(source).snapshot()).store) == state(source.store)


def test_a_snapshot_is_of_one_moment_and_in_pieces() -> None:
    pods = [Pod("shop", f"p{number}", f"10.0.0.{number}") for number in range(2 * OBJECTS_A_PIECE + 1)]
    source = FixedSource(pods)
    pieces = Feeder(source).snapshot()
    source.store.remove(Kind.POD, ("shop", "p0"))
    taken = list(pieces)
    assert len(taken) == 4
    assert list(fed(taken).store.pods()) == pods


def test_what_is_not_synced_here_is_not_there() -> None:
    assert not fed(Feeder(FixedSource(OBJECTS, synced_after=-1)).snapshot()).store.synced


async def test_changes_of_one_iteration_are_one_piece() -> None:
    source = FixedSource([WEB, BEHIND])
    feeder = Feeder(source)
    there = fed(feeder.snapshot())
    pieces: list[bytes] = []
    feeder.follow(pieces.append)
    source.store.remove(Kind.SLICE, ("shop", "web-1"))
    source.store.put(Namespace("shop"))
    source.store.remove(Kind.SERVICE, ("shop", "web"))
    source.store.put(WEB)
    assert pieces == []
    await settle()
    (piece,) = pieces
    changes: list[Change] = []
    there.store.on_change(changes.append)
    there.take(piece)
    assert state(there.store) == state(source.store)
    assert [change.kind for change in changes] == [Kind.NAMESPACE, Kind.SLICE]
    await feeder.stop()


async def test_a_slice_that_moves_is_never_away() -> None:
    source = FixedSource([WEB, BEHIND])
    feeder = Feeder(source)
    there = fed(feeder.snapshot())
    feeder.follow(there.take)
    source.store.put(EndpointSlice("shop", "web-1", "api", "IPv4", BEHIND.endpoints, BEHIND.ports))
    await settle()
    assert there.store.slices("shop", "web") == ()
    assert [found.name for found in there.store.slices("shop", "api")] == ["web-1"]
    await feeder.stop()


async def test_it_is_told_when_all_kinds_are_listed() -> None:
    source = FixedSource(OBJECTS, synced_after=2)
    feeder = Feeder(source)
    there = fed(feeder.snapshot())
    feeder.follow(there.take)
    await settle()
    assert (source.store.synced, there.store.synced) == (True, True)
    await feeder.stop()


async def test_after_the_stop_nothing_is_told() -> None:
    source = FixedSource([WEB])
    feeder = Feeder(source)
    pieces: list[bytes] = []
    feeder.follow(pieces.append)
    source.store.put(Namespace("shop"))
    await feeder.stop()
    source.store.remove(Kind.SERVICE, ("shop", "web"))
    await settle()
    assert pieces == []


def test_whoever_is_fed_waits_for_nothing() -> None:
    assert (FedSource(Interest(pods=True)).store.synced, FedSource(Interest(endpoints=False)).store.synced) == (
        False,
        False,
    )


names = st.sampled_from(["a", "b", "c"])
objects = st.one_of(
    st.builds(Namespace, names),
    st.builds(Pod, names, names, names),
    st.builds(lambda namespace, name, ip: Service(namespace, name, "ClusterIP", (ip,)), names, names, names),
    st.builds(lambda name, of, ip: EndpointSlice("a", name, of, "IPv4", (Endpoint(ip),), ()), names, names, names),
)
removals = st.tuples(st.sampled_from(Kind), st.tuples(names, names))


@given(st.lists(st.lists(st.one_of(objects, removals), max_size=6), max_size=6), st.integers(0, 6))
async def test_whatever_changes_both_end_up_with_the_same(steps: list[list[object]], joined: int) -> None:
    """A source that joins between any two steps has what the others have."""
    source = FixedSource()
    feeder = Feeder(source)
    others = [fed(feeder.snapshot())]

    def tell(piece: bytes) -> None:
        for other in others:
            other.take(piece)

    feeder.follow(tell)
    for number, step in enumerate(steps):
        for each in step:
            if isinstance(each, tuple):
                source.store.remove(*each)
            else:
                source.store.put(each)  # type: ignore[arg-type]
        if number == joined:
            others.append(fed(feeder.snapshot()))
        await settle()
    assert all(state(other.store) == state(source.store) for other in others)
    await feeder.stop()

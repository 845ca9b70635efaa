"""The store, its indexes, and what is told of a change."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.k8s.objects import KINDS, Endpoint, EndpointSlice, Kind, Namespace, Object, Pod, Port, Service
from pydns.k8s.store import Change, Key, Store, key_of
from tests.support import Clock

HTTP = Port("http", 80, "TCP")


def service(name: str = "web", *ips: str, external_name: str = "", ports: tuple[Port, ...] = (HTTP,)) -> Service:
    return Service("shop", name, "ClusterIP", ips or ("10.96.1.1",), external_name, ports)


def slice_of(
    service_name: str, name: str, *addresses: str, hostname: str = "", ports: tuple[Port, ...] = (HTTP,), time: str = ""
) -> EndpointSlice:
    endpoints = tuple(Endpoint(address, hostname) for address in addresses)
    return EndpointSlice("shop", name, service_name, "IPv4", endpoints, ports, time)


def pod(name: str, ip: str, *, terminating: bool = False) -> Pod:
    return Pod("shop", name, ip, (), terminating)


def filled(*items: Object, clock: Clock | None = None) -> Store:
    store = Store(clock=clock or Clock(1000.0))
    for item in items:
        store.put(item)
    return store


def test_services_by_name_and_address() -> None:
    web, dual = service(), service("dual", "10.96.1.2", "fd00:10:96::2")
    store = filled(web, dual)
    assert store.service("shop", "web") == web
    assert store.service("other", "web") is None
    assert store.services_by_ip("fd00:10:96::2") == (dual,)
    assert store.services_by_ip("10.96.1.3") == ()
    assert list(store.services()) == [web, dual]


def test_slices_of_a_service_keep_the_order_of_their_names() -> None:
    first, second, third = slice_of("web", "web-a", "10.0.0.1"), slice_of("web", "web-b"), slice_of("web", "web-c")
    assert filled(third, first, second).slices("shop", "web") == (first, second, third)
    assert filled(third, first, second).slices("shop", "other") == ()


def test_endpoints_by_address_come_with_their_slice() -> None:
    web, api = slice_of("web", "web-a", "10.0.0.1", "10.0.0.2"), slice_of("api", "api-a", "10.0.0.2")
    assert filled(web, api).endpoints_by_ip("10.0.0.2") == ((api, api.endpoints[0]), (web, web.endpoints[1]))


def test_address_listed_twice_in_a_slice_is_found_twice_and_removed_whole() -> None:
    twice = slice_of("web", "web-a", "10.0.0.1", "10.0.0.1")
    store = filled(twice)
    assert len(store.endpoints_by_ip("10.0.0.1")) == 2
    store.remove(Kind.SLICE, key_of(twice))
    assert store.endpoints_by_ip("10.0.0.1") == ()


def test_what_is_no_address_and_no_service_is_not_looked_up() -> None:
    new, headless, lone = pod("new", ""), service("db", "None"), slice_of("", "lone", "10.0.0.1")
    store = filled(new, headless, lone)
    assert [*store.pods_by_ip(""), *store.services_by_ip("None"), *store.slices("shop", "")] == []
    assert len(store.endpoints_by_ip("10.0.0.1")) == 1


@pytest.mark.parametrize("address", ["None", "10.96.0.1"], ids=["headless Services", "Services that share an address"])
def test_work_grows_with_the_number_of_objects(address: str) -> None:
    services = [service(f"s-{number}", address) for number in range(1000)]
    few, many = (calls(lambda: filled(*services[:500])), calls(lambda: filled(*services)))
    assert many < 2.5 * few


def calls(work: Callable[[], object]) -> int:
    """Python functions that `work` calls."""
    count = 0

    def note(frame: object, happening: str, argument: object) -> None:
        nonlocal count
        count += happening == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_namespaces_and_pods() -> None:
    store = filled(Namespace("shop"), pod("a", "10.0.0.1"), pod("b", "10.0.0.1"))
    assert store.namespace_exists("shop")
    assert not store.namespace_exists("other")
    assert [one.name for one in store.pods_by_ip("10.0.0.1")] == ["a", "b"]
    assert [one.name for one in store.namespaces()] == ["shop"]
    assert len(list(store.pods())) == 2


def test_an_object_just_like_it_is_shared() -> None:
    known = slice_of("web", "web-a", "10.0.0.1", time="1")
    store = filled(known)
    assert store.shared(slice_of("web", "web-a", "10.0.0.1", time="1")) is known
    for other in (slice_of("web", "web-a", "10.0.0.1", time="2"), slice_of("web", "web-b", "10.0.0.1", time="1")):
        assert store.shared(other) is other


def test_terminating_pod_stays_as_it_was_until_deleted() -> None:
    store = filled(pod("a", "10.0.0.1"), pod("new", "10.0.0.9", terminating=True))
    store.put(pod("a", "", terminating=True))
    assert store.pods_by_ip("10.0.0.1") == (pod("a", "10.0.0.1"),)
    assert store.pods_by_ip("10.0.0.9") == ()
    store.replace(Kind.POD, {("shop", "a"): pod("a", "", terminating=True)})
    assert store.pods_by_ip("10.0.0.1") == (pod("a", "10.0.0.1"),)
    store.remove(Kind.POD, ("shop", "a"))
    assert store.pods_by_ip("10.0.0.1") == ()


def test_synced_once_every_watched_kind_was_listed() -> None:
    store = Store([Kind.NAMESPACE, Kind.SERVICE])
    store.replace(Kind.SERVICE, {})
    assert not store.synced
    store.replace(Kind.NAMESPACE, {})
    assert store.synced


def test_replace_never_denies_a_name_that_stays() -> None:
    """At each single change of a relist, the objects that are in both lists are all there."""
    store = filled(service("kept", "10.96.0.2"), service("gone", "10.96.0.3"))
    new = service("kept", "10.96.0.4"), service("new", "10.96.0.3")
    kept: list[Service | None] = []
    store.on_change(lambda change: kept.append(store.service("shop", "kept")))
    store.replace(Kind.SERVICE, {key_of(item): item for item in new})
    assert kept == [new[0]] * 3
    assert list(store.services()) == [*new]
    assert store.services_by_ip("10.96.0.3") == (new[1],)


def test_changes_are_told_after_they_are_applied() -> None:
    store, old, new = Store(), service("web", "10.96.0.2"), service("web", "10.96.0.3")
    told: list[Change] = []
    there: list[Service | None] = []
    store.on_change(told.append)
    store.on_change(lambda change: there.append(store.service(change.namespace, change.name)))
    store.put(old)
    store.put(new)
    store.put(new)
    store.remove(Kind.SERVICE, ("shop", "web"))
    store.remove(Kind.SERVICE, ("shop", "web"))
    assert told == [
        Change(Kind.SERVICE, "shop", "web", None, old),
        Change(Kind.SERVICE, "shop", "web", old, new),
        Change(Kind.SERVICE, "shop", "web", new, None),
    ]
    assert there == [old, new, None]


def test_everybody_is_told_whoever_fails(log_lines: list[str]) -> None:
    """A second list would not do it: by then nothing differs."""
    web, moved = slice_of("web", "web-a", "10.0.0.1"), slice_of("api", "web-a", "10.0.0.1")
    store = filled(web)
    told: list[tuple[str, Change]] = []

    def failing(change: Change) -> None:
        told.append(("failing", change))
        raise ZeroDivisionError("no luck")

    store.on_change(failing)
    store.on_change(lambda change: told.append(("other", change)))
    for _ in range(2):
        store.replace(Kind.SLICE, {key_of(moved): moved})
    changes = Change(Kind.SLICE, "shop", "web", web, None), Change(Kind.SLICE, "shop", "api", None, moved)
    assert told == [(name, change) for change in changes for name in ("failing", "other")]
    assert len(log_lines) == len(changes)
    for line in log_lines:
        first, *stack = line.splitlines()
        assert first.startswith("[ERROR] ") and first.endswith(
            "failing failed at what others were told: ZeroDivisionError: no luck"
        )
        assert stack[-1] == "ZeroDivisionError: no luck"


def test_slice_changes_name_the_service() -> None:
    one, two = slice_of("web", "web-a", "10.0.0.1"), slice_of("web", "web-a", "10.0.0.2")
    moved = slice_of("api", "web-a", "10.0.0.1")
    store = filled(one)
    told: list[Change] = []
    store.on_change(told.append)
    store.put(slice_of("web", "web-a", "10.0.0.1", time="2026-01-01T00:00:00Z"))
    assert told == []
    store.put(two)
    assert told == [Change(Kind.SLICE, "shop", "web", one, two)]
    store.put(moved)
    assert told[1:] == [Change(Kind.SLICE, "shop", "web", two, None), Change(Kind.SLICE, "shop", "api", None, moved)]


ONE = slice_of("web", "web-a", "10.0.0.1")


@pytest.mark.parametrize(
    ("old", "new", "modified"),
    [
        (None, service(), True),
        (service(), None, True),
        (None, ONE, True),
        (ONE, None, True),
        (None, pod("a", "10.0.0.1"), True),
        (pod("a", "10.0.0.1"), None, True),
        (None, Namespace("shop"), False),
        (Namespace("shop"), None, False),
        (service(), service("web", "10.96.7.7"), False),
        (service(), service(external_name="example.com"), True),
        (service(), service(ports=(Port("http", 81, "TCP"),)), True),
        (ONE, slice_of("web", "web-a", "10.0.0.2"), True),
        (ONE, slice_of("web", "web-a", "10.0.0.1", hostname="a"), True),
        (ONE, slice_of("web", "web-a", "10.0.0.1", ports=()), True),
        (ONE, slice_of("web", "web-a", "10.0.0.1", time="2026-01-01T00:00:00Z"), False),
        (pod("a", "10.0.0.1"), pod("a", "10.0.0.2"), True),
        (pod("a", "10.0.0.1"), Pod("shop", "a", "10.0.0.1", (("app", "web"),)), False),
    ],
)
def test_modified_moves_as_in_coredns(old: Object | None, new: Object | None, modified: bool) -> None:
    clock = Clock(1000.9)
    store = filled(*([old] if old else []), clock=clock)
    before = store.modified
    clock.now = 2000.9
    if new:
        store.put(new)
    elif old:
        store.remove(KINDS[type(old)], key_of(old))
    assert store.modified == (2000 if modified else before)


@pytest.mark.parametrize(
    ("new", "external", "cluster"),
    [
        (Service("shop", "web", "ClusterIP", ("10.96.1.1",), "", (HTTP,), ("192.0.2.1",)), 2000, 1000),
        (service(ports=(Port("http", 81, "TCP"),)), 2000, 2000),
        (service(external_name="example.com"), 0, 2000),
    ],
)
def test_external_clock_moves_on_updates_alone(new: Service, external: int, cluster: int) -> None:
    clock = Clock(1000.0)
    store = filled(service(), clock=clock)
    assert store.external_modified == 0
    clock.now = 2000.0
    store.put(new)
    assert (store.external_modified, store.modified) == (external, cluster)


NAMES = st.sampled_from(["a", "b", "c"])
IPS = st.sampled_from(["10.0.0.1", "10.0.0.2", "10.0.0.3", "fd00::1"])
OBJECTS: st.SearchStrategy[Object] = st.one_of(
    st.builds(Namespace, NAMES),
    st.builds(Pod, NAMES, NAMES, IPS, terminating=st.booleans()),
    st.builds(Service, NAMES, NAMES, st.just("ClusterIP"), st.lists(IPS, min_size=1, max_size=2).map(tuple)),
    st.builds(
        EndpointSlice,
        *(NAMES, NAMES, NAMES, st.just("IPv4")),
        st.lists(st.builds(Endpoint, IPS), max_size=3).map(tuple),
        st.just((HTTP,)),
    ),
)
STEPS = st.one_of(
    OBJECTS.map(lambda item: ("put", item)),
    OBJECTS.map(lambda item: ("remove", item)),
    st.lists(OBJECTS, max_size=6).map(lambda items: ("relist", items)),
)


def apply_to_model(model: dict[Kind, dict[Key, Object]], step: str, item: Object) -> None:
    objects = model[KINDS[type(item)]]
    if step == "remove":
        objects.pop(key_of(item), None)
    elif not (isinstance(item, Pod) and item.terminating):
        objects[key_of(item)] = item


def relist(store: Store, model: dict[Kind, dict[Key, Object]], items: list[Object]) -> None:
    for kind in Kind:
        listed = {key_of(item): item for item in items if KINDS[type(item)] is kind}
        store.replace(kind, listed)
        model[kind] = {key: item for key, item in model[kind].items() if key in listed}
        for item in listed.values():
            apply_to_model(model, "put", item)


@given(st.lists(STEPS, max_size=12))
def test_any_sequence_of_changes_leaves_what_a_fresh_store_would_hold(
    steps: list[tuple[str, Object | list[Object]]],
) -> None:
    store = Store()
    model: dict[Kind, dict[Key, Object]] = {kind: {} for kind in Kind}
    told: dict[tuple[Kind, Key], Object] = {}
    store.on_change(lambda change: remember(told, change))
    for step, what in steps:
        if isinstance(what, list):
            relist(store, model, what)
        else:
            store.put(what) if step == "put" else store.remove(KINDS[type(what)], key_of(what))
            apply_to_model(model, step, what)
    everything = [item for objects in model.values() for item in objects.values()]
    assert view(store) == view(filled(*everything))
    assert sorted(map(repr, told.values())) == sorted(map(repr, everything))


def remember(told: dict[tuple[Kind, Key], Object], change: Change) -> None:
    """Follow the store by its changes alone."""
    if change.old is not None:
        del told[change.kind, key_of(change.old)]
    if change.new is not None:
        told[change.kind, key_of(change.new)] = change.new


def view(store: Store) -> object:
    """All that the store answers, by every index."""
    names, ips = ["a", "b", "c"], ["10.0.0.1", "10.0.0.2", "10.0.0.3", "fd00::1"]
    return (
        [store.namespace_exists(name) for name in names],
        [(store.service(a, b), store.slices(a, b)) for a in names for b in names],
        [(store.services_by_ip(ip), store.endpoints_by_ip(ip), store.pods_by_ip(ip)) for ip in ips],
    )

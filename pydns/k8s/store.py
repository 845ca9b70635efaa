"""The mirror of the cluster's objects, with the indexes that answers are made from.

Every change is applied whole, indexes included, before anybody is told of it and before the event loop goes on: a
reader never sees half a change, nor, in a relist, a moment without a name that still exists.  Everybody is told of
every change, once, whatever goes wrong with others who are told (`pydns.log.tell`): no later list would make up for it,
as by then nothing differs.  The store does not know where objects come from, and nothing of DNS.
"""

import time
from bisect import bisect
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from pydns.k8s.objects import KINDS, Endpoint, EndpointSlice, Kind, Namespace, Object, Pod, Service
from pydns.log import tell

Key = tuple[str, str]
"""Namespace and name; a Namespace's own key has an empty namespace."""

T = TypeVar("T", bound=Object)


class Change(NamedTuple):
    """One applied change: `old` is None for an object that is new, `new` for one that is gone.

    `name` is the object's name, except for an endpoint slice: there it is its Service's.  A slice that moves from one
    Service to another is reported as removed there and added here.
    """

    kind: Kind
    namespace: str
    name: str
    old: Object | None
    new: Object | None


class Index(Generic[T]):
    """The names of objects, in order, by something that a function finds in them."""

    def __init__(self, marks: Callable[[T], Sequence[Hashable]]) -> None:
        self._marks = marks
        self._keys: dict[Hashable, tuple[Key, ...]] = {}

    def get(self, mark: Hashable) -> tuple[Key, ...]:
        return self._keys.get(mark, ())

    def update(self, key: Key, old: T | None, new: T | None) -> None:
        """An object comes, changes or goes; only what it has no longer, or not yet, is touched."""
        before: Iterable[Hashable] = () if old is None else self._marks(old)
        after: Iterable[Hashable] = () if new is None else self._marks(new)
        if before == after:
            return
        if before and after:
            before, after = set(before).difference(after), set(after).difference(before)
        for mark in before:
            self._remove(mark, key)
        alone = (key,)  # one tuple for all marks of the object: a slice has many addresses, few are shared
        for mark in after:
            if self._keys.setdefault(mark, alone) is not alone:
                self._add(mark, key)

    def _add(self, mark: Hashable, key: Key) -> None:
        others = self._keys[mark]
        at = bisect(others, key)
        if at == 0 or others[at - 1] != key:  # else the object has this mark twice
            self._keys[mark] = (*others[:at], key, *others[at:])

    def _remove(self, mark: Hashable, key: Key) -> None:
        others = tuple([other for other in self._keys.get(mark, ()) if other != key])
        if others:
            self._keys[mark] = others
        else:
            self._keys.pop(mark, None)


class Table(Generic[T]):
    """The objects of one kind, and the indexes over them."""

    def __init__(self, *indexes: Index[T]) -> None:
        self.objects: dict[Key, T] = {}
        self._indexes = indexes

    def put(self, key: Key, item: T) -> None:
        old = self.objects.get(key)
        self.objects[key] = item
        for index in self._indexes:
            index.update(key, old, item)

    def remove(self, key: Key) -> None:
        item = self.objects.pop(key, None)
        if item is not None:
            for index in self._indexes:
                index.update(key, item, None)

    def having(self, index: Index[T], mark: Hashable) -> tuple[T, ...]:
        """The objects that an index of this table names."""
        return tuple([self.objects[key] for key in index.get(mark)])


class Store:
    """Objects by name and by address.

    `kinds` are the kinds that must have been listed once before the store counts as synced.  `clock` gives Unix
    seconds.
    """

    def __init__(self, kinds: Iterable[Kind] = Kind, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._unlisted = set(kinds)
        self._listeners: list[Callable[[Change], None]] = []
        self.modified = 0
        """Unix seconds of the last change that a zone's SOA serial should show; 0 before any."""
        self.external_modified = 0
        """The same for what lies outside the cluster's zones: external addresses and their ports."""
        self._namespaces: Table[Namespace] = Table()
        self._services_by_ip: Index[Service] = Index(addresses_of)
        self._services = Table(self._services_by_ip)
        self._slices_by_service: Index[EndpointSlice] = Index(owner_of)
        self._slices_by_ip: Index[EndpointSlice] = Index(lambda item: [one.address for one in item.endpoints])
        self._slices = Table(self._slices_by_service, self._slices_by_ip)
        self._pods_by_ip: Index[Pod] = Index(lambda pod: (pod.ip,) if pod.ip else ())
        self._pods = Table(self._pods_by_ip)
        self._tables: dict[Kind, Table[Any]] = {
            Kind.NAMESPACE: self._namespaces,
            Kind.SERVICE: self._services,
            Kind.SLICE: self._slices,
            Kind.POD: self._pods,
        }

    # reading

    @property
    def synced(self) -> bool:
        """Whether every kind has been listed once."""
        return not self._unlisted

    def namespace_exists(self, name: str) -> bool:
        return ("", name) in self._namespaces.objects

    def namespaces(self) -> Iterable[Namespace]:
        return self._namespaces.objects.values()

    def service(self, namespace: str, name: str) -> Service | None:
        return self._services.objects.get((namespace, name))

    def services(self) -> Iterable[Service]:
        return self._services.objects.values()

    def services_by_ip(self, ip: str) -> tuple[Service, ...]:
        """The Services with this cluster IP, spelled as the API spells it."""
        return self._services.having(self._services_by_ip, ip)

    def slices(self, namespace: str, service: str) -> tuple[EndpointSlice, ...]:
        """The endpoint slices of a Service, whether or not that Service exists, in the order of their names."""
        return self._slices.having(self._slices_by_service, (namespace, service))

    def endpoints_by_ip(self, ip: str) -> tuple[tuple[EndpointSlice, Endpoint], ...]:
        """Every ready endpoint with this address, with the slice it is in."""
        found = self._slices.having(self._slices_by_ip, ip)
        return tuple((item, endpoint) for item in found for endpoint in item.endpoints if endpoint.address == ip)

    def pods(self) -> Iterable[Pod]:
        return self._pods.objects.values()

    def pods_by_ip(self, ip: str) -> tuple[Pod, ...]:
        return self._pods.having(self._pods_by_ip, ip)

    def shared(self, item: Object) -> Object:
        """The same object, or one just like it that is here already."""
        old = self._tables[KINDS[type(item)]].objects.get(key_of(item))
        return old if old == item else item

    def objects(self) -> Iterator[Object]:
        """All objects, kind by kind."""
        for table in self._tables.values():
            yield from table.objects.values()

    # changing

    def on_change(self, listener: Callable[[Change], None]) -> None:
        """Call `listener` for each change from now on, right after it was applied and in the same loop iteration."""
        self._listeners.append(listener)

    def put(self, item: Object) -> None:
        """Add or update an object.  A terminating Pod is ignored: what was known of it stays until it is deleted."""
        if isinstance(item, Pod) and item.terminating:
            return
        kind = KINDS[type(item)]
        table = self._tables[kind]
        key = key_of(item)
        old = table.objects.get(key)
        if old is not None and content(old) == content(item):
            return
        table.put(key, item)
        self._touch(old, item)
        self._tell(kind, old, item)

    def remove(self, kind: Kind, key: Key) -> None:
        """Forget an object; one that is not there is no error."""
        table = self._tables[kind]
        old = table.objects.get(key)
        if old is not None:
            table.remove(key)
            self._touch(old, None)
            self._tell(kind, old, None)

    def replace(self, kind: Kind, items: Mapping[Key, Object]) -> None:
        """Make `items` the objects of a kind, by changing only what differs, and count the kind as listed."""
        for _ in self.replacing(kind, items):
            pass

    def replacing(self, kind: Kind, items: Mapping[Key, Object]) -> Iterator[Object | None]:
        """The same object by object: whoever iterates may let others read between two steps, not change this kind.

        Gives each object of `items` once it is there, and None for what was looked at whether it is to go.
        """
        before = tuple(self._tables[kind].objects)
        for item in items.values():
            self.put(item)
            yield item
        for key in before:
            if key not in items:
                self.remove(kind, key)
            yield None
        self._unlisted.discard(kind)

    def count_as_listed(self) -> None:
        """Count all kinds as listed: what was put is all there is."""
        self._unlisted.clear()

    def _touch(self, old: Object | None, new: Object | None) -> None:
        """Move the clocks as CoreDNS's kubernetes plugin does: any addition and removal, and some updates."""
        now = int(self._clock())
        if old is None or new is None:
            if not isinstance(old or new, Namespace):
                self.modified = now
            return
        if shows_in_serial(old, new):
            self.modified = now
        if external_content(old) != external_content(new):
            self.external_modified = now

    def _tell(self, kind: Kind, old: Object | None, new: Object | None) -> None:
        if isinstance(old, EndpointSlice) and isinstance(new, EndpointSlice) and old.service != new.service:
            self._tell(kind, old, None)
            self._tell(kind, None, new)
            return
        item = new or old
        assert item is not None
        name = item.service if isinstance(item, EndpointSlice) else item.name
        tell(self._listeners, Change(kind, item.namespace, name, old, new))


def key_of(item: Object) -> Key:
    return item.namespace, item.name


def addresses_of(service: Service) -> list[str]:
    """Its cluster IPs; a tenth of a cluster's Services may share "None", which is none."""
    return [ip for ip in service.cluster_ips if ip not in ("", "None")]


def owner_of(item: EndpointSlice) -> Sequence[Key]:
    return ((item.namespace, item.service),) if item.service else ()


def content(item: Object) -> object:
    """What a reader can see of an object: all of it but the time at which the slice controller noticed a change."""
    if isinstance(item, EndpointSlice):
        return item.service, item.address_type, item.endpoints, item.ports
    return item


def shows_in_serial(old: Object, new: Object) -> bool:
    """Whether an update moves the SOA serial (CoreDNS, plugin/kubernetes)."""
    match old, new:
        case EndpointSlice(), EndpointSlice():
            return old.ports != new.ports or endpoints_show(old.endpoints, new.endpoints)
        case Service(), Service():
            return (old.external_name, old.ports) != (new.external_name, new.ports)
        case Pod(), Pod():
            return old.ip != new.ip
    return False


def endpoints_show(old: Sequence[Endpoint], new: Sequence[Endpoint]) -> bool:
    """Whether endpoints differ, one by one, by more than what is behind them."""
    return len(old) != len(new) or any(
        one.address != other.address or one.hostname != other.hostname or one.zone != other.zone
        for one, other in zip(old, new, strict=True)
    )


def external_content(item: Object) -> object:
    return (item.external_ips, item.ports) if isinstance(item, Service) else None

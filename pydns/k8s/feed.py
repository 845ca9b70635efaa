"""The objects of one process handed to others: what a `Feeder` gives, a `FedSource` in another process takes.

Rules:

1. A snapshot is the objects at one moment, in pieces that are encoded one after the other; a change that comes later is
   told beside it, and to be applied after it.
2. Changes made in one iteration of the event loop are one piece, applied in one step, as they were here.
3. Each piece says when the objects were changed last, so that serials are the same everywhere.

It knows neither who carries the pieces nor DNS.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from sys import intern
from typing import Final

from msgspec import Struct, field, msgpack

from pydns.k8s.objects import Endpoint, EndpointSlice, Kind, Namespace, Object, Pod, Service
from pydns.k8s.source import Clock, Interest, Source
from pydns.k8s.store import Change, Key, Store, key_of
from pydns.k8s.wire import port
from pydns.tasks import Tasks

OBJECTS_A_PIECE: Final = 100
LOOK: Final = 3600.0
"""Seconds after which a wait for the source is begun again."""


class Piece(Struct):
    """Objects to put, then keys to remove; then what the store's clocks show and whether all kinds were listed."""

    modified: int
    external_modified: int
    synced: bool
    namespaces: list[Namespace] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    slices: list[EndpointSlice] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    removed: list[tuple[Kind, str, str]] = field(default_factory=list)

    def add(self, item: Object) -> None:
        match item:
            case Namespace():
                self.namespaces.append(item)
            case Service():
                self.services.append(item)
            case EndpointSlice():
                self.slices.append(item)
            case Pod():
                self.pods.append(item)


_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(Piece).decode


class Feeder:
    """Tells what is in ``source``, and what changes there."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._store = source.store
        self._tell: Callable[[bytes], None] | None = None
        self._changed: dict[tuple[Kind, Key], Object | None] = {}
        self._due = False
        self._tasks = Tasks()
        self._store.on_change(self._note)

    def snapshot(self) -> Iterator[bytes]:
        """The objects that there are at this call."""
        return self._pieces(list(self._store.objects()))

    def follow(self, tell: Callable[[bytes], None]) -> None:
        """Tell each change from now on."""
        self._tell = tell
        if not self._store.synced:
            self._tasks.run(self._wait())

    async def stop(self) -> None:
        self._tell = None
        await self._tasks.stop()

    def _pieces(self, items: Iterable[Object]) -> Iterator[bytes]:
        rest = iter(items)
        while part := list(islice(rest, OBJECTS_A_PIECE)):
            yield self._piece(part, ())
        yield self._piece((), ())

    def _piece(self, items: Iterable[Object], removed: Iterable[tuple[Kind, Key]]) -> bytes:
        store = self._store
        piece = Piece(store.modified, store.external_modified, store.synced)
        for item in items:
            piece.add(item)
        piece.removed = [(kind, *key) for kind, key in removed]
        return _encode(piece)

    def _note(self, change: Change) -> None:
        if self._tell is None:
            return
        item = change.new or change.old
        assert item is not None
        self._changed[change.kind, key_of(item)] = change.new
        self._tell_soon()

    def _tell_soon(self) -> None:
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._tell_changes)

    def _tell_changes(self) -> None:
        self._due = False
        changed, self._changed = self._changed, {}
        if self._tell is not None:
            gone = (key for key, item in changed.items() if item is None)
            self._tell(self._piece((item for item in changed.values() if item is not None), gone))

    async def _wait(self) -> None:
        """Tell when all kinds were listed, which need not be a change."""
        while not await self._source.wait_synced(LOOK):
            pass
        self._tell_soon()


class FedSource:
    """A Source whose objects another process hands over (`take`).  ``clock`` gives Unix seconds."""

    def __init__(self, interest: Interest, clock: Clock = time.time) -> None:
        self.store = Store(interest.kinds, clock)

    @property
    def followed(self) -> bool:
        """See `Source.followed`; whoever feeds answers for the changes."""
        return self.store.synced

    async def start(self) -> None:
        """Nothing: whoever feeds has begun."""

    async def stop(self) -> None:
        """Nothing: whoever feeds ends."""

    async def wait_synced(self, timeout: float) -> bool:
        """True: whoever feeds has waited as long as is to be waited."""
        return True

    def take(self, octets: bytes) -> None:
        """Apply a piece."""
        piece = _decode(octets)
        store = self.store
        for part in (piece.namespaces, map(_service, piece.services), map(_slice, piece.slices), piece.pods):
            for item in part:
                store.put(item)
        for kind, namespace, name in piece.removed:
            store.remove(kind, (namespace, name))
        store.modified, store.external_modified = piece.modified, piece.external_modified
        if piece.synced:
            store.count_as_listed()


def _service(item: Service) -> Service:
    """The same with strings that it shares with others."""
    return Service(
        intern(item.namespace),
        intern(item.name),
        intern(item.type),
        item.cluster_ips,
        item.external_name,
        tuple(port(one.name, one.port, one.protocol) for one in item.ports),
        item.external_ips,
    )


def _slice(item: EndpointSlice) -> EndpointSlice:
    """The same with strings that it shares with others."""
    return EndpointSlice(
        intern(item.namespace),
        item.name,
        intern(item.service),
        intern(item.address_type),
        tuple(Endpoint(one.address, one.hostname, one.target, intern(one.zone)) for one in item.endpoints),
        tuple(port(one.name, one.port, one.protocol) for one in item.ports),
    )

"""Sends plain queries on the short way to other servers (`pydns.errand`), and their replies to the clients.

A route is what a zone's chain has of it: the links up to the first one that asks other servers, where each in front of
that may be passed and one is a cache.  It names no plugin and opens no socket.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pydns.dns.message import HEADER
from pydns.dns.name import BadName, plain_name
from pydns.dns.plain import Shape, Shapes
from pydns.errand import Asker, Errand, Hook, Passes, Sends
from pydns.plugin import Plugin
from pydns.server.dispatch import Dispatcher
from pydns.server.task_pool import TaskPool


class Route(NamedTuple):
    """The hooks of a chain: ``aheads`` in its order, ``backs`` from its last link to the first."""

    aheads: tuple[Callable[[str, Shape], bool], ...]
    run: Callable[[Errand], bool]
    backs: tuple[Hook, ...]


class Errands:
    """The errands of one listener.  ``submit`` has the chain go on with one that is given up."""

    def __init__(self, dispatcher: Dispatcher, pool: TaskPool, submit: Callable[[Errand], None]) -> None:
        self.label = dispatcher.label
        self._zone_of = dispatcher.zone_of
        self._clock = dispatcher.process.clock
        self._recover = dispatcher.recover
        self._pool = pool
        self._submit = submit
        self._shapes = Shapes()
        routes = {zone: _route(chain.links) for zone, chain in dispatcher.zones.items()}
        self._routes = {zone: route for zone, route in routes.items() if route is not None}
        self._under_way: dict[Errand, None] = {}

    def take(self, data: bytes, asker: Asker) -> bool:
        """See that a plain query is answered, the short way if that is possible; False for any other query."""
        if not self._routes:
            return False
        try:
            name, end = plain_name(data, HEADER.size)
        except (BadName, IndexError):
            return False
        shape = self._shapes.of(data, end)
        if shape is None:
            return False
        lower = name.lower()
        zone = self._zone_of(lower)
        route = None if zone is None else self._routes.get(zone)
        if zone is None or route is None:
            return False
        errand = Errand(data, name, lower, end, shape, asker, self, self._clock(), zone, route.backs)
        try:
            if not self._begin(errand, route):
                self._submit(errand)
        except Exception as bug:  # noqa: BLE001  a bug costs one query
            self._left(errand)
            asker.send(self._recover(errand, bug))
        return True

    def _begin(self, errand: Errand, route: Route) -> bool:
        for ahead in route.aheads:
            if not ahead(errand.name, errand.shape):
                return False
        self._under_way[errand] = None
        self._pool.enter()
        if route.run(errand):
            return True
        self._left(errand)
        return False

    def finish(self, errand: Errand) -> None:
        """See `pydns.errand.Home`."""
        errand.now = self._clock()
        self._left(errand)
        try:
            for back in errand.backs:
                back(errand)
            reply = errand.reply()
        except Exception as bug:  # noqa: BLE001  a bug costs one query
            reply = self._recover(errand, bug)
        errand.asker.send(reply)

    def give_up(self, errand: Errand) -> None:
        """See `pydns.errand.Home`."""
        self._submit(errand)
        self._left(errand)

    def _left(self, errand: Errand) -> None:
        if self._under_way.pop(errand, self) is None:
            self._pool.leave()

    def cancel(self) -> None:
        """Leave the errands under way without a reply."""
        for errand in tuple(self._under_way):
            errand.socket.forget(errand)
            self._left(errand)


def _route(links: tuple[Plugin, ...]) -> Route | None:
    """The route of a chain, if it has one."""
    aheads: list[Callable[[str, Shape], bool]] = []
    backs: list[Hook] = []
    keeps = False
    for link in links:
        if isinstance(link, Sends) and keeps:
            return Route(tuple(aheads), link.run, (link.back, *reversed(backs)))
        if not isinstance(link, Passes):
            return None
        keeps |= link.keeps
        if type(link).ahead is not Passes.ahead:
            aheads.append(link.ahead)
        if type(link).back is not Passes.back:
            backs.append(link.back)
    return None

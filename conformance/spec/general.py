"""Demands on the zone itself (R1, and what exists above the Services). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from conformance.spec.demand import Demand, demand
from conformance.spec.names import Names, mixed
from conformance.spec.view import View
from conformance.spec.wants import Deniable, Denied, Empty, Holds, datum

AREA = "general"
VERSION = '"1.1.0"'

_demand = partial(demand, AREA)


def demands(view: View, names: Names) -> Iterator[Demand]:
    """All demands on the zone."""
    version = f"dns-version.{names.zone}"
    own = Holds(frozenset({datum(version, "TXT", VERSION)}))
    yield _demand(version, "TXT", "R1", own)
    yield _demand(mixed(version), "TXT", "R1 R2", own)
    yield _demand(version, "A", "X11", Empty(), but=("dns-version-types-denied", Denied()))
    yield from _existing(view, names)
    for name in (
        f"nosuch.{names.zone}",
        f"web.nosuch-namespace.{names.services}",
        f"nosuch-namespace.{names.services}",
    ):
        yield _demand(name, "A", "X1", Denied())
        yield _demand(name, "AAAA", "X1 X2", Denied())
        yield _demand(name, "A", "X3 X10", Deniable(flags=True, soa=True))


def _existing(view: View, names: Names) -> Iterator[Demand]:
    """Names that stand above others."""
    for name in (names.zone, names.services, *(names.namespace(each) for each in view.namespaces)):
        yield _demand(name, "A", "X11", Empty())
        yield _demand(name, "AAAA", "X2 X11", Empty())
        yield _demand(name, "TXT", "X11", Empty(), but=("zone-names-txt-denied", Denied()))
    yield _demand(names.services, "A", "X3 X10", Deniable(flags=True, soa=True))

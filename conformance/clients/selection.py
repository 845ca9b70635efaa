"""Which look-ups are made: every pair of values at least once, without those that cannot be. Pure and deterministic."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.clients.model import Kind, Want
from conformance.clients.shapes import (
    DOMAINS,
    NDOTS,
    SEARCHED,
    SHAPES,
    TROUBLES,
    Domains,
    Place,
    Policy,
    Shape,
    Trouble,
)
from conformance.clients.toolbox import RESOLVERS

FEW = 3
"""The longest search list for a server that never answers: some resolvers wait for every domain of it."""

Values = Mapping[str, Any]
"""Some values of a row, by parameter."""

Pair = frozenset[tuple[str, Any]]
"""Two values of two parameters, with the parameters' names."""

PARAMETERS: Mapping[str, Sequence[Any]] = {
    "shape": SHAPES,
    "trouble": TROUBLES,
    "resolver": tuple(RESOLVERS),
    "domains": DOMAINS,
    "ndots": NDOTS,
    "want": tuple(Want),
    "policy": tuple(Policy),
}


@dataclass(frozen=True)
class Row:
    """One look-up by one resolver."""

    resolver: str
    shape: Shape
    want: Want
    ndots: str
    domains: Domains
    trouble: Trouble
    policy: Policy

    def __str__(self) -> str:
        return f"{self.shape} {self.want}, ndots {self.ndots}, {self.domains}, {self.policy}, {self.trouble}"


def possible(values: Values) -> bool:
    """Whether these values, some of a row's, may stand in one row."""
    checks = (_can_want, _has_room, _is_met, _outside, _is_short, _has_ndots, _is_in_crowd)
    return all(check(values) for check in checks)


def _can_want(values: Values) -> bool:
    """A resolver looks for what it can look for."""
    return "resolver" not in values or "want" not in values or values["want"] in RESOLVERS[values["resolver"]].wants


def _has_ndots(values: Values) -> bool:
    """Kubelet writes ndots with the cluster policies, always."""
    return values.get("ndots") != "unset" or not ("policy" in values and values["policy"].cluster)


def _has_room(values: Values) -> bool:
    """The cluster policies' three domains come first; a list has room for the domain of a trouble at its place."""
    domains: Domains | None = values.get("domains")
    policy: Policy | None = values.get("policy")
    place = values["trouble"].place if "trouble" in values else Place.NOWHERE
    own = (4 if place in SEARCHED else 3) if policy and policy.cluster else 1
    if (own > 1 and place == Place.FIRST) or (domains and domains.count < own):
        return False
    return not (domains and domains.count == 1 and place in (Place.MIDDLE, Place.LAST))


def _is_met(values: Values) -> bool:
    """A trouble in the search list comes before what is found, and absolute names are not searched for."""
    shape: Shape | None = values.get("shape")
    place = values["trouble"].place if "trouble" in values else Place.NOWHERE
    if not shape or place not in SEARCHED:
        return True
    if shape.absolute or (place == Place.LAST and shape.hits in (0, 1, 2)):
        return False
    return not ("policy" in values and values["policy"].cluster and shape.hits in (0, 1, 2))


def _outside(values: Values) -> bool:
    """The trouble of a name needs a name outside the cluster."""
    if "shape" not in values or "trouble" not in values or values["trouble"].place != Place.NAME:
        return True
    return bool(values["shape"].outside)


def _is_short(values: Values) -> bool:
    """A server that never answers is not waited for more often than need be."""
    if "trouble" not in values or "domains" not in values:
        return True
    silent = values["trouble"] == Trouble(Kind.TIMEOUT, Place.WHOLE)
    return not silent or values["domains"].count <= FEW


def _is_in_crowd(values: Values) -> bool:
    """SRV records of 45 endpoints show nothing more; who takes a truncated reply gets whichever of them fit into it."""
    if "shape" not in values or values["shape"].name != "crowd":
        return True
    return values.get("want") != Want.SRV and values.get("resolver") not in ("musl-1.2.3", "busybox")


@cache
def rows() -> tuple[Row, ...]:
    """The rows of all resolvers, in the order of `RESOLVERS`."""
    missing = dict.fromkeys(pair for pair in pairs() if complete(dict(pair)))
    chosen: list[Row] = []
    used = Counter[tuple[str, Any]]()
    while missing:
        values = _fill(dict(next(iter(missing))), missing, used)
        for pair in _pairs_of(values):
            missing.pop(pair, None)
        used.update(values.items())
        chosen.append(Row(**values))
    return tuple(sorted(chosen, key=lambda row: list(RESOLVERS).index(row.resolver)))


def pairs() -> Iterator[Pair]:
    """Every two values of two parameters."""
    for one, other in itertools.combinations(PARAMETERS, 2):
        for first, second in itertools.product(PARAMETERS[one], PARAMETERS[other]):
            yield frozenset({(one, first), (other, second)})


def complete(values: Values) -> Values | None:
    """A row with these values, or None where none is possible."""
    if not possible(values):
        return None
    missing = [name for name in PARAMETERS if name not in values]
    if not missing:
        return values
    tries = (complete({**values, missing[0]: value}) for value in PARAMETERS[missing[0]])
    return next(filter(None, tries), None)


def _fill(values: Values, missing: Container[Pair], used: Counter[tuple[str, Any]]) -> Values:
    """A row with these values, the others chosen one by one: each brings most missing pairs, or is least used."""
    for name in [name for name in PARAMETERS if name not in values]:

        def worth(value: Any, name: str = name, chosen: Values = values) -> tuple[int, int]:
            pairs = _pairs_of({**chosen, name: value})
            return sum(pair in missing for pair in pairs), -used[name, value]

        fitting = (value for value in PARAMETERS[name] if complete({**values, name: value}))
        values = {**values, name: max(fitting, key=worth)}
    return values


def _pairs_of(values: Values) -> Iterator[Pair]:
    return map(frozenset, itertools.combinations(values.items(), 2))

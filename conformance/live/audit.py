"""Which Services of a cluster an audit looks at. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from conformance.kubernetes.objects import Object
from conformance.spec.view import CLUSTER_IP, EXTERNAL_NAME, HEADLESS, Service, View, read_view


def choose(objects: Sequence[Object], limit: int) -> tuple[View, tuple[str, ...]]:
    """A view in which at most `limit` Services are asked about, kinds in turn, and what was left out, in words."""
    view = read_view(objects)
    queues = [view.of_kind(kind) for kind in (CLUSTER_IP, HEADLESS, EXTERNAL_NAME)]
    turns: list[Service] = [each for each in chain.from_iterable(zip_longest(*queues)) if each]
    chosen, others = turns[:limit], turns[limit:]
    namespaces = tuple(sorted({service.namespace for service in chosen}))
    left = (f"{len(others)} of {len(turns)} Services (--limit)",) if others else ()
    return replace(view, namespaces=namespaces, services=tuple(chosen), others=tuple(others)), left

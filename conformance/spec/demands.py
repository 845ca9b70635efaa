"""From the objects of a cluster to all that the specification, and resolvers, demand of its DNS. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.kubernetes.objects import Object
from conformance.spec import clusterip, externalname, general, headless, resolvers
from conformance.spec.demand import Demand
from conformance.spec.externalname import Outside
from conformance.spec.names import Names
from conformance.spec.view import View, read_view

AREAS: Mapping[str, str] = {
    general.AREA: "the zone: its version, and the names above Services",
    clusterip.AREA: "Services with a ClusterIP: A, AAAA, SRV, PTR",
    headless.AREA: "headless Services: A, AAAA and SRV of ready endpoints, their names and PTR",
    externalname.AREA: "ExternalName Services: CNAME and what it leads to",
    resolvers.AREA: "what resolvers need: search expansion, denials, TCP, truncation, letter case, EDNS",
}
"""The areas of demands and what each is about."""


def demands(objects: Iterable[Object], zone: str, outside: Outside | None = None) -> list[Demand]:
    """All demands on the DNS of a cluster with these objects; `outside` has addresses of names beyond the cluster."""
    return demands_on(read_view(objects), zone, outside)


def demands_on(view: View, zone: str, outside: Outside | None = None) -> list[Demand]:
    """The same of a `View`."""
    names = Names(zone)
    return [
        *general.demands(view, names),
        *clusterip.demands(view, names),
        *headless.demands(view, names),
        *externalname.demands(view, names, outside or {}),
        *resolvers.demands(view, names),
    ]

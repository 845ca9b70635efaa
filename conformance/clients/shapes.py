"""The values a look-up is made of: shapes of names, sizes of search lists, troubles and where they lie, policies."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from conformance.clients.model import Kind

ZONES = {
    Kind.ANSWER: "ok",
    Kind.NODATA: "nodata",
    Kind.SERVFAIL: "servfail",
    Kind.REFUSED: "refused",
    Kind.TIMEOUT: "timeout",
    Kind.TRUNCATED: "truncated",
}
"""The zone below `test.` whose names have this fate (world.case)."""


class Place(StrEnum):
    """Where a trouble is met: in the search list, at the name as typed, or everywhere."""

    NOWHERE = "nowhere"
    FIRST = "first"
    MIDDLE = "middle"
    LAST = "last"
    NAME = "name"
    WHOLE = "whole"


SEARCHED = (Place.FIRST, Place.MIDDLE, Place.LAST)


@dataclass(frozen=True)
class Trouble:
    """What one domain, one name or the whole server does in place of its work."""

    kind: Kind = Kind.ANSWER
    place: Place = Place.NOWHERE

    def __str__(self) -> str:
        return "all well" if self.place == Place.NOWHERE else f"{self.kind} {self.place}"


TROUBLES = (
    Trouble(),
    *(Trouble(kind, place) for kind in list(ZONES)[1:] for place in (*SEARCHED, Place.NAME)),
    *(Trouble(kind, Place.WHOLE) for kind in (Kind.SERVFAIL, Kind.REFUSED, Kind.TIMEOUT)),
)


@dataclass(frozen=True)
class Shape:
    """A name as typed. `{}` stands for a label of the row's own and the zone, for names outside the cluster.

    `hits` is the place in the cluster's own search list that leads to something (0 for the Pod's namespace), 3 when the
    name itself does, None when nothing does.
    """

    name: str
    hits: int | None = None

    @property
    def dots(self) -> int:
        """Those that count: not the final one."""
        return self.name.replace("{}", "label.zone").rstrip(".").count(".")

    @property
    def absolute(self) -> bool:
        """With a final dot: never searched for."""
        return self.name.endswith(".")

    @property
    def outside(self) -> bool:
        """Whether the name lies below one of the zones outside the cluster."""
        return "{}" in self.name

    def __str__(self) -> str:
        return self.name.replace("{}", "ZONE")


SHAPES = (
    # within the namespace, in another, below svc, whole
    Shape("web", 0),
    Shape("dual", 0),
    Shape("crowd", 0),
    Shape("one.peers", 0),
    Shape("_http._tcp.peers", 0),
    Shape("db.stock", 1),
    Shape("_sql._tcp.db.stock", 1),
    Shape("db.stock.svc", 2),
    Shape("_http._tcp.web.shop.svc", 2),
    Shape("dual.shop.svc.cluster.local", 3),
    Shape("one.peers.shop.svc.cluster.local", 3),
    Shape("_http._tcp.peers.shop.svc.cluster.local", 3),
    # which do not exist
    Shape("nosuch"),
    Shape("nosuch.stock"),
    Shape("nosuch.none.test"),
    Shape("a.b.c.d.none.test"),
    # outside
    Shape("{}.test", 3),
    Shape("www.{}.test", 3),
    Shape("a.www.{}.test", 3),
    Shape("a.b.www.{}.test", 3),
    Shape("a.b.c.www.{}.test", 3),
    # absolute
    Shape("web."),
    Shape("db.stock."),
    Shape("web.shop.svc."),
    Shape("dual.shop.svc.cluster.local.", 3),
    Shape("_http._tcp.web.shop.svc.cluster.local.", 3),
    Shape("www.{}.test.", 3),
)

NDOTS = ("unset", "0", "1", "2", "5", "15")


@dataclass(frozen=True)
class Domains:
    """How long a search list is: `count` domains, the last ones of 45 characters where `wide`."""

    count: int
    wide: bool = False

    def __str__(self) -> str:
        return f"{self.count}{' wide' if self.wide else ''} domains"


DOMAINS = (*map(Domains, (1, 3, 4, 6, 8, 9, 16, 32)), Domains(9, wide=True), Domains(14, wide=True))
"""9 wide ones are a line of more than 256 octets, 14 of more than 511."""


class Policy(StrEnum):
    """A Pod's dnsPolicy."""

    CLUSTER_FIRST = "ClusterFirst"
    WITH_HOST_NET = "ClusterFirstWithHostNet"
    DEFAULT = "Default"
    NONE = "None"

    @property
    def cluster(self) -> bool:
        """Whether kubelet puts the cluster's domains in front and `ndots:5` into the options."""
        return self in (Policy.CLUSTER_FIRST, Policy.WITH_HOST_NET)

"""A name below a cluster zone taken apart: which object it asks for.

    [_PORT._PROTOCOL. | ENDPOINT.]SERVICE.NAMESPACE.svc.ZONE
    TOPOLOGYZONE.(pin|prefer)._zone.SERVICE.NAMESPACE.svc.ZONE      (with the option zonal)
    DASHED-ADDRESS.NAMESPACE.pod.ZONE

Pure text; it does not know which objects there are.
"""

from __future__ import annotations

from typing import NamedTuple

from pydns.dns.name import labels

SERVICES = "svc"
PODS = "pod"
ZONAL = "_zone"
PIN = "pin"
PREFER = "prefer"


class Name(NamedTuple):
    """What the labels of a name say, in lower case; empty where there are no more.

    ``kind`` is ``svc``, ``pod``, or empty for the zone itself and for ``svc`` and ``pod`` directly below it.
    ``service`` is a Pod's dashed address where the kind is ``pod``.  ``port`` and ``protocol`` have lost one leading
    underscore, and an empty one matches all.  ``zone`` is a topology zone, ``prefer`` that others may stand in for it.
    """

    kind: str = ""
    namespace: str = ""
    service: str = ""
    endpoint: str = ""
    port: str = ""
    protocol: str = ""
    zone: str = ""
    prefer: bool = False


NODE = Name()


def parse(name: str, zone: str, zonal: bool = False) -> Name | None:
    """Take ``name`` apart, which is in ``zone``, both lower-case; None for a name that cannot exist."""
    base = name[:-1] if zone == "." else name[: -len(zone) - 1]
    if base in ("", SERVICES, PODS):
        return NODE
    parts = base.split(".") if "\\" not in base else labels(base + ".")
    kind = parts[-1]
    if kind not in (SERVICES, PODS):
        return None
    match parts[:-1]:
        case [namespace]:
            return Name(kind, namespace)
        case [service, namespace]:
            return Name(kind, namespace, service)
        case [endpoint, service, namespace]:
            return Name(kind, namespace, service, endpoint)
        case [port, protocol, service, namespace]:
            return Name(kind, namespace, service, "", port.removeprefix("_"), protocol.removeprefix("_"))
        case [*zone_labels, directive, anchor, service, namespace] if zonal and kind == SERVICES and anchor == ZONAL:
            if directive in (PIN, PREFER):
                return Name(kind, namespace, service, zone=".".join(zone_labels), prefer=directive == PREFER)
    return None

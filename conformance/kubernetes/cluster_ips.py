"""ClusterIPs for Services that name none, as an API server gives them. Pure.

A dual-stack cluster with IPv4 first: a Service gets an address of each family it asks for, one of IPv4 when it asks
for none. The pools lie apart from the addresses that the suite's own objects name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from conformance.kubernetes.objects import Object

POOLS: Mapping[str, IPv4Network | IPv6Network] = {
    "IPv4": IPv4Network("10.96.128.0/17"),
    "IPv6": IPv6Network("fd00:10:96::8000/113"),
}


def complete(service: Object, old: Object | None, objects: Collection[Object]) -> None:
    """Sets `clusterIP` and `clusterIPs` of a Service that has neither: those it had, or the next free ones."""
    spec = service.setdefault("spec", {})
    if spec.get("type") == "ExternalName" or spec.get("clusterIP"):
        return
    addresses = _given((old or {}).get("spec") or {}) or _free(_families(spec), objects)
    spec["clusterIP"], spec["clusterIPs"] = addresses[0], addresses


def _given(spec: Mapping[str, Any]) -> list[str]:
    given = list(spec.get("clusterIPs") or ())
    return [] if "None" in given else given


def _families(spec: Mapping[str, Any]) -> list[str]:
    families = list(spec.get("ipFamilies") or ["IPv4"])
    if spec.get("ipFamilyPolicy") in ("PreferDualStack", "RequireDualStack"):
        families += [family for family in POOLS if family not in families]
    return families


def _free(families: list[str], objects: Collection[Object]) -> list[str]:
    taken = {text for each in objects for text in (each.get("spec") or {}).get("clusterIPs") or ()}
    return [next(str(host) for host in POOLS[family].hosts() if str(host) not in taken) for family in families]

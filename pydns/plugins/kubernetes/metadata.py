"""What *metadata* is told of a query: the parts of its name, and the Pod that asks.

It does not know answers.
"""

from __future__ import annotations

from collections.abc import Callable

from pydns.k8s.store import Store
from pydns.plugins.kubernetes.qname import parse

Facts = dict[str, Callable[[], str]]

PARSE_ERROR = "invalid query name"


def name_facts(name: str, zone: str, *, zonal: bool) -> Facts:
    """The parts of a name; empty ones too."""
    parsed = parse(name, zone, zonal)
    if parsed is None:
        return {"kubernetes/parse-error": lambda: PARSE_ERROR}
    parts = {
        "port-name": parsed.port,
        "protocol": parsed.protocol,
        "endpoint": parsed.endpoint,
        "service": parsed.service,
        "namespace": parsed.namespace,
        "kind": parsed.kind,
    }
    if zonal:
        parts["zone"] = parsed.zone
    return {f"kubernetes/{label}": _giving(part) for label, part in parts.items()}


def client_facts(store: Store, address: str) -> Facts:
    """The first Pod at an address, with its labels."""
    pods = store.pods_by_ip(address)
    if not pods:
        return {}
    parts = {"client-namespace": pods[0].namespace, "client-pod-name": pods[0].name}
    parts |= {f"client-label/{key}": value for key, value in pods[0].labels}
    return {f"kubernetes/{label}": _giving(part) for label, part in parts.items()}


def _giving(text: str) -> Callable[[], str]:
    return lambda: text

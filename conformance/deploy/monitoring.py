"""The expressions in `deploy/monitoring`: those of the alerts, and those of the dashboard. Knows no PromQL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from conformance.kubernetes.objects import Object
from conformance.objects import Loader

FOLDER = Path(__file__).parents[2] / "deploy" / "monitoring"
VARIABLES = {"$__rate_interval": "5m", "$job": "kube-dns", "$instance": ".*"}
"""What Grafana puts in the place of its variables."""

OWN = {
    "coredns_kubernetes_api_up",
    "coredns_kubernetes_synced",
    "coredns_reload_last_successful",
    "coredns_packet_cache_hits_total",
    "coredns_shed_dropped_total",
}
"""Metrics that CoreDNS does not have (the last one without its plugin *shed*)."""


def rules() -> Object:
    """The groups of rules, as Prometheus reads them from a file."""
    for document in yaml.load_all((FOLDER / "rules.yaml").read_text(), Loader):
        if document["kind"] == "PrometheusRule":
            spec: Object = document["spec"]
            return spec
    raise ValueError("no PrometheusRule in rules.yaml")


def alerts() -> list[Object]:
    """All alerts."""
    return [rule for group in rules()["groups"] for rule in group["rules"]]


def dashboard() -> Object:
    """The dashboard, as Grafana reads it."""
    board: Object = json.loads((FOLDER / "pydns.json").read_text())
    return board


def targets() -> Iterator[tuple[str, Object]]:
    """The titles of the panels, each with one of its queries."""
    for panel in dashboard()["panels"]:
        yield from ((panel["title"], target) for target in panel.get("targets", ()))


def expressions() -> dict[str, str]:
    """All expressions by a name for people; Grafana's variables are filled in."""
    found = {f"alert {alert['alert']}": alert["expr"] for alert in alerts()}
    for number, (title, target) in enumerate(targets(), 1):
        found[f"panel {title}, query {number}"] = filled_in(target["expr"])
    return found


def filled_in(expression: Any) -> str:
    text = str(expression)
    for name, value in VARIABLES.items():
        text = text.replace(name, value)
    return text

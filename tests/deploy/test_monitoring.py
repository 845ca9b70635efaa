"""Alerts say what to do and are documented; the dashboard's panels have room and words, and legends that exist."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from conformance.deploy import monitoring
from conformance.deploy.promql import read

OPERATIONS = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
ALERTS = monitoring.alerts()
PANELS: list[dict[str, Any]] = monitoring.dashboard()["panels"]
COLUMNS = 24
"""Of Grafana's grid."""


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_says_what_is_wrong_and_what_to_do(alert: dict[str, Any]) -> None:
    assert alert["annotations"].keys() == {"summary", "description", "action"}
    assert re.fullmatch(r"\d+m", alert["for"])
    assert alert["labels"]["severity"] in ("critical", "warning")


def test_the_page_lists_all_alerts_with_their_severity() -> None:
    listed = re.findall(r"^\| `(Pydns\w+)`(, critical)? \|", OPERATIONS, re.MULTILINE)
    assert {name: bool(critical) for name, critical in listed} == {
        alert["alert"]: alert["labels"]["severity"] == "critical" for alert in ALERTS
    }


def test_the_page_lists_what_is_of_pydns_alone() -> None:
    listed = re.findall(r"^\| `(coredns_\w+)", OPERATIONS, re.MULTILINE)
    used = {one.metric for text in monitoring.expressions().values() for one in read(text).selectors}
    assert sorted(listed) == sorted(monitoring.OWN)
    assert used >= monitoring.OWN


def test_panels_have_words_and_numbers_of_their_own() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    shown = [panel for panel in PANELS if panel["type"] != "row"]
    assert all(panel["title"] and panel["description"].endswith(".") for panel in shown)
    assert len({panel["title"] for panel in shown}) == len(shown)


def test_panels_do_not_overlap() -> None:
    places = [panel["gridPos"] for panel in PANELS]
    assert all(place["x"] + place["w"] <= COLUMNS for place in places)
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


@pytest.mark.parametrize(("title", "target"), list(monitoring.targets()))
def test_a_legend_names_labels_that_are_left(title: str, target: dict[str, Any]) -> None:
    """Those that are grouped by; a metric that is shown as it is keeps all its own."""
    asked = read(target["expr"])
    named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
    plain = re.match(r"(rate\()?\w+\{", target["expr"]) is not None
    assert named <= asked.groupings | ({"instance", "zone"} if plain else set())

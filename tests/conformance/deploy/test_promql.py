"""Metrics and labels of PromQL expressions, and what a page of metrics lacks of them."""

from __future__ import annotations

import pytest

from conformance.deploy.promql import exposed, lacking, read

PAGE = """# HELP a_total Things.
# TYPE a_total counter
a_total{kind="x, y=\\"z\\"",server="dns://:53"} 3.0
a_seconds_bucket{le="+Inf"} 1
plain 0
"""


@pytest.mark.parametrize(
    ("expression", "selectors", "groupings"),
    [
        ("a_total", {"a_total": ""}, ""),
        ('absent(up{job="kube-dns"} == 1)', {"up": "job"}, ""),
        ('sum by (job, to) (rate(a_total{x="{}", y=~"b|c"}[5m])) > 0', {"a_total": "x y"}, "job to"),
        ("sum(rate(a[1h] offset 5m)) by (le) / ignoring (x) group_left b", {"a": "", "b": ""}, "le x"),
        ("histogram_quantile(0.99, sum by (le) (rate(a_bucket[$__rate_interval])))", {"a_bucket": ""}, "le"),
        ("(a or vector(0)) - 1e6 * b", {"a": "", "b": ""}, ""),
        ('a{instance=~"$instance"} unless on (zone) group_right (x) b', {"a": "instance", "b": ""}, "zone x"),
    ],
)
def test_an_expression_is_taken_apart(expression: str, selectors: dict[str, str], groupings: str) -> None:
    asked = read(expression)
    assert {metric: set(labels) for metric, labels in asked.selectors} == {
        metric: set(labels.split()) for metric, labels in selectors.items()
    }
    assert asked.groupings == set(groupings.split())


def test_a_page_has_names_and_labels() -> None:
    found = exposed(PAGE)
    assert {name: found[name] for name in ("a_seconds_bucket", "plain")} == {"a_seconds_bucket": {"le"}, "plain": set()}
    assert {"kind", "server"} <= found["a_total"]


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ('sum by (kind, job) (a_total{server="x", pod="y"})', []),
        ('b_total{server="x"}', ["no metric b_total"]),
        ('a_total{zone="x"}', ["no label zone in a_total"]),
        ("sum by (zone) (a_total)", ["no label zone to group by"]),
    ],
)
def test_what_is_lacking_is_told(expression: str, missing: list[str]) -> None:
    assert list(lacking(read(expression), exposed(PAGE))) == missing

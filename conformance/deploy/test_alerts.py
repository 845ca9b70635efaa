"""Alerts go off when they should, and no other: by Prometheus's own promtool, on made-up series."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.deploy import monitoring


def promtool(*words: str) -> str:
    """What promtool says; fails where it finds something wrong."""
    program = shutil.which("promtool")
    if program is None:
        pytest.fail("promtool is missing: it is in Debian's package prometheus, and in Prometheus's own archives")
    run = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def write(path: Path, content: object) -> str:
    path.write_text(json.dumps(content))  # JSON is YAML
    return str(path)


async def test_every_expression_is_promql(tmp_path: Path) -> None:
    queries = [
        {"record": f"query:{number}", "expr": text} for number, text in enumerate(monitoring.expressions().values())
    ]
    groups = [*monitoring.rules()["groups"], {"name": "all", "rules": queries}]
    said = await asyncio.to_thread(promtool, "check", "rules", write(tmp_path / "rules.yaml", {"groups": groups}))
    assert f"{len(queries) + len(monitoring.alerts())} rules found" in said


AT = 'job="kube-dns", instance="10.0.0.1:9153", pod="pydns-1"'
QUIET = {
    f"up{{{AT}}}": "1x60",
    f'coredns_kubernetes_synced{{{AT}, zone="cluster.local."}}': "1x60",
    f'coredns_kubernetes_api_up{{{AT}, zone="cluster.local."}}': "1x60",
    f"coredns_reload_last_successful{{{AT}}}": "1x60",
    f"coredns_forward_healthcheck_broken_total{{{AT}}}": "3x60",
    f"coredns_forward_max_concurrent_rejects_total{{{AT}}}": "3x60",
    f'coredns_proxy_healthcheck_failures_total{{{AT}, to="10.0.0.9:53"}}': "3x60",
    f'coredns_dns_responses_total{{{AT}, rcode="NOERROR"}}': "0+1000x60",
    f'coredns_dns_responses_total{{{AT}, rcode="SERVFAIL"}}': "0+10x60",
    f"coredns_panics_total{{{AT}}}": "1x60",
    f"process_resident_memory_bytes{{{AT}}}": "60000000x60",
}
"""A healthy server for an hour: a sample a minute."""


def times(family: str, bound: str, more: str, within: str, total: str) -> dict[str, str]:
    """A histogram of which `within` are the observations up to `bound`, and `total` those with the rest beyond."""
    return {
        f'{family}_bucket{{{AT}, le="{bound}"{more}}}': within,
        f'{family}_bucket{{{AT}, le="100"{more}}}': total,
        f'{family}_bucket{{{AT}, le="+Inf"{more}}}': total,
        f"{family}_count{{{AT}{more}}}": total,
    }


HISTOGRAMS = {
    "PydnsUpstreamSlow": ("coredns_proxy_request_duration_seconds", "1.024", ', to="10.0.0.9:53"'),
    "PydnsSlow": ("coredns_dns_request_duration_seconds", "1.024", ""),
    "PydnsProgrammingSlow": ("coredns_kubernetes_dns_programming_duration_seconds", "32.768", ""),
    "PydnsOverloaded": ("coredns_health_request_duration_seconds", "0.025", ""),
}
WELL = {
    series: values
    for family, bound, more in HISTOGRAMS.values()
    for series, values in times(family, bound, more, "0+100x60", "0+100x60").items()
}
FIRING: dict[str, tuple[int, dict[str, str]]] = {
    "PydnsDown": (3, {f"up{{{AT}}}": "0x60"}),
    "PydnsReplicaDown": (11, {f"up{{{AT}}}": "0x60"}),
    "PydnsNotSynced": (3, {f'coredns_kubernetes_synced{{{AT}, zone="cluster.local."}}': "0x60"}),
    "PydnsApiAway": (6, {f'coredns_kubernetes_api_up{{{AT}, zone="cluster.local."}}': "0x60"}),
    "PydnsReloadFailed": (2, {f"coredns_reload_last_successful{{{AT}}}": "0x60"}),
    "PydnsUpstreamFailing": (
        15,
        {f'coredns_proxy_healthcheck_failures_total{{{AT}, to="10.0.0.9:53"}}': "0+10x60"},
    ),
    "PydnsUpstreamsAllFailing": (10, {f"coredns_forward_healthcheck_broken_total{{{AT}}}": "0+10x60"}),
    "PydnsForwardRejects": (15, {f"coredns_forward_max_concurrent_rejects_total{{{AT}}}": "0+10x60"}),
    "PydnsServfail": (20, {f'coredns_dns_responses_total{{{AT}, rcode="SERVFAIL"}}': "0+60x60"}),
    "PydnsPanics": (5, {f"coredns_panics_total{{{AT}}}": "0+1x60"}),
    "PydnsQueriesDropped": (15, {f'coredns_shed_dropped_total{{{AT}, reason="in_flight"}}': "0+10x60"}),
    "PydnsMemory": (20, {f"process_resident_memory_bytes{{{AT}}}": "170000000x60"}),
    **{alert: (30, times(*histogram, "0+50x60", "0+100x60")) for alert, histogram in HISTOGRAMS.items()},
}
"""By alert, the minute at which it goes off, and what is otherwise than with a healthy server."""
TOGETHER = {"PydnsDown": {"PydnsReplicaDown"}, "PydnsReplicaDown": {"PydnsDown"}}
"""Alerts that go off with another one: here the only server is down."""
TOO_EARLY = {"PydnsReplicaDown": {"PydnsDown"}}
"""What goes off while another one still waits."""

NIGHT = (
    QUIET
    | dict.fromkeys(WELL, "0x60")
    | {f'coredns_dns_responses_total{{{AT}, rcode="{rcode}"}}': "0x60" for rcode in ("NOERROR", "SERVFAIL")}
)
"""A healthy server that nobody asks."""
NOW = 'count by (alertname) (ALERTS{alertstate="firing"})'
FEW = {"one event": "0x9 1x50", "one event a minute": "0+1x60", "one burst": "0x9 1000x50"}
COUNTERS = (
    "PydnsUpstreamFailing",
    "PydnsUpstreamsAllFailing",
    "PydnsForwardRejects",
    "PydnsServfail",
    "PydnsQueriesDropped",
)
GAUGES = ("PydnsDown", "PydnsReplicaDown", "PydnsNotSynced", "PydnsApiAway", "PydnsReloadFailed", "PydnsMemory")
FOR_NOTHING: dict[str, dict[str, str]] = {
    **{
        f"{alert}, {kind}": dict.fromkeys(FIRING[alert][1], values)
        for alert in COUNTERS
        for kind, values in FEW.items()
    },
    **{
        f"{alert}, {kind}": times(*HISTOGRAMS[alert], "0x60", values)
        for alert in ("PydnsUpstreamSlow", "PydnsSlow", "PydnsProgrammingSlow")
        for kind, values in FEW.items()
    },
    "PydnsOverloaded, one event": times(*HISTOGRAMS["PydnsOverloaded"], "0+60x9 599+60x50", "0+60x60"),
    **{
        f"{alert}, one event": {
            series: f"{QUIET[series].removesuffix('x60')}x9 {bad.removesuffix('x60')}x0 {QUIET[series]}"
            for series, bad in FIRING[alert][1].items()
        }
        for alert in GAUGES
    },
}
"""What wakes nobody: by the alert that looks at it, a bad scrape, or queries that all go wrong but are few."""


def never(name: str, series: Mapping[str, str], but: set[str]) -> object:
    """As promtool takes it: no alert goes off in the whole hour, `but` these."""
    within = 'count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[1h]))'
    return unit_test(name, series, 60, but, within)


def unit_test(name: str, series: Mapping[str, str], minute: int, firing: set[str], expr: str = NOW) -> object:
    """As promtool takes it: which alerts go off at a minute."""
    samples = [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in sorted(firing)]
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": one, "values": values} for one, values in series.items()],
        "promql_expr_test": [
            {
                "expr": expr,
                "eval_time": f"{minute}m",
                "exp_samples": samples,
            }
        ],
    }


async def test_each_alert_goes_off_when_it_should_and_no_other(tmp_path: Path) -> None:
    assert FIRING.keys() == {alert["alert"] for alert in monitoring.alerts()}
    tests = [unit_test("a healthy server", QUIET | WELL, 60, set())]
    for alert in monitoring.alerts():
        name, patience = alert["alert"], int(alert["for"].removesuffix("m"))
        minute, otherwise = FIRING[name]
        with_it = {other for other in TOGETHER.get(name, set()) if FIRING[other][0] <= minute}
        series = QUIET | WELL | otherwise
        tests += [unit_test(name, series, minute, {name} | with_it)]
        tests += [unit_test(f"{name}, too early", series, patience - 1, TOO_EARLY.get(name, set()))]
    await prove(tmp_path, tests)


async def test_a_few_events_in_a_quiet_cluster_wake_nobody(tmp_path: Path) -> None:
    alerts = {alert["alert"] for alert in monitoring.alerts()}
    one_is_enough = {"PydnsPanics"}
    assert {row.partition(",")[0] for row in FOR_NOTHING} == alerts - one_is_enough
    tests = [never(row, NIGHT | otherwise, set()) for row, otherwise in FOR_NOTHING.items()]
    panic = dict.fromkeys(FIRING["PydnsPanics"][1], FEW["one event"])
    await prove(tmp_path, [*tests, never("nobody asks", NIGHT, set()), never("a bug", NIGHT | panic, one_is_enough)])


async def prove(tmp_path: Path, tests: list[object]) -> None:
    """Has promtool look whether the rules do what the tests say."""
    content = {
        "rule_files": [write(tmp_path / "rules.yaml", monitoring.rules())],
        "evaluation_interval": "15s",
        "tests": tests,
    }
    await asyncio.to_thread(promtool, "test", "rules", write(tmp_path / "tests.yaml", content))

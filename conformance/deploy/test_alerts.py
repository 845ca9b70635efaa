"""Alerts go off when they should, and no other: by Prometheus's own promtool, on made-up series."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
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


def times(family: str, bound: str, share: int, more: str = "") -> dict[str, str]:
    """A histogram that gets 100 observations a minute, `share` of them up to `bound` and the rest beyond."""
    return {
        f'{family}_bucket{{{AT}, le="{bound}"{more}}}': f"0+{share}x60",
        f'{family}_bucket{{{AT}, le="100"{more}}}': "0+100x60",
        f'{family}_bucket{{{AT}, le="+Inf"{more}}}': "0+100x60",
        f"{family}_count{{{AT}{more}}}": "0+100x60",
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
    for series, values in times(family, bound, 100, more).items()
}
FIRING: dict[str, tuple[int, dict[str, str]]] = {
    "PydnsDown": (3, {f"up{{{AT}}}": "0x60"}),
    "PydnsReplicaDown": (11, {f"up{{{AT}}}": "0x60"}),
    "PydnsNotSynced": (3, {f'coredns_kubernetes_synced{{{AT}, zone="cluster.local."}}': "0x60"}),
    "PydnsApiAway": (6, {f'coredns_kubernetes_api_up{{{AT}, zone="cluster.local."}}': "0x60"}),
    "PydnsReloadFailed": (2, {f"coredns_reload_last_successful{{{AT}}}": "0x60"}),
    "PydnsUpstreamFailing": (
        10,
        {f'coredns_proxy_healthcheck_failures_total{{{AT}, to="10.0.0.9:53"}}': "0+5x60"},
    ),
    "PydnsUpstreamsAllFailing": (10, {f"coredns_forward_healthcheck_broken_total{{{AT}}}": "0+5x60"}),
    "PydnsForwardRejects": (10, {f"coredns_forward_max_concurrent_rejects_total{{{AT}}}": "0+5x60"}),
    "PydnsServfail": (20, {f'coredns_dns_responses_total{{{AT}, rcode="SERVFAIL"}}': "0+60x60"}),
    "PydnsPanics": (5, {f"coredns_panics_total{{{AT}}}": "0+1x60"}),
    "PydnsQueriesDropped": (10, {f'coredns_shed_dropped_total{{{AT}, reason="in_flight"}}': "0+5x60"}),
    "PydnsMemory": (20, {f"process_resident_memory_bytes{{{AT}}}": "170000000x60"}),
    **{alert: (30, times(family, bound, 50, more)) for alert, (family, bound, more) in HISTOGRAMS.items()},
}
"""By alert, the minute at which it goes off, and what is otherwise than with a healthy server."""
ONCE, LATER = "0x19 1x40", "0+1x19 20+1x39"
"""A counter of the twentieth minute's one event; and one that counts each minute's event but that one."""


def one_late(family: str, bound: str, more: str = "") -> dict[str, str]:
    """A histogram with an observation a minute, of which the twentieth was beyond the bound."""
    every = "0+1x59"
    return times(family, bound, 100, more) | {
        f'{family}_bucket{{{AT}, le="{bound}"{more}}}': LATER,
        f'{family}_bucket{{{AT}, le="100"{more}}}': every,
        f'{family}_bucket{{{AT}, le="+Inf"{more}}}': every,
        f"{family}_count{{{AT}{more}}}": every,
    }


SINGLE: dict[str, dict[str, str]] = {
    "PydnsUpstreamFailing": {f'coredns_proxy_healthcheck_failures_total{{{AT}, to="10.0.0.9:53"}}': ONCE},
    "PydnsUpstreamsAllFailing": {f"coredns_forward_healthcheck_broken_total{{{AT}}}": ONCE},
    "PydnsForwardRejects": {f"coredns_forward_max_concurrent_rejects_total{{{AT}}}": ONCE},
    "PydnsServfail": {
        f'coredns_dns_responses_total{{{AT}, rcode="NOERROR"}}': "0+1x59",
        f'coredns_dns_responses_total{{{AT}, rcode="SERVFAIL"}}': "0x19 1x9 2x9 3x20",
    },
    "PydnsQueriesDropped": {f'coredns_shed_dropped_total{{{AT}, reason="in_flight"}}': ONCE},
    "PydnsOverloaded": times("coredns_health_request_duration_seconds", "0.025", 99),
    **{name: one_late(*HISTOGRAMS[name]) for name in ("PydnsUpstreamSlow", "PydnsSlow", "PydnsProgrammingSlow")},
}
"""By alert that counts events, a quiet night with one of them; of SERVFAIL, which is common, one in ten minutes."""
NO_COUNT = {
    "PydnsDown", "PydnsReplicaDown", "PydnsNotSynced", "PydnsApiAway", "PydnsReloadFailed", "PydnsMemory", "PydnsPanics"
}  # fmt: skip
"""Alerts about what is so at the moment; and one for which a single event is enough."""
TOGETHER = {"PydnsDown": {"PydnsReplicaDown"}, "PydnsReplicaDown": {"PydnsDown"}}
"""Alerts that go off with another one: here the only server is down."""
TOO_EARLY = {"PydnsReplicaDown": {"PydnsDown"}}
"""What goes off while another one still waits."""


def unit_test(name: str, series: Mapping[str, str], minute: int, firing: set[str]) -> object:
    """As promtool takes it: which alerts go off at a minute."""
    samples = [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in sorted(firing)]
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": one, "values": values} for one, values in series.items()],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
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
    await judge(tmp_path, tests)


async def test_a_single_event_in_a_quiet_night_sets_off_nothing(tmp_path: Path) -> None:
    assert FIRING.keys() == SINGLE.keys() | NO_COUNT
    tests = [
        unit_test(f"{name}, one event", QUIET | WELL | otherwise, minute, set())
        for name, otherwise in SINGLE.items()
        for minute in range(20, 45)
    ]
    await judge(tmp_path, tests)


async def judge(folder: Path, tests: Sequence[object]) -> None:
    """Has promtool run unit tests of the rules."""
    content = {
        "rule_files": [write(folder / "rules.yaml", monitoring.rules())],
        "evaluation_interval": "1m",
        "tests": tests,
    }
    await asyncio.to_thread(promtool, "test", "rules", write(folder / "tests.yaml", content))

"""Every metric and label that the alerts and the dashboard name is there, in pydns and in CoreDNS."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conformance.deploy import monitoring
from conformance.deploy.ground import Ground, Pod, filled, serving, until
from conformance.deploy.promql import exposed, lacking, read
from conformance.deploy.test_rights import ACCOUNT, OBJECTS, with_objects
from conformance.servers.ports import free_port
from conformance.wire.client import ask
from conformance.wire.question import parse_question

COREFILE = """.:{dns} {
    errors
    health 127.0.0.1:{health}
    ready 127.0.0.1:{ready}
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods verified
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    prometheus 127.0.0.1:{metrics}
    forward . 127.0.0.1:{upstream} 127.0.0.1:{away} {
        max_concurrent 1000
    }
    cache 30 {
        disable success cluster.local
        disable denial cluster.local
    }
    reload
    loadbalance
}
example.org:{upstream} {
    hosts {
        192.0.2.1 www.example.org
    }
}
"""
"""kubeadm's, with an upstream that answers and one that is away."""

QUESTIONS = (
    *["web.shop.svc.cluster.local. A"] * 3,
    "web.shop.svc.cluster.local. A +tcp",
    "nothing.shop.svc.cluster.local. A",
    *["www.example.org. A"] * 3,
    *[f"{number}.example.org. A" for number in range(20)],
)
TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
SELDOM = {"coredns_shed_dropped_total": {"server", "reason"}, "up": set[str]()}
"""What a page shows only after a flood, and what Prometheus writes by itself."""


def page_of(metrics: str) -> dict[str, set[str]]:
    found = exposed(metrics)
    families = {line.split()[2] for line in metrics.splitlines() if line.startswith("# TYPE ")}
    return found | {name: labels for name, labels in SELDOM.items() if name in families or name == "up"}


async def ask_everything(ground: Ground, pod: Pod) -> None:
    for text in QUESTIONS:
        await ask(parse_question(text, "."), pod.running.port)
    [slice_] = [dict(item) for item in OBJECTS if item["kind"] == "EndpointSlice"]
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    await ground.apply([{**slice_, "metadata": {**slice_["metadata"], "annotations": {TRIGGER: now}}}])


async def page_with_everything(ground: Ground, subject: str, folder: Path) -> dict[str, set[str]]:
    """What a server shows once each kind of thing has happened; waits for what takes time."""
    await with_objects(ground)
    corefile = filled(COREFILE, {name: free_port() for name in ("health", "upstream", "away")})
    page: dict[str, set[str]] = {}
    async with serving(ground, ACCOUNT, corefile, folder, subject) as pod:
        await ask_everything(ground, pod)

        async def complete() -> bool:
            page.update(page_of(await pod.metrics()))
            return not any(missing(page, subject).values())

        await until(complete)
    return page


def missing(page: Mapping[str, set[str]], subject: str) -> dict[str, list[str]]:
    """By the name of each expression, what of it the page lacks; CoreDNS need not have what is pydns's own."""
    known = dict(page)
    if subject == "coredns":
        assert not monitoring.OWN & page.keys()
        known |= {name: {"server", "proto", "zone", "reason"} for name in monitoring.OWN}
    return {name: list(lacking(read(text), known)) for name, text in monitoring.expressions().items()}


@pytest.mark.parametrize("subject", ["pydns", "coredns"])
async def test_every_metric_and_label_is_there(ground: Ground, subject: str, tmp_path: Path) -> None:
    page = await page_with_everything(ground, subject, tmp_path)
    assert {name: words for name, words in missing(page, subject).items() if words} == {}

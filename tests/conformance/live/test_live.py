"""Clusters by kubeconfig: what is created, asked and removed. Behind kubectl stands a folder, and pydns serves it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.live import namespaces, outside, pod
from conformance.live.kubectl import last_words, open_kubectl
from conformance.live.reach import reach, zone_in
from conformance.plan import Plan
from conformance.results import Outcome, Verdict
from conformance.servers import subjects
from conformance.servers.ports import free_port
from conformance.setting import Setting
from conformance.spec.ground import GroundError
from conformance.spec_jobs import jobs, opened
from conformance.suite import run_jobs
from conformance.wire.client import Direct

ROOT = Path(__file__).parents[3]

COREFILE = """
.:{port} {{
    kubernetes cluster.local in-addr.arpa ip6.arpa
}}
"""


class Folder:
    """A cluster in a folder, and its kubeconfig."""

    def __init__(self, folder: Path) -> None:
        self.objects = folder / "objects"
        self.objects.mkdir()
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text("{}")
        self.add("Service", "default", "kubernetes", spec={"clusterIP": "10.96.0.1", "ports": [HTTPS]})

    def add(self, kind: str, namespace: str, name: str, **more: Any) -> None:
        metadata = {"name": name, "namespace": namespace, **more.pop("metadata", {})}
        object = {"apiVersion": "v1", "kind": kind, "metadata": metadata, **more}
        (self.objects / f"{kind}.{namespace}.{name}.json").write_text(json.dumps(object))

    def mark(self, name: str, text: str = "") -> None:
        (self.objects / name).write_text(text)

    @property
    def namespaces(self) -> list[str]:
        return sorted(path.name.split(".")[2] for path in self.objects.glob("Namespace.*"))


HTTPS = {"name": "https", "port": 443, "protocol": "TCP"}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """kubectl on the PATH is the scripted one, and none is built."""
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m tests.conformance.live.scripted_kubectl "$@"\n')
    program.chmod(0o700)
    cluster = Folder(tmp_path)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("CLUSTER", str(cluster.objects))
    monkeypatch.setenv("PYDNS_CONFORMANCE_CACHE", str(tmp_path / "none"))
    return cluster


@asynccontextmanager
async def serving(cluster: Folder, folder: Path) -> AsyncIterator[int]:
    """pydns with the cluster's folder; gives its port."""
    port = free_port()
    corefile = folder / "Corefile"
    corefile.write_text(COREFILE.format(port=port))
    async with subjects.start("pydns", corefile, port, words=["--manifests", str(cluster.objects)]):
        yield port


async def run(plan: Plan) -> list[Outcome]:
    async with Setting(plan, real_api=False) as setting, opened(jobs(plan), setting):
        return await run_jobs(jobs(plan), setting, 5, Silent())


def verdicts(outcomes: list[Outcome]) -> list[Verdict]:
    return [verdict for outcome in outcomes for verdict in outcome.verdicts]


class Silent:
    def began(self, name: str) -> None:
        pass

    def done(self, outcome: Outcome) -> None:
        pass


async def test_a_cluster_is_judged_and_nothing_of_it_stays(cluster: Folder, tmp_path: Path) -> None:
    async with serving(cluster, tmp_path) as port:
        outcomes = await run(Plan(f"127.0.0.1:{port}", "expected", kubeconfig=cluster.kubeconfig))
    assert [verdict.problems for verdict in verdicts(outcomes) if verdict.problems] == []
    assert {"R4", "R10", "R19", "R26"} <= {tag for verdict in verdicts(outcomes) for tag in verdict.tags}
    assert cluster.namespaces == []


async def test_a_dns_that_is_not_reachable_is_asked_through_a_pod(cluster: Folder, tmp_path: Path) -> None:
    closed = free_port()
    ports = [{"name": "dns", "port": closed, "protocol": "UDP"}]
    cluster.add("Service", "kube-system", "kube-dns", spec={"clusterIP": "127.0.0.1", "ports": ports})
    async with serving(cluster, tmp_path) as port:
        cluster.mark("pod-port", f"{closed} {port}")
        plan = Plan("cluster", "expected", kubeconfig=cluster.kubeconfig, dns_service="kube-system/kube-dns")
        outcomes = await run(plan)
    assert [verdict.problems for verdict in verdicts(outcomes) if verdict.problems] == []
    assert len(verdicts(outcomes)) > 700
    assert cluster.namespaces == []


async def test_an_audit_creates_nothing(cluster: Folder, tmp_path: Path) -> None:
    cluster.mark("refuse-create")
    async with serving(cluster, tmp_path) as port:
        plan = Plan(f"127.0.0.1:{port}", "expected", kubeconfig=cluster.kubeconfig, audit=True, limit=5)
        outcomes = await run(plan)
    assert [(outcome.name, outcome.absent, outcome.skipped) for outcome in outcomes if not outcome.verdicts] == [
        ("spec/headless", "this cluster has no headless Services", ""),
        ("spec/externalname", "this cluster has no ExternalName Services", ""),
    ]
    assert {verdict.text for verdict in verdicts(outcomes) if verdict.tags == ("R3",)} == {
        "kubernetes.default.svc.cluster.local. A"
    }


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupted_run_leaves_no_namespace(cluster: Folder, tmp_path: Path, number: signal.Signals) -> None:
    """The server serves other objects, so that the run waits for its own until it is interrupted."""
    other = Folder(made(tmp_path / "other"))
    async with serving(other, tmp_path) as port:
        words = ["--kubeconfig", str(cluster.kubeconfig), "--subject", f"127.0.0.1:{port}"]
        status, errors = await asyncio.to_thread(interrupted, cluster, words, number)
    assert (status, cluster.namespaces) == (130, []), errors


def interrupted(cluster: Folder, words: list[str], number: signal.Signals) -> tuple[int, str]:
    """Runs the suite, and sends it a signal as soon as its last object is there."""
    command = [sys.executable, "-m", "conformance", *words]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until(process, lambda: any(cluster.objects.glob("Service.*.zz-last.json")))
            process.send_signal(number)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    return process.returncode, errors


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def wait_until(process: subprocess.Popen[str], true: Callable[[], bool]) -> None:
    while not true():
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)


# --- errors ----------------------------------------------------------------------------------------------------


def fails(message: str) -> Any:
    return pytest.raises(GroundError, match=message)


async def test_an_account_that_may_not_create_namespaces_is_told_the_verb(cluster: Folder, tmp_path: Path) -> None:
    cluster.mark("refuse-create")
    async with serving(cluster, tmp_path) as port:
        plan = Plan(f"127.0.0.1:{port}", "expected", kubeconfig=cluster.kubeconfig)
        with fails(r"cannot create its namespaces with .*: .*User \"me\" cannot create resource \"namespaces\""):
            await run(plan)


async def test_nothing_is_created_for_an_address_that_refuses(cluster: Folder) -> None:
    """`refuse-create` would tell of the namespaces, had the suite come so far."""
    cluster.mark("refuse-create")
    plan = Plan("127.0.0.1:1", "expected", kubeconfig=cluster.kubeconfig)
    with fails("^127.0.0.1:1 does not answer: Connection refused$"):
        await run(plan)


async def test_nothing_is_created_for_a_server_of_another_zone(cluster: Folder, tmp_path: Path) -> None:
    cluster.mark("refuse-create")
    async with serving(cluster, tmp_path) as port:
        plan = Plan(f"127.0.0.1:{port}", "expected", kubeconfig=cluster.kubeconfig, zone="other.test.")
        with fails("answers SERVFAIL to kubernetes.default.svc.other.test.: is it the DNS of a cluster"):
            await run(plan)


async def test_nothing_is_created_for_a_dns_service_that_is_not_there(cluster: Folder) -> None:
    cluster.mark("refuse-create")
    plan = Plan("cluster", "expected", kubeconfig=cluster.kubeconfig, dns_service="kube-system/other")
    with fails("the cluster's DNS is not Service kube-system/other"):
        await run(plan)


async def test_a_server_that_says_nothing_is_told_from_one_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.live.reach.REFUSAL_TIME", 0.01)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        with fails(r"^it does not answer: no reply to kubernetes.* \(asked 3 times over UDP\)$"):
            await reach(Direct("127.0.0.1", silent.getsockname()[1]), "it", seconds=0.01)


async def test_a_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    with fails("kubeconfig .*/none: No such file"):
        open_kubectl(tmp_path / "none", "")


async def test_without_kubectl_it_is_said_how_to_get_it(cluster: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with fails("kubectl is missing: install it, or build it with"):
        open_kubectl(cluster.kubeconfig, "")


async def test_a_cluster_whose_dns_has_another_name(cluster: Folder) -> None:
    plan = Plan("cluster", "expected", kubeconfig=cluster.kubeconfig, dns_service="kube-system/kube-dns")
    with fails('the cluster\'s DNS is not Service kube-system/kube-dns .--dns-service.: .* "kube-dns" not found'):
        await run(plan)
    assert cluster.namespaces == []


WAITS: dict[str, Any] = {
    "phase": "Pending",
    "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
    "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}],
}


async def test_a_pod_that_does_not_start_is_explained(cluster: Folder) -> None:
    cluster.mark("pod-status.json", json.dumps({"status": WAITS}))
    cluster.add("Event", "ns", "one", reason="Failed", message="pull failed")
    with fails(
        "(?s)image nosuch:1 does not .*ContainersNotReady.*ImagePullBackOff: no such image.*Failed: pull failed"
    ):
        await pod.start(open_kubectl(cluster.kubeconfig, ""), "ns", "nosuch:1")


@pytest.mark.parametrize("change", [{"spec": {"clusterIP": "None"}}])
async def test_a_dns_service_without_an_address(cluster: Folder, change: dict[str, Any]) -> None:
    cluster.add("Service", "kube-system", "kube-dns", **change)
    with fails("has no ClusterIP: give an address with --subject"):
        await outside.dns_service(open_kubectl(cluster.kubeconfig, ""), "kube-system/kube-dns")


async def test_what_a_killed_run_left_over_is_named(cluster: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    for name, made in (
        ("conformance-old-shop", "2020-01-01T00:00:00Z"),
        ("conformance-new-shop", "2999-01-01T00:00:00Z"),
    ):
        metadata = {"labels": {namespaces.LABEL: "old"}, "creationTimestamp": made}
        cluster.add("Namespace", "", name, metadata=metadata)
    await namespaces.hint_at_leftovers(open_kubectl(cluster.kubeconfig, ""))
    assert capsys.readouterr().err == (
        "conformance: left over by an earlier run: conformance-old-shop; remove with: kubectl delete namespace"
        " conformance-old-shop\n"
    )


async def test_namespaces_that_cannot_be_removed_are_named(cluster: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    kubectl = open_kubectl(cluster.kubeconfig, "")
    async with namespaces.namespaces(kubectl, "conformance-1"):
        cluster.mark("refuse-delete")
    assert "remove them with: kubectl delete namespace -l dns-conformance/run=conformance-1" in capsys.readouterr().err


async def test_a_cluster_without_ipv6_gets_no_object_that_needs_it(cluster: Folder) -> None:
    cluster.mark("ipv4-only")
    missing = await namespaces.fill(open_kubectl(cluster.kubeconfig, ""), "conformance-1", "cluster.local.")
    assert missing == ["IPv6 ClusterIPs (R4, R10)"]
    made = {path.name.split(".")[2] for path in cluster.objects.glob("Service.conformance-1-shop.*")}
    assert (made & {"dual", "six"}, "zz-last" in made) == ({"dual"}, True)


# --- small things ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("search shop.svc.cluster.local svc.cluster.local cluster.local corp.example\n", "cluster.local."),
        ("nameserver 10.96.0.10\nsearch a.svc.K8S.test. svc.K8S.test. K8S.test.\n", "K8S.test."),
        ("search corp.example\n", ""),
        ("", ""),
    ],
)
def test_the_zone_in_a_resolv_conf(text: str, zone: str) -> None:
    assert zone_in(text) == zone


def test_log_lines_and_repetitions_are_no_part_of_an_error() -> None:
    errors = 'E1130 13:05:11.123456 1 memcache.go:265] "x"\nerror: no\nerror: no\n'
    assert last_words(errors) == "error: no"
    assert last_words("") == "kubectl failed and did not say why"

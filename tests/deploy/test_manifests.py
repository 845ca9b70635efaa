"""What `deploy/` gives a cluster: Corefiles that are served, rights that are the least, labels that fit each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pydns.corefile.parser import parse
from pydns.registry import ORDER, PLUGINS

DEPLOY = Path(__file__).parents[2] / "deploy"
BASE, OVERLAYS = DEPLOY / "base", DEPLOY / "overlays"
UPSTREAM = {"KUBE_DNS_UPSTREAM_SERVICE_HOST": "10.96.0.99"}
WORKLOADS = ("Deployment", "DaemonSet")

Object = dict[str, Any]


def objects(*folders: Path) -> Iterator[Object]:
    for folder in folders:
        for file in sorted(folder.glob("*.yaml")):
            if file.name != "kustomization.yaml":
                yield from yaml.safe_load_all(file.read_text())


def one(kind: str, folder: Path = BASE) -> Object:
    [found] = [item for item in objects(folder) if item["kind"] == kind]
    return found


def pod_spec(workload: Object) -> Object:
    spec: Object = workload["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("file", [BASE / "Corefile", OVERLAYS / "nodelocal" / "Corefile"], ids=["base", "nodelocal"])
def test_a_corefile_has_only_plugins_that_are_served(file: Path) -> None:
    blocks = parse(file.read_text(), environ=UPSTREAM, plugins=ORDER).blocks
    assert blocks
    assert {line.name for block in blocks for line in block.lines} <= set(PLUGINS)


def test_the_role_has_what_is_watched_and_nothing_else() -> None:
    rules = one("ClusterRole")["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"list", "watch"}
    assert {(rule["apiGroups"][0], what) for rule in rules for what in rule["resources"]} == {
        ("", "namespaces"),
        ("", "pods"),
        ("", "services"),
        ("discovery.k8s.io", "endpointslices"),
    }


@pytest.mark.parametrize("folder", [BASE, OVERLAYS / "nodelocal"], ids=["base", "nodelocal"])
def test_the_server_has_no_rights_but_port_53(folder: Path) -> None:
    [workload] = [item for item in objects(folder) if item["kind"] in WORKLOADS]
    [container] = pod_spec(workload)["containers"]
    context = container["securityContext"]
    assert context["capabilities"] == {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}
    assert context["readOnlyRootFilesystem"] and context["runAsNonRoot"] and not context["allowPrivilegeEscalation"]
    assert (context["runAsUser"], context["runAsGroup"]) == (65532, 65532)
    assert container["args"] == ["-conf", "/etc/coredns/Corefile"]


def test_the_base_is_what_kubelet_and_kubeadm_look_for() -> None:
    service, deployment = one("Service"), one("Deployment")
    assert (service["metadata"]["name"], service["spec"]["clusterIP"]) == ("kube-dns", "10.96.0.10")
    assert {(port["port"], port["protocol"]) for port in service["spec"]["ports"]} == {
        (53, "UDP"),
        (53, "TCP"),
        (9153, "TCP"),
    }
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    for selector in (service["spec"]["selector"], deployment["spec"]["selector"]["matchLabels"]):
        assert selector == {"k8s-app": "kube-dns"}
        assert selector.items() <= labels.items()
    assert pod_spec(deployment)["priorityClassName"] == "system-cluster-critical"


def test_ports_have_the_names_that_services_and_probes_use() -> None:
    [container] = pod_spec(one("Deployment"))["containers"]
    names = {port["name"] for port in container["ports"]}
    assert {port["targetPort"] for port in one("Service")["spec"]["ports"]} <= names
    assert {container[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")} <= names


def test_replacing_coredns_changes_its_image_and_nothing_else() -> None:
    deployment = one("Deployment", OVERLAYS / "replace")
    assert deployment["metadata"] == {"name": "coredns"}
    assert deployment["spec"] == {
        "template": {"spec": {"containers": [{"name": "coredns", "image": "pydns"}]}},
    }

"""What `deploy/` gives a cluster: Corefiles that are served, rights that are the least, labels that fit each other."""

from __future__ import annotations

import copy
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


# The base beside kubeadm's CoreDNS.

KUBEADM = DEPLOY.parent / "conformance" / "node" / "files" / "dns.yaml"
KUBEADM_COREFILE = DEPLOY.parent / "tests" / "corefiles" / "kubeadm.corefile"


def kubeadms(kind: str) -> Object:
    found: Object
    [found] = [item for item in yaml.safe_load_all(KUBEADM.read_text()) if item["kind"] == kind]
    return found


def settings(corefile: Path) -> list[list[str]]:
    """The words of each line, without comments and indentation."""
    return [line.split() for line in corefile.read_text().splitlines() if line and not line.startswith("#")]


def test_the_corefile_is_kubeadms() -> None:
    assert settings(BASE / "Corefile") == settings(KUBEADM_COREFILE)


def test_as_many_replicas_run_at_the_same_places() -> None:
    ours, theirs = one("Deployment")["spec"], kubeadms("Deployment")["spec"]
    assert ours["replicas"] == theirs["replicas"]
    assert ours["strategy"]["rollingUpdate"] == theirs["strategy"]["rollingUpdate"]
    pod, coredns = pod_spec(one("Deployment")), pod_spec(kubeadms("Deployment"))
    for field in ("priorityClassName", "dnsPolicy", "nodeSelector", "tolerations"):
        assert pod[field] == coredns[field], field
    [apart] = pod["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert apart["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"
    assert apart["podAffinityTerm"]["labelSelector"] == ours["selector"]


def test_the_container_has_the_same_ports_probes_and_resources() -> None:
    [ours], [theirs] = pod_spec(one("Deployment"))["containers"], pod_spec(kubeadms("Deployment"))["containers"]
    assert ours["ports"] == [{**port} for port in theirs["ports"]]
    assert ours["resources"] == theirs["resources"]
    for probe in ("livenessProbe", "readinessProbe"):
        assert ours[probe]["httpGet"] == {key: theirs[probe]["httpGet"][key] for key in ("path", "port")}
    liveness = {
        key: theirs["livenessProbe"][key] for key in ("initialDelaySeconds", "timeoutSeconds", "failureThreshold")
    }
    assert ours["livenessProbe"].items() >= liveness.items()


def test_the_service_is_found_like_kubeadms() -> None:
    ours, theirs = one("Service"), kubeadms("Service")
    assert ours["metadata"]["labels"] == theirs["metadata"]["labels"]
    assert ours["metadata"]["annotations"] == theirs["metadata"]["annotations"]
    numbers = {port["name"]: port["containerPort"] for port in pod_spec(one("Deployment"))["containers"][0]["ports"]}
    assert {port["name"]: numbers[port["targetPort"]] for port in ours["spec"]["ports"]} == {
        port["name"]: port["targetPort"] for port in theirs["spec"]["ports"]
    }


# Names that one file has from another.


def kustomization(folder: Path) -> Object:
    found: Object = yaml.safe_load((folder / "kustomization.yaml").read_text())
    return found


@pytest.mark.parametrize("folder", [BASE, OVERLAYS / "nodelocal"], ids=["base", "nodelocal"])
def test_the_corefile_is_mounted_where_it_is_read_and_edited_in_place(folder: Path) -> None:
    settings = kustomization(folder)
    [generated] = settings["configMapGenerator"]
    [workload] = [item for item in objects(folder) if item["kind"] in WORKLOADS]
    [volume], [container] = pod_spec(workload)["volumes"], pod_spec(workload)["containers"]
    assert volume["configMap"]["name"] == generated["name"]
    assert "Corefile" in generated["files"]
    assert container["volumeMounts"] == [{"name": volume["name"], "mountPath": "/etc/coredns", "readOnly": True}]
    assert settings["generatorOptions"] == {"disableNameSuffixHash": True}
    assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"
    assert container["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}


@pytest.mark.parametrize(
    "folder", [BASE, OVERLAYS / "nodelocal", DEPLOY / "monitoring"], ids=["base", "nodelocal", "monitoring"]
)
def test_each_file_is_applied(folder: Path) -> None:
    files = {file.name for file in folder.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization(folder)["resources"]) == files
    assert kustomization(folder)["namespace"] == "kube-system"


def test_the_account_is_bound_to_the_role() -> None:
    binding = one("ClusterRoleBinding")
    account = one("ServiceAccount")["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": account, "namespace": "kube-system"}]
    assert binding["roleRef"]["name"] == one("ClusterRole")["metadata"]["name"]
    assert pod_spec(one("Deployment"))["serviceAccountName"] == account


def test_one_replica_may_be_evicted_at_a_time() -> None:
    budget = one("PodDisruptionBudget")["spec"]
    assert budget == {"maxUnavailable": 1, "selector": one("Deployment")["spec"]["selector"]}


def test_the_base_is_scraped() -> None:
    monitor, service = one("ServiceMonitor", DEPLOY / "monitoring"), one("Service")
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert service["metadata"]["labels"][monitor["spec"]["jobLabel"]] == "kube-dns"
    [endpoint] = monitor["spec"]["endpoints"]
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}
    [board] = kustomization(DEPLOY / "monitoring")["configMapGenerator"]
    assert board["options"]["labels"] == {"grafana_dashboard": "1"}


def test_replicas_are_added_to_the_base() -> None:
    scaler, deployment = one("HorizontalPodAutoscaler", OVERLAYS / "autoscale"), one("Deployment")
    target = {key: deployment[key] for key in ("apiVersion", "kind")} | {"name": deployment["metadata"]["name"]}
    assert scaler["spec"]["scaleTargetRef"] == target
    assert scaler["spec"]["minReplicas"] == deployment["spec"]["replicas"] < scaler["spec"]["maxReplicas"]
    [patch] = kustomization(OVERLAYS / "autoscale")["patches"]
    assert yaml.safe_load(patch["patch"]) == [{"op": "remove", "path": "/spec/replicas"}]


# The cache on each node.

NODELOCAL = OVERLAYS / "nodelocal"
NODE_ADDRESS = "169.254.20.10"
"""Kubernetes, "Using NodeLocal DNSCache in Kubernetes Clusters"."""


def nodelocal_blocks() -> dict[str, dict[str, Any]]:
    """By their first zone, the lines of each block by their names."""
    blocks = parse((NODELOCAL / "Corefile").read_text(), environ=UPSTREAM, plugins=ORDER).blocks
    return {block.keys[0].zone: {line.name: line for line in block.lines} for block in blocks}


def test_the_node_has_the_address_that_is_served_and_probed() -> None:
    spec = pod_spec(one("DaemonSet", NODELOCAL))
    [init], [container] = spec["initContainers"], spec["containers"]
    assert init["command"][-1] == NODE_ADDRESS
    assert init["command"][-2].rpartition("/")[2] in kustomization(NODELOCAL)["configMapGenerator"][0]["files"]
    assert init["securityContext"]["runAsUser"] == 0
    assert init["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN"]}
    assert {lines["bind"].args for lines in nodelocal_blocks().values()} == {(NODE_ADDRESS,)}
    for kind in ("livenessProbe", "readinessProbe"):
        probe = container[kind]["httpGet"]
        assert nodelocal_blocks()["cluster.local."]["health"].args == (f"{probe['host']}:{probe['port']}",)
        assert (probe["host"], probe["path"]) == (NODE_ADDRESS, "/health")


def test_it_runs_on_each_node_before_its_network_of_pods_is_there() -> None:
    workload = one("DaemonSet", NODELOCAL)
    spec = pod_spec(workload)
    assert spec["hostNetwork"] and spec["dnsPolicy"] == "Default" and not spec["automountServiceAccountToken"]
    assert spec["priorityClassName"] == "system-node-critical"
    assert spec["tolerations"] == [{"operator": "Exists", "effect": effect} for effect in ("NoExecute", "NoSchedule")]
    labels = workload["spec"]["template"]["metadata"]["labels"]
    assert workload["spec"]["selector"]["matchLabels"] == labels
    assert not one("Service")["spec"]["selector"].items() & labels.items(), "it would be an upstream of itself"
    assert workload["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] == "10%"


def test_names_of_the_cluster_go_to_its_servers_over_tcp() -> None:
    """And are kept for 30 s, denials for 5 s; the rest goes to the node's resolvers."""
    service, blocks = one("Service", NODELOCAL), nodelocal_blocks()
    variable = service["metadata"]["name"].upper().replace("-", "_") + "_SERVICE_HOST"
    assert f"{{${variable}}}" in (NODELOCAL / "Corefile").read_text()
    assert service["spec"]["selector"] == one("Service")["spec"]["selector"]
    assert {(port["targetPort"], port["protocol"]) for port in service["spec"]["ports"]} == {(53, "UDP"), (53, "TCP")}
    cluster = blocks["cluster.local."]
    assert cluster["forward"].args == (".", UPSTREAM[variable])
    assert [line.name for line in cluster["forward"].block] == ["force_tcp"]
    kept = {line.name: line.args for line in cluster["cache"].block}
    assert kept == {"success": ("9984", "30"), "denial": ("9984", "5")}
    assert blocks["."]["forward"].args == (".", "/etc/resolv.conf")


def test_its_metrics_have_their_port() -> None:
    workload = one("DaemonSet", NODELOCAL)
    [container] = pod_spec(workload)["containers"]
    [port] = container["ports"]
    annotations = workload["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"prometheus.io/scrape": "true", "prometheus.io/port": str(port["containerPort"])}
    assert {lines["prometheus"].args for lines in nodelocal_blocks().values()} == {(f":{port['containerPort']}",)}


# Beside what is there.


def patched(item: Object, operations: list[Object]) -> Object:
    """An object after some operations of a JSON patch (RFC 6902), as Kustomize applies them."""
    item = copy.deepcopy(item)
    for operation in operations:
        *way, last = operation["path"].strip("/").split("/")
        place: Any = item
        for step in way:
            place = place[int(step) if isinstance(place, list) else step]
        assert last in place
        if operation["op"] == "remove":
            del place[last]
        else:
            place[last] = operation["value"]
    return item


def test_nothing_beside_what_is_there_takes_its_queries() -> None:
    """What the base has of the label that kube-dns selects, and the fixed address, is patched away."""
    patches = kustomization(OVERLAYS / "side-by-side")["patches"]
    operations = {patch["target"]["kind"]: yaml.safe_load(patch["patch"]) for patch in patches}
    changed = {kind: patched(one(kind), operations[kind]) for kind in operations}
    assert "kube-dns" not in str(changed)
    deployment, service, budget = changed["Deployment"], changed["Service"], changed["PodDisruptionBudget"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert labels
    for selector in (deployment["spec"]["selector"], budget["spec"]["selector"]):
        assert selector == {"matchLabels": labels}
    [apart] = pod_spec(deployment)["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert apart["podAffinityTerm"]["labelSelector"] == {"matchLabels": labels}
    assert service["spec"]["selector"] == labels
    assert service["metadata"]["name"] == "pydns" and "clusterIP" not in service["spec"]

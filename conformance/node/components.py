"""The parts of a Kubernetes node, started in its namespaces in their order, with progress. Knows no DNS.

Their settings are in `files/`. The certificate of kube-apiserver is its own work, and the authority of all.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template

from conformance.kubernetes.client import TOKEN, Client
from conformance.kubernetes.cluster import etcd_flags, openssl
from conformance.node.contents import PARTS, Image
from conformance.node.machine import NodeError, installed
from conformance.node.space import FILES, Space
from conformance.tools.build import binary

ADDRESS = "172.30.0.10"
"""The node's."""

API_PORT = 6443
START_TIME = 60.0
"""Seconds a part has until it is ready; the slowest takes ten on two cores."""

LOG_LINES = 15
CONTROLLERS = (
    "endpointslice-controller,statefulset-controller,namespace-controller,replicaset-controller,"
    "deployment-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,"
    "node-lifecycle-controller,pod-garbage-collector-controller,garbage-collector-controller"
)
ETCD = "http://127.0.0.1:2379"
PEERS = "http://127.0.0.1:2380"

Say = Callable[[str], None]
"""Takes one line for people that wait."""


class Node:
    """A node whose API answers and which takes Pods, once `start` has returned. `client` has the API's objects."""

    def __init__(self, folder: Path, space: Space, say: Say) -> None:
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.client = Client(API_PORT)
        self._space, self._say = space, say
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, images: Sequence[Image]) -> None:
        """Everything, in its order. Raises `NodeError` with the end of a log when a part does not become ready."""
        self._write_settings()
        self._start_containerd(images)
        self._start_api()
        self._start_controllers()
        self._run("kubelet", *self._kubelet())
        self._run("kube-proxy", str(binary("kube-proxy")), f"--config={self.folder}/kube-proxy.yaml")
        self._run("upstream", str(binary("coredns")), "-conf", f"{self.folder}/upstream.Corefile")
        self._wait_for("kubelet", self._node_is_ready)
        self._say("the node is ready")

    def check(self) -> None:
        """Raises `NodeError` where a part has ended."""
        for name, process in self._processes.items():
            if process.poll() is not None:
                raise NodeError(f"{name} ended with status {process.returncode}:\n{self._end_of_log(name)}")

    def wait(self, what: str, holds: Callable[[], bool], limit: float, state: Callable[[], str]) -> float:
        """Returns the seconds it took until `holds()`.

        Raises `NodeError` with `state()` when it does not within `limit` seconds, and where a part has ended.
        """
        began = time.monotonic()
        while not holds():
            self.check()
            if time.monotonic() - began > limit:
                raise NodeError(f"{what}: not within {limit:.0f} s\n{state()}")
            time.sleep(0.1)
        return time.monotonic() - began

    def _wait_for(self, name: str, ready: Callable[[], bool]) -> None:
        self.wait(f"{name} is ready", ready, START_TIME, lambda: self._end_of_log(name))

    def _write_settings(self) -> None:
        values = {"folder": str(self.folder), "parts_image": PARTS}
        (self.folder / "cni").mkdir()
        for name in ("containerd.toml", "kubelet.yaml", "kube-proxy.yaml", "upstream.Corefile"):
            (self.folder / name).write_text(filled(name, values))
        (self.folder / "cni" / "bridge.conflist").write_text(filled("bridge.conflist", values))
        (self.folder / "tokens.csv").write_text(f"{TOKEN},admin,admin,system:masters\n")
        self.kubeconfig.write_text(_kubeconfig(self.folder))

    def _start_containerd(self, images: Sequence[Image]) -> None:
        self._run("containerd", str(installed("containerd")), "--config", f"{self.folder}/containerd.toml")
        ctr = [str(installed("ctr")), "--address", f"{self.folder}/containerd.sock", "--namespace", "k8s.io"]
        self._wait_for("containerd", lambda: self._ends_well("ctr", *ctr, "version"))
        for image in images:
            if not self._ends_well("ctr", *ctr, "images", "import", str(image.file)):
                raise NodeError(f"containerd does not take the image {image.name}:\n{self._end_of_log('ctr')}")
        self._say(f"containerd has {', '.join(f'{image.name} ({image.megabytes:.0f} MB)' for image in images)}")

    def _start_api(self) -> None:
        openssl("genrsa", "-out", f"{self.folder}/sa.key", "2048")
        self._run("etcd", str(binary("etcd")), *etcd_flags(self.folder / "etcd", ETCD, PEERS))
        self._run("kube-apiserver", str(binary("kube-apiserver")), *_api(self.folder))
        self._wait_for("kube-apiserver", lambda: self.client.exists("Namespace", "", "default"))
        self._say("kube-apiserver answers")

    def _start_controllers(self) -> None:
        common = [f"--kubeconfig={self.kubeconfig}", "--leader-elect=false", "--bind-address=127.0.0.1"]
        key = [f"--service-account-private-key-file={self.folder}/sa.key", f"--controllers={CONTROLLERS}"]
        authority = f"--root-ca-file={self.folder}/certificates/apiserver.crt"
        self._run("kube-controller-manager", str(binary("kube-controller-manager")), *common, *key, authority)
        self._run("kube-scheduler", str(binary("kube-scheduler")), *common)

    def _kubelet(self) -> list[str]:
        places = [f"--root-dir={self.folder}/kubelet", f"--cert-dir={self.folder}/kubelet-certificates"]
        settings = [f"--config={self.folder}/kubelet.yaml", f"--kubeconfig={self.kubeconfig}"]
        return [str(binary("kubelet")), *settings, *places, "--hostname-override=node", f"--node-ip={ADDRESS}"]

    def _node_is_ready(self) -> bool:
        return any(
            condition["type"] == "Ready" and condition["status"] == "True"
            for node in self.client.listed("Node")
            for condition in node["status"].get("conditions", ())
        )

    def _run(self, name: str, *words: str) -> None:
        self._processes[name] = self._space.run(self._log(name), words)

    def _ends_well(self, name: str, *words: str) -> bool:
        """Whether a program in the node ends with status 0."""
        return self._space.run(self._log(name), words).wait() == 0

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _end_of_log(self, name: str) -> str:
        return "\n".join(self._log(name).read_text(errors="replace").splitlines()[-LOG_LINES:])


def filled(name: str, values: Mapping[str, str]) -> str:
    """A file of `files/` with its places filled."""
    return Template((FILES / name).read_text()).substitute(values)


def _api(folder: Path) -> list[str]:
    return [
        f"--etcd-servers={ETCD}",
        f"--secure-port={API_PORT}",
        "--bind-address=0.0.0.0",
        f"--advertise-address={ADDRESS}",
        f"--cert-dir={folder}/certificates",
        f"--service-account-key-file={folder}/sa.key",
        f"--service-account-signing-key-file={folder}/sa.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=Node,RBAC",
        f"--token-auth-file={folder}/tokens.csv",
        "--allow-privileged",
        "--kubelet-preferred-address-types=InternalIP",
    ]


def _kubeconfig(folder: Path) -> str:
    authority = f"{folder}/certificates/apiserver.crt"
    return f"""apiVersion: v1
kind: Config
clusters: [{{name: node, cluster: {{server: "https://{ADDRESS}:{API_PORT}", certificate-authority: {authority}}}}}]
users: [{{name: admin, user: {{token: {TOKEN}}}}}]
contexts: [{{name: node, context: {{cluster: node, user: admin}}}}]
current-context: node
"""

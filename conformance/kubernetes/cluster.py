"""A real Kubernetes API on loopback: etcd, kube-apiserver and, when asked, kube-controller-manager.

Processes are stopped by their own id, also when the start fails. Objects go in as plain JSON over HTTPS. Knows no DNS.
`python -m conformance.cluster` runs one for people to try things with.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.servers.ports import free_port
from conformance.servers.processes import tied
from conformance.tools.build import binary

Object = dict[str, Any]

TOKEN = "conformance"
READY_TIME = 90.0
"""Seconds until the API must be ready; it takes about ten on two cores."""

REQUEST_TIME = 30.0
"""Seconds the API has for one answer; a hung one must not keep the run from its end."""

CONTROLLERS = (
    "endpointslice-controller,endpointslice-mirroring-controller,namespace-controller,"
    "statefulset-controller,replicaset-controller,deployment-controller,garbage-collector-controller"
)

NODE = "conformance"
"""The Node that Pods are bound to: the controllers pass over Pods without an existing one."""

PLURALS = {
    "Namespace": ("/api/v1", "namespaces"),
    "Node": ("/api/v1", "nodes"),
    "Service": ("/api/v1", "services"),
    "Pod": ("/api/v1", "pods"),
    "EndpointSlice": ("/apis/discovery.k8s.io/v1", "endpointslices"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "ReplicaSet": ("/apis/apps/v1", "replicasets"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
}


class ClusterError(Exception):
    """A component that does not start, or an object the API refuses (`status` is its HTTP status, else 0)."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Component:
    """One process with its log; `stop` may be called any number of times."""

    def __init__(self, folder: Path, name: str, flags: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("ab") as output:
            words = tied([str(binary(name)), *flags])
            self._process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, cwd=folder)

    def wait_until(self, ready: Callable[[], bool]) -> None:
        """Returns when `ready()` is true; raises `ClusterError` with the end of the log when the process ends first."""
        started = time.monotonic()
        while not ready():
            waited = time.monotonic() - started
            if self._process.poll() is not None or waited > READY_TIME:
                raise ClusterError(f"{self.name} is not ready after {waited:.0f} s:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.1)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL after five seconds."""
        if self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Etcd:
    """etcd on loopback; several clusters share one by their prefixes."""

    def __init__(self, folder: Path) -> None:
        port, peer = free_port(), free_port()
        self.url, peers = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer}"
        flags = ["--data-dir", str(folder / "data"), "--unsafe-no-fsync", "--log-level=warn"]
        flags += ["--listen-client-urls", self.url, "--advertise-client-urls", self.url]
        flags += ["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers]
        self._process = Component(folder, "etcd", [*flags, "--initial-cluster", f"default={peers}"])
        try:
            self._process.wait_until(lambda: _get(f"{self.url}/health") == 200)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends the process."""
        self._process.stop()


class Cluster:
    """A kube-apiserver, ready when the constructor returns. `kubeconfig` is the path of a file that reaches it."""

    def __init__(self, folder: Path, etcd: Etcd, prefix: str, controllers: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self.port = folder, free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.kubeconfig = self.kubeconfig_at(self.port)
        self._flags = _api_flags(etcd.url, prefix, self.port)
        self._tls = ssl._create_unverified_context()
        self._local = threading.local()
        self._connections: list[http.client.HTTPSConnection] = []
        self._components: list[Component] = []
        self._lock = threading.Lock()
        self._ended = False
        print(f"conformance: starting kube-apiserver for the cluster {prefix!r} …", file=sys.stderr, flush=True)
        try:
            self._prepare()
            self._start_api()
            if controllers:
                self._start_controllers()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends the processes, the last started first, and a restart that is under way."""
        with self._lock:
            self._ended = True
            for connection in self._connections:
                connection.close()
            while self._components:
                self._components.pop().stop()

    def restart(self) -> None:
        """Ends kube-apiserver and starts it again at its port; what it knew of earlier versions is lost."""
        with self._lock:
            self._check_running()
            self._components.pop(0).stop()
        self._start_api()

    def _check_running(self) -> None:
        if self._ended:
            raise ClusterError("the cluster was stopped")

    def kubeconfig_at(self, port: int) -> Path:
        """A kubeconfig that reaches the API by another port of this machine."""
        path = self._folder / f"kubeconfig-{port}"
        path.write_text(_kubeconfig(f"https://127.0.0.1:{port}"))
        return path

    def _prepare(self) -> None:
        (self._folder / "tokens.csv").write_text(f"{TOKEN},admin,admin,system:masters\n")
        _make_key(self._folder / "sa.key")

    def _start_api(self) -> None:
        with self._lock:
            self._check_running()
            component = Component(self._folder, "kube-apiserver", self._flags)
            self._components.insert(0, component)
        component.wait_until(lambda: _get(f"{self.url}/readyz", self._tls) == 200)
        component.wait_until(lambda: self._exists("/api/v1/namespaces/default"))
        component.wait_until(lambda: self._exists("/api/v1/namespaces/default/services/kubernetes"))

    def _start_controllers(self) -> None:
        flags = [f"--kubeconfig={self.kubeconfig}", "--service-account-private-key-file=sa.key"]
        flags += [f"--controllers={CONTROLLERS}", "--secure-port=0", "--leader-elect=false"]
        self._components.append(Component(self._folder, "kube-controller-manager", flags))
        self.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})

    # -- objects --

    def apply(self, object: Object) -> None:
        """Creates an object or replaces it, and sets its status where it has one. Raises `ClusterError`."""
        path = _path(object["kind"], object["metadata"].get("namespace", ""))
        own = f"{path}/{object['metadata']['name']}"
        try:
            self._call("PATCH", own, object)
        except ClusterError as error:
            if error.status != http.client.NOT_FOUND:
                raise
            self._call("POST", path, object)
        if "status" in object:
            self._call("PATCH", f"{own}/status", {"status": object["status"]})

    def patch(self, kind: str, namespace: str, name: str, body: Object, part: str = "") -> None:
        """A JSON merge patch of an object, or of a part of it (`status`). Raises `ClusterError`."""
        self._call("PATCH", f"{_path(kind, namespace)}/{name}{part and '/'}{part}", body)

    def bind(self, namespace: str, pod: str) -> None:
        """Puts a Pod on `NODE`, as the scheduler would."""
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod},
            "target": {"kind": "Node", "name": NODE},
        }
        self._call("POST", f"{_path('Pod', namespace)}/{pod}/binding", body)

    def pods(self, namespace: str) -> list[Object]:
        """All Pods of a namespace."""
        items: list[Object] = self._call("GET", _path("Pod", namespace))["items"]
        return items

    def delete(self, kind: str, namespace: str, name: str, at_once: bool = True) -> None:
        """Deletes an object, `at_once` or after its grace period; one that is not there is no error."""
        try:
            self._call("DELETE", f"{_path(kind, namespace)}/{name}", {"gracePeriodSeconds": 0} if at_once else None)
        except ClusterError as error:
            if error.status != http.client.NOT_FOUND:
                raise

    def remove_namespace(self, name: str) -> None:
        """Deletes a namespace and what would keep it: Pods that no kubelet ends, and what would make them anew."""
        for kind in ("Deployment", "StatefulSet", "ReplicaSet", "Pod"):
            self._call("DELETE", _path(kind, name), {"gracePeriodSeconds": 0})
        self.delete("Namespace", "", name)

    def _exists(self, path: str) -> bool:
        try:
            self._call("GET", path)
        except ClusterError:
            return False
        return True

    def _call(self, method: str, path: str, body: Object | None = None) -> Object:
        data = None if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        status, text = self._exchange(method, path, data, {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind})
        if status >= http.client.BAD_REQUEST:
            raise ClusterError(f"{method} {path}: {status} {text.decode()}", status)
        answer: Object = json.loads(text)
        return answer

    def _exchange(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """One request on this thread's connection, on a new one where the server has closed it."""
        try:
            return self._attempt(method, path, data, headers)
        except (OSError, http.client.HTTPException):
            pass
        try:
            return self._attempt(method, path, data, headers)
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(f"{method} {path}: no answer from {self.url}: {error}") from error

    def _attempt(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        connection = self._connection()
        try:
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise

    def _connection(self) -> http.client.HTTPSConnection:
        """This thread's, kept because setting up TLS takes longer than a change."""
        if not hasattr(self._local, "connection"):
            self._local.connection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=REQUEST_TIME, context=self._tls
            )
            self._connections.append(self._local.connection)
        connection: http.client.HTTPSConnection = self._local.connection
        return connection


def _path(kind: str, namespace: str) -> str:
    group, plural = PLURALS[kind]
    return f"{group}/namespaces/{namespace}/{plural}" if namespace else f"{group}/{plural}"


def _get(url: str, tls: ssl.SSLContext | None = None) -> int:
    """The HTTP status; 0 when there is no answer."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    try:
        with urllib.request.urlopen(request, context=tls, timeout=2) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, http.client.HTTPException):
        return 0


def _make_key(path: Path) -> None:
    command = ["openssl", "genrsa", "-out", str(path), "2048"]
    try:
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "RANDFILE": os.devnull})
    except FileNotFoundError:
        raise ClusterError("there is no openssl, which makes the key of kube-apiserver") from None
    except subprocess.CalledProcessError as error:
        raise ClusterError(f"openssl fails: {error.stderr.decode(errors='replace').strip()}") from error


def _api_flags(etcd: str, prefix: str, port: int) -> list[str]:
    return [
        f"--etcd-servers={etcd}",
        f"--etcd-prefix=/{prefix}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--cert-dir=certs",
        "--service-account-key-file=sa.key",
        "--service-account-signing-key-file=sa.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/12,fd00:10:96::/112",
        "--authorization-mode=RBAC",
        "--token-auth-file=tokens.csv",
        "--disable-admission-plugins=ServiceAccount",
        "--endpoint-reconciler-type=none",
    ]


def _kubeconfig(url: str) -> str:
    named = {"name": "conformance"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{**named, "cluster": {"server": url, "insecure-skip-tls-verify": True}}],
        "users": [{**named, "user": {"token": TOKEN}}],
        "contexts": [{**named, "context": {"cluster": "conformance", "user": "conformance"}}],
        "current-context": "conformance",
    }
    return json.dumps(config, indent=2)

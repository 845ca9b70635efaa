"""A real Kubernetes API on loopback: etcd, kube-apiserver and, when asked, kube-controller-manager.

Processes are stopped by their own id, also when the start fails. Objects go in as plain JSON over HTTPS. Knows no DNS.
`python -m conformance.cluster` runs one for people to try things with.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from conformance.ports import free_port
from conformance.tools.build import binary

Object = dict[str, Any]

TOKEN = "conformance"
READY_TIME = 90.0
"""Seconds until the API must be ready; it takes about ten on two cores."""

CONTROLLERS = (
    "endpointslice-controller,endpointslice-mirroring-controller,namespace-controller,"
    "statefulset-controller,replicaset-controller,deployment-controller"
)

PLURALS = {
    "Namespace": ("/api/v1", "namespaces"),
    "Node": ("/api/v1", "nodes"),
    "Service": ("/api/v1", "services"),
    "Pod": ("/api/v1", "pods"),
    "EndpointSlice": ("/apis/discovery.k8s.io/v1", "endpointslices"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
}


class ClusterError(Exception):
    """A component that does not start, or an object the API refuses."""


class Component:
    """One process with its log; `stop` may be called any number of times."""

    def __init__(self, folder: Path, name: str, flags: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("wb") as output:
            words = [str(binary(name)), *flags]
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
        self._folder, self._port = folder, free_port()
        self.url = f"https://127.0.0.1:{self._port}"
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(_kubeconfig(self.url))
        self._tls = ssl._create_unverified_context()
        self._components: list[Component] = []
        print(f"conformance: starting kube-apiserver for the cluster {prefix!r} …", file=sys.stderr, flush=True)
        try:
            self._start_api(etcd, prefix)
            if controllers:
                self._start_controllers()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends the processes, the last started first."""
        while self._components:
            self._components.pop().stop()

    def _start_api(self, etcd: Etcd, prefix: str) -> None:
        (self._folder / "tokens.csv").write_text(f"{TOKEN},admin,admin,system:masters\n")
        _make_key(self._folder / "sa.key")
        component = Component(self._folder, "kube-apiserver", _api_flags(etcd.url, prefix, self._port))
        self._components.append(component)
        component.wait_until(lambda: _get(f"{self.url}/readyz", self._tls) == 200)
        component.wait_until(lambda: self._exists("/api/v1/namespaces/default"))
        component.wait_until(lambda: self._exists("/api/v1/namespaces/default/services/kubernetes"))

    def _start_controllers(self) -> None:
        flags = [f"--kubeconfig={self.kubeconfig}", "--service-account-private-key-file=sa.key"]
        flags += [f"--controllers={CONTROLLERS}", "--secure-port=0", "--leader-elect=false"]
        self._components.append(Component(self._folder, "kube-controller-manager", flags))

    # -- objects --

    def apply(self, object: Object) -> None:
        """Creates an object or replaces it, and sets its status where it has one. Raises `ClusterError`."""
        path = _path(object["kind"], object["metadata"].get("namespace", ""))
        own = f"{path}/{object['metadata']['name']}"
        if self._exists(own):
            self._call("PATCH", own, object)
        else:
            self._call("POST", path, object)
        if "status" in object:
            self._call("PATCH", f"{own}/status", {"status": object["status"]})

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Deletes an object at once; one that is not there is no error."""
        own = f"{_path(kind, namespace)}/{name}"
        if self._exists(own):
            self._call("DELETE", own, {"gracePeriodSeconds": 0})

    def _exists(self, path: str) -> bool:
        try:
            self._call("GET", path)
        except ClusterError:
            return False
        return True

    def _call(self, method: str, path: str, body: Object | None = None) -> Object:
        data = None if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, context=self._tls) as response:
                answer: Object = json.load(response)
                return answer
        except urllib.error.HTTPError as error:
            raise ClusterError(f"{method} {path}: {error.code} {error.read().decode()}") from error


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
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "RANDFILE": os.devnull})


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


@contextmanager
def running(controllers: bool) -> Iterator[Cluster]:
    """A cluster of its own, gone with all its objects when the block ends."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-cluster-")))
        etcd = Etcd(folder / "etcd")
        stack.callback(etcd.stop)
        cluster = Cluster(folder / "cluster", etcd, "cluster", controllers)
        stack.callback(cluster.stop)
        yield cluster


def main(words: Sequence[str]) -> int:
    """Runs a cluster until Ctrl-C or SIGTERM; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m conformance.cluster", description=main.__doc__)
    parser.add_argument("--controllers", action="store_true",
                        help="with kube-controller-manager, which makes Pods and EndpointSlices")  # fmt: skip
    controllers = parser.parse_args(words).controllers
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with running(controllers) as cluster:
            print(f"export KUBECONFIG={cluster.kubeconfig}", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        pass
    except (FileNotFoundError, ClusterError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

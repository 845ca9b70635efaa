"""A real Kubernetes API on loopback: etcd, kube-apiserver and, when asked, kube-controller-manager.

Processes are stopped by their own id, also when the start fails. Knows no DNS.
`python -m conformance.cluster` runs one for people to try things with.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from conformance.kubernetes.client import NODE, TLS, TOKEN, Client, ClusterError
from conformance.servers.ports import free_port
from conformance.servers.processes import tied
from conformance.tools.build import binary

READY_TIME = 90.0
"""Seconds until the API must be ready; it takes about ten on two cores."""

CONTROLLERS = (
    "endpointslice-controller,endpointslice-mirroring-controller,namespace-controller,"
    "statefulset-controller,replicaset-controller,deployment-controller,garbage-collector-controller"
)


class Component:
    """One process with its log; `stop` may be called any number of times."""

    def __init__(self, folder: Path, name: str, flags: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("ab") as output:
            words = tied([str(binary(name)), *flags])
            self._process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, cwd=folder)

    @property
    def pid(self) -> int:
        return self._process.pid

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
        self._process = Component(folder, "etcd", etcd_flags(folder / "data", self.url, peers))
        try:
            self._process.wait_until(lambda: _get(f"{self.url}/health") == 200)
        except BaseException:
            self.stop()
            raise

    @property
    def pids(self) -> list[int]:
        return [self._process.pid]

    def stop(self) -> None:
        """Ends the process."""
        self._process.stop()


def etcd_flags(data: Path, url: str, peers: str) -> list[str]:
    """Those of an etcd alone, at this address, which need not outlive a loss of power."""
    flags = ["--data-dir", str(data), "--unsafe-no-fsync", "--log-level=warn"]
    flags += ["--listen-client-urls", url, "--advertise-client-urls", url]
    flags += ["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers]
    return [*flags, "--initial-cluster", f"default={peers}"]


class Credentials(NamedTuple):
    """Paths of PEM files: a client's certificate, its key, and what the API's own certificate is checked with."""

    certificate: Path
    key: Path
    authority: Path


class Cluster:
    """A kube-apiserver, ready when the constructor returns. `kubeconfig` is the path of a file that reaches it.

    `client` has its objects; `credentials` let others in by a certificate. `flags` are further ones of kube-apiserver.
    """

    def __init__(
        self, folder: Path, etcd: Etcd, prefix: str, controllers: bool = False, flags: Sequence[str] = ()
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self.port = folder, free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.kubeconfig = self.kubeconfig_at(self.port)
        self.credentials = Credentials(folder / "client.crt", folder / "client.key", folder / "certs/apiserver.crt")
        self._flags = [*_api_flags(etcd.url, prefix, self.port), *flags]
        self.client = Client(self.port)
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

    @property
    def pids(self) -> list[int]:
        return [component.pid for component in self._components]

    def stop(self) -> None:
        """Ends the processes, the last started first, and a restart that is under way."""
        with self._lock:
            self._ended = True
            self.client.close()
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
        openssl("genrsa", "-out", str(self._folder / "sa.key"), "2048")
        make_client_certificate(self.credentials)

    def _start_api(self) -> None:
        with self._lock:
            self._check_running()
            component = Component(self._folder, "kube-apiserver", self._flags)
            self._components.insert(0, component)
        component.wait_until(lambda: _get(f"{self.url}/readyz") == 200)
        component.wait_until(lambda: self.client.exists("Namespace", "", "default"))
        component.wait_until(lambda: self.client.exists("Service", "default", "kubernetes"))

    def _start_controllers(self) -> None:
        flags = [f"--kubeconfig={self.kubeconfig}", "--service-account-private-key-file=sa.key"]
        flags += [f"--controllers={CONTROLLERS}", "--secure-port=0", "--leader-elect=false"]
        self._components.append(Component(self._folder, "kube-controller-manager", flags))
        self.client.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})


def _get(url: str) -> int:
    """The HTTP status; 0 when there is no answer."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    try:
        with urllib.request.urlopen(request, context=TLS if url.startswith("https") else None, timeout=2) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, http.client.HTTPException):
        return 0


def make_client_certificate(credentials: Credentials) -> None:
    """An administrator's; it is its own authority, which the API is told (`--client-ca-file`)."""
    openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/O=system:masters/CN=conformance",
        "-keyout", str(credentials.key), "-out", str(credentials.certificate),
    )  # fmt: skip


def openssl(*words: str) -> None:
    """Runs it. Raises `ClusterError` with what it says."""
    command = ["openssl", *words]
    try:
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "RANDFILE": os.devnull})
    except FileNotFoundError:
        raise ClusterError("there is no openssl, which makes the keys of kube-apiserver") from None
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
        "--client-ca-file=client.crt",
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

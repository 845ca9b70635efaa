"""What the proofs stand on: objects of `deploy/`, service accounts with rights, and pydns as such an account's Pod.

A Pod here is a process with the files and variables that kubelet gives one, in a mount namespace (root is needed).
Knows no proof.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from conformance.kubernetes.cluster import Cluster
from conformance.kubernetes.objects import Object
from conformance.live.kubectl import Kubectl, open_kubectl
from conformance.objects import Loader
from conformance.servers import subjects
from conformance.servers.ports import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
NAMESPACE = "kube-system"
PATIENCE = 20.0
"""Seconds until something must hold."""
PAUSE = 0.1

POD = """#!/bin/sh
exec unshare --mount sh -ec '
    mount -t tmpfs tmpfs /run
    mkdir -p /run/secrets/kubernetes.io
    cp -r {files} /run/secrets/kubernetes.io/serviceaccount
    exec "$@"
' sh {command} "$@"
"""
"""A program that runs another with a service account's files where kubelet puts them (/var/run is a link to /run)."""


@dataclass(frozen=True)
class Ground:
    """A cluster, the way to it as an administrator, and whether its API has streaming lists."""

    cluster: Cluster
    kubectl: Kubectl
    streams: bool

    @classmethod
    def of(cls, cluster: Cluster, streams: bool) -> Ground:
        return cls(cluster, open_kubectl(cluster.kubeconfig, ""), streams)

    async def objects(self, folder: Path) -> list[Object]:
        """The objects that `kubectl apply -k` would send."""
        return list(yaml.load_all(await self.kubectl.run("kustomize", str(folder)), Loader))

    async def apply(self, objects: Sequence[Object]) -> None:
        together = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        await self.kubectl.run("apply", "-f", "-", given=json.dumps(together))

    async def files(self, account: str, folder: Path) -> Path:
        """A folder with what kubelet mounts for a service account: its token and the API's authority."""
        folder.mkdir()
        token = await self.kubectl.run("-n", NAMESPACE, "create", "token", account)
        (folder / "token").write_text(token.strip())
        (folder / "namespace").write_text(NAMESPACE)
        shutil.copy(self.cluster.credentials.authority, folder / "ca.crt")
        return folder

    @property
    def variables(self) -> Mapping[str, str]:
        """What kubelet puts into the environment of each Pod."""
        return {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.cluster.port)}


@dataclass(frozen=True)
class Pod:
    """A server that runs, and the ports of its pages."""

    running: subjects.Running
    ready_port: int
    metrics_port: int

    def log(self) -> list[str]:
        return self.running.log.read_text().splitlines()

    async def ready(self) -> tuple[int, str]:
        """Status and body of `/ready`."""
        return await asyncio.to_thread(page, f"http://127.0.0.1:{self.ready_port}/ready")

    async def metrics(self) -> str:
        """The text of `/metrics`."""
        return (await asyncio.to_thread(page, f"http://127.0.0.1:{self.metrics_port}/metrics"))[1]


@asynccontextmanager
async def serving(
    ground: Ground, account: str, corefile: str, folder: Path, subject: str = "pydns"
) -> AsyncIterator[Pod]:
    """Runs a server as a Pod of this service account until the block ends. Raises `StartError`.

    `{dns}`, `{ready}` and `{metrics}` are the places of the ports in the Corefile.
    """
    files = await ground.files(account, folder / "account")
    program = folder / "pod"
    program.write_text(POD.format(files=files, command=" ".join(subjects.command(subject))))
    program.chmod(0o755)
    dns, ready, metrics = free_port(), free_port(), free_port()
    (folder / "Corefile").write_text(filled(corefile, {"dns": dns, "ready": ready, "metrics": metrics}))
    async with subjects.start(str(program), folder / "Corefile", dns, ground.variables) as running:
        yield Pod(running, ready, metrics)


def filled(corefile: str, ports: Mapping[str, int]) -> str:
    """A Corefile with ports in the places that have their names: `{dns}`."""
    for name, port in ports.items():
        corefile = corefile.replace(f"{{{name}}}", str(port))
    return corefile


def page(url: str) -> tuple[int, str]:
    """Status and body of a page; 0 and why where there is no answer."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


async def until(holds: Callable[[], Awaitable[bool]]) -> bool:
    """Waits until something holds; whether it came to hold within `PATIENCE`."""
    for _ in range(int(PATIENCE / PAUSE)):
        if await holds():
            return True
        await asyncio.sleep(PAUSE)
    return False

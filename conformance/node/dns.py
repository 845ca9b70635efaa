"""The cluster's DNS as a Deployment on the node: its replicas, their logs, what they answer; edits, restarts, kills."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conformance.kubernetes.objects import Object
from conformance.node.components import Node
from conformance.node.machine import NodeError
from conformance.wire.client import Direct
from conformance.wire.message import read_reply
from conformance.wire.question import Question

NAMESPACE, DEPLOYMENT, CONTAINER = "kube-system", "coredns", "coredns"
LABEL = ("k8s-app", "kube-dns")
REPLICAS = 2
PATIENCE = 60.0
"""Seconds in which what is waited for must come; kubelet brings an edited ConfigMap in a few."""


NET_BIND_SERVICE = 1 << 10
"""The capability in a set as the kernel shows it (capabilities(7))."""


@dataclass(frozen=True)
class Rights:
    """Of a process: its user, and the capabilities it may use."""

    user: int
    permitted: int


@dataclass(frozen=True)
class Replica:
    """A Pod of the Deployment as the API has it."""

    name: str
    uid: str
    address: str
    ready: bool
    ending: bool
    image: str
    container: str
    restarts: int


class Dns:
    """All methods raise `NodeError` when what they wait for does not come."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def replicas(self) -> list[Replica]:
        """Those that are there, the ones that are ending included."""
        found = self._node.client.listed("Pod", NAMESPACE)
        return [_replica(pod) for pod in found if pod["metadata"].get("labels", {}).get(LABEL[0]) == LABEL[1]]

    def wait(self, what: str, holds: Callable[[], bool], limit: float = PATIENCE) -> float:
        """Returns the seconds it took until `holds()`."""
        return self._node.wait(what, holds, limit, self._state)

    def settled(self, image: str = "") -> bool:
        """Whether all replicas are ready, run this image, and no others are left."""
        found = self.replicas()
        return len(found) == REPLICAS and all(each.ready and not each.ending and image in each.image for each in found)

    def edit(self, corefile: str) -> None:
        """Changes the ConfigMap, as `kubectl edit` does."""
        self._node.client.patch("ConfigMap", NAMESPACE, DEPLOYMENT, {"data": {"Corefile": corefile}})

    def delete(self, replica: Replica) -> None:
        """Deletes a Pod with its usual grace, as an eviction does; the Deployment makes another."""
        self._node.client.delete("Pod", NAMESPACE, replica.name, at_once=False)

    def kill(self, replica: Replica) -> None:
        """SIGKILL to the first process of a replica's container."""
        os.kill(_first_process(replica.container), signal.SIGKILL)

    def rights(self, replica: Replica) -> Rights:
        """Those of the first process of a replica's container."""
        status = Path(f"/proc/{_first_process(replica.container)}/status").read_text().splitlines()
        values = {line.partition(":")[0]: line.split()[1:] for line in status}
        return Rights(int(values["Uid"][1]), int(values["CapPrm"][0], 16))

    def log(self, replica: Replica) -> str:
        """All that the replica's containers printed, also those that ended."""
        folder = self._node.folder / "podlogs" / f"{NAMESPACE}_{replica.name}_{replica.uid}" / CONTAINER
        return "".join(file.read_text(errors="replace") for file in sorted(folder.glob("*.log")))

    def addresses(self, replica: Replica, name: str) -> set[str]:
        """What one replica answers to a question for A records; empty without an answer."""
        question = Question(name, name=name, timeout=1.0)
        packet = asyncio.run(Direct(replica.address, 53).ask(question))
        return {record.rdata for record in read_reply(packet).answer if record.rtype == "A"}

    def _state(self) -> str:
        """The replicas and the ends of their logs, for an error."""
        return "\n".join(f"{each}\n{self.log(each)[-1500:]}" for each in self.replicas())


def _replica(pod: Object) -> Replica:
    statuses = pod["status"].get("containerStatuses") or [{}]
    return Replica(
        pod["metadata"]["name"],
        pod["metadata"]["uid"],
        pod["status"].get("podIP", ""),
        statuses[0].get("ready", False),
        "deletionTimestamp" in pod["metadata"],
        pod["spec"]["containers"][0]["image"],
        statuses[0].get("containerID", "").rpartition("/")[2],
        statuses[0].get("restartCount", 0),
    )


def _first_process(container: str) -> int:
    """The process that is number 1 in a container, as this machine numbers it."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if container in (folder / "cgroup").read_text() and _is_first(folder):
                return int(folder.name)
        except OSError:  # it has ended meanwhile
            continue
    raise NodeError(f"container {container or '(none)'} has no process")


def _is_first(folder: Path) -> bool:
    """Whether a process is number 1 in the innermost of its PID namespaces (proc(5), NSpid)."""
    lines = (folder / "status").read_text().splitlines()
    return any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in lines)

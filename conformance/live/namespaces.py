"""The suite's own namespaces in a live cluster: made with all that is in them, and removed whatever happens."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from conformance.kubernetes.objects import Object
from conformance.live.kubectl import Kubectl, KubectlError
from conformance.objects import needs_ipv6, standard
from conformance.spec.ground import GroundError

LABEL = "dns-conformance/run"
"""Every namespace of the suite has it, its value being the run's."""

OLD = timedelta(hours=1)
"""No run takes as long: an older namespace was left over by one that was killed."""

REMOVAL_LOOKS = 60
"""How often it is looked, every half second, whether the cluster has taken the namespaces away."""


@asynccontextmanager
async def namespaces(kubectl: Kubectl, run: str) -> AsyncIterator[None]:
    """The run's namespaces, until the block ends. Raises `GroundError`, with the verb that is not allowed."""
    own = [object for object in standard(run, "unused") if object["kind"] == "Namespace"]
    for object in own:
        object["metadata"]["labels"] = {LABEL: run}
    try:
        await _create(kubectl, own, "its namespaces")
        yield
    finally:
        await _remove(kubectl, run)


async def _create(kubectl: Kubectl, objects: Sequence[Object], what: str) -> None:
    try:
        await kubectl.create(objects)
    except KubectlError as error:
        raise GroundError(f"the suite cannot create {what} with {kubectl.kubeconfig}: {error}") from error


async def fill(kubectl: Kubectl, run: str, zone: str) -> list[str]:
    """Creates the standard objects in the namespaces. What a cluster without IPv6 Services refuses is left out.

    Gives what the cluster does not have, in words.
    """
    objects = [object for object in standard(run, zone) if object["kind"] != "Namespace"]
    six = [object for object in objects if needs_ipv6(object)]
    await _create(kubectl, [object for object in objects if not needs_ipv6(object)], "its objects")
    dual = await kubectl.read("service", "dual", "-n", f"{run}-shop")
    if any(":" in address for address in dual["spec"].get("clusterIPs") or ()):
        await _create(kubectl, six, "its objects")
        return []
    return ["IPv6 ClusterIPs (R4, R10)"]


async def read(kubectl: Kubectl) -> list[Object]:
    """All Namespaces, Services and EndpointSlices that the cluster has. Raises `KubectlError`."""
    listed = await kubectl.read("namespaces,services,endpointslices.discovery.k8s.io", "--all-namespaces")
    found: list[Object] = listed["items"]
    return found


async def _remove(kubectl: Kubectl, run: str) -> None:
    """Removes what has the run's label, and says so where that does not work or takes long."""
    chosen = f"{LABEL}={run}"
    command = f"kubectl delete namespace -l {chosen}"
    try:
        await kubectl.run("delete", "namespace", "-l", chosen, "--wait=false")
        for _ in range(REMOVAL_LOOKS):
            if not await kubectl.run("get", "namespace", "-l", chosen, "-o", "name"):
                return
            await asyncio.sleep(0.5)
        _say(f"this run's namespaces are still terminating; look with: kubectl get namespace -l {chosen}")
    except KubectlError as error:
        _say(f"this run's namespaces could not be removed ({error}); remove them with: {command}")


async def hint_at_leftovers(kubectl: Kubectl) -> None:
    """Names the namespaces of runs that were killed, and the command that removes them."""
    listed = await kubectl.read("namespace", "-l", LABEL)
    names = [each["metadata"]["name"] for each in listed["items"] if _is_old(each, datetime.now(UTC))]
    if names:
        _say(f"left over by an earlier run: {' '.join(names)}; remove with: kubectl delete namespace {' '.join(names)}")


def _is_old(namespace: Object, now: datetime) -> bool:
    made = datetime.fromisoformat(namespace["metadata"]["creationTimestamp"].replace("Z", "+00:00"))
    return now - made > OLD


def _say(text: str) -> None:
    print(f"conformance: {text}", file=sys.stderr, flush=True)

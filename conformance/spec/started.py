"""The servers that the suite starts, with kubeadm's Corefile and the standard objects on an API of the suite's own."""

from __future__ import annotations

import json
import secrets
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp

from conformance.kubernetes.cluster import ClusterError
from conformance.objects import Object, standard
from conformance.plan import Plan
from conformance.setting import Setting
from conformance.spec.demands import demands
from conformance.spec.ground import Ground, GroundError, Server
from conformance.spec.settled import settle
from conformance.table.case import Case
from conformance.table.case_file import parse_cases
from conformance.table.stage import perform
from conformance.wire.client import Direct

CASE = Path(__file__).parent / "servers.case"

DEFAULT_ZONE = "cluster.local."

SETTLE_TIME = 15.0
"""Seconds within which a server on this machine must serve what was there before it started."""

OUTSIDE = {"www.example.com.": ("93.184.216.34", "2606:2800:220:1::1")}
"""What the scripted upstream says."""

KINDS = {
    "Namespace": "/api/v1/namespaces",
    "Service": "/api/v1/services",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/endpointslices",
}


def servers_case(zone: str) -> Case:
    """The Corefile for a cluster domain, and its upstream, in the form of a case."""
    (case,) = parse_cases(CASE.read_text().replace("{ZONE}", zone.rstrip(".")), "spec/servers")
    return case


@asynccontextmanager
async def started(setting: Setting) -> AsyncIterator[Ground]:
    """The plan's servers, once they serve the objects, which are read back from the API as it shows them."""
    plan, run = setting.plan, f"conformance-{secrets.token_hex(3)}"
    zone = plan.zone or DEFAULT_ZONE
    case = servers_case(zone)
    async with AsyncExitStack() as stack:
        try:
            api = await stack.enter_async_context(setting.clusters.open(case))
            await api.apply(standard(run, zone))
        except ClusterError as error:
            raise GroundError(str(error)) from error
        objects = [object for object in await _read_back(api.line) if is_of_run(object, run)]
        servers = [await _server(stack, case, name, api.line, plan) for name in plan.started]
        wanted = demands(objects, zone, OUTSIDE)
        for server in servers:
            await settle(server, wanted, SETTLE_TIME)
        yield Ground(servers, wanted, api.kind, zone=zone)


async def _server(stack: AsyncExitStack, case: Case, name: str, line: str, plan: Plan) -> Server:
    stage = await stack.enter_async_context(perform(case, name, line, plan.environment(name)))
    return Server(name, Direct("127.0.0.1", stage.port(1)))


def is_of_run(object: Object, run: str) -> bool:
    """Whether an object belongs to a run's namespaces, or is the Service that every cluster has."""
    metadata = object["metadata"]
    namespace = metadata.get("namespace") or metadata["name"]
    return namespace.startswith(f"{run}-") or (namespace, metadata["name"]) == ("default", "kubernetes")


async def _read_back(line: str) -> Sequence[Object]:
    """All Namespaces, Services and slices of the API that a Corefile's line names (endpoint URL, kubeconfig FILE)."""
    word, place = line.split()
    url, token = (place, "") if word == "endpoint" else _access(Path(place))
    headers = {"Authorization": f"Bearer {token}"}
    found: list[Object] = []
    async with aiohttp.ClientSession(headers=headers) as session:
        for kind, path in KINDS.items():
            async with session.get(url + path, ssl=ssl._create_unverified_context()) as response:
                listed = await response.json()
            found += ({"kind": kind, **item} for item in listed["items"])
    return found


def _access(kubeconfig: Path) -> tuple[str, str]:
    """URL and token of a kubeconfig that the suite wrote itself."""
    config = json.loads(kubeconfig.read_text())
    return config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"]

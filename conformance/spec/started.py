"""The servers that the suite starts, with kubeadm's Corefile and the standard objects on an API of the suite's own."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from conformance.kubernetes.client import ClusterError
from conformance.kubernetes.objects import Object
from conformance.objects import standard
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

KINDS = ("Namespace", "Service", "EndpointSlice")


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
        objects = [object for kind in KINDS for object in await api.listed(kind) if is_of_run(object, run)]
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

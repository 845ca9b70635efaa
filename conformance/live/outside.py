"""The ground of a run whose servers run already: where objects come from, where the DNS is, how it is asked."""

from __future__ import annotations

import secrets
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from conformance import objects as files
from conformance.kubernetes.objects import Object
from conformance.live import audit, namespaces, pod
from conformance.live.kubectl import Kubectl, KubectlError, open_kubectl
from conformance.live.reach import Reached, is_of, reach, zone_of
from conformance.plan import Plan
from conformance.setting import Setting
from conformance.spec.demand import Demand
from conformance.spec.demands import demands, demands_on
from conformance.spec.ground import Ground, GroundError, Server
from conformance.spec.settled import settle
from conformance.spec.started import DEFAULT_ZONE, is_of_run, servers_case
from conformance.table.stage import perform
from conformance.wire.client import Asker, Direct


@asynccontextmanager
async def outside(setting: Setting) -> AsyncIterator[Ground]:
    """The plan's server, once it serves the objects. Raises `GroundError`; whatever was created is removed."""
    plan = setting.plan
    async with AsyncExitStack() as stack:
        if plan.kubeconfig is None:
            yield await _without_api(plan)
            return
        kubectl = open_kubectl(plan.kubeconfig, plan.context)
        opened = _audited if plan.audit else _created
        ground = await opened(stack, plan, kubectl)
        if plan.reference == "coredns":
            ground = await _beside_coredns(stack, plan, ground)
        yield ground


async def _without_api(plan: Plan) -> Ground:
    """The objects of a file, or those that `python -m conformance.objects` prints."""
    assert plan.address, "`--subject cluster` needs a kubeconfig"
    reached = await reach(Direct(*plan.address), plan.subject)
    zone = plan.zone or DEFAULT_ZONE
    try:
        given = files.read_file(plan.objects) if plan.objects else files.standard(files.RUN, zone)
    except files.ObjectsError as error:
        raise GroundError(str(error)) from error
    wanted = demands(given, zone)
    try:
        await settle(reached.server, wanted, SERVED_TIME)
    except GroundError as error:
        raise GroundError(f"{error}\n{HOW_TO_APPLY}") from error
    return Ground([reached.server], wanted, alike=False, zone=zone)


SERVED_TIME = 5.0
"""Seconds within which objects that were applied before must be served."""

HOW_TO_APPLY = """\
Without --kubeconfig the server must serve the suite's objects already:
  python -m conformance.objects | kubectl apply -f -
or the objects that --objects FILE shows (kubectl get namespaces,services,endpointslices -A -o json > FILE)."""


# --- with the API ------------------------------------------------------------------------------------------------


async def _created(stack: AsyncExitStack, plan: Plan, kubectl: Kubectl) -> Ground:
    """Objects in namespaces of the run's own, which are made once there is a server to ask."""
    await _hint(kubectl)
    place, found = await _look(plan, kubectl)
    run = f"conformance-{secrets.token_hex(3)}"
    await stack.enter_async_context(namespaces.namespaces(kubectl, run))
    reached = found or await _through_pod(stack, plan, kubectl, f"{run}-shop", place)
    zone = await zone_of(reached, plan.zone)
    missing = await namespaces.fill(kubectl, run, zone)
    shown = [object for object in await namespaces.read(kubectl) if is_of_run(object, run)]
    wanted = demands(shown, zone)
    await settle(reached.server, wanted)
    return _ground(plan, zone, reached, wanted, tuple(missing))


async def _audited(stack: AsyncExitStack, plan: Plan, kubectl: Kubectl) -> Ground:
    """The objects that are there, some of them."""
    shown = await namespaces.read(kubectl)
    place, reached = await _look(plan, kubectl)
    if reached is None:
        raise GroundError(
            f"{_where(place)} cannot be reached from here, and --audit creates no Pod to ask from: run where it can be,"
            " or give an address with --subject ADDRESS[:PORT]"
        )
    zone = await zone_of(reached, plan.zone)
    view, missing = audit.choose(shown, plan.limit)
    return _ground(plan, zone, reached, demands_on(view, zone), missing)


def _ground(plan: Plan, zone: str, reached: Reached, wanted: Sequence[Demand], missing: tuple[str, ...]) -> Ground:
    for text in missing:
        print(f"conformance: not asked about: {text}", file=sys.stderr, flush=True)
    print(f"conformance: {plan.subject} is asked {reached.way}, its zone is {zone}", file=sys.stderr, flush=True)
    return Ground([reached.server], wanted, "live", alike=False, zone=zone)


async def _hint(kubectl: Kubectl) -> None:
    try:
        await namespaces.hint_at_leftovers(kubectl)
    except KubectlError as error:
        raise GroundError(f"the API of {kubectl.kubeconfig} does not list namespaces: {error}") from error


Place = tuple[str, int]
"""Address and port."""


async def _look(plan: Plan, kubectl: Kubectl) -> tuple[Place, Reached | None]:
    """Where the subject is, the address that is given or the cluster's DNS; None where only a Pod may reach it.

    Raises `GroundError` for an address that does not answer, or is no cluster's DNS.
    """
    if plan.address:
        reached = await reach(Direct(*plan.address), plan.subject)
        await zone_of(reached, plan.zone)
        return plan.address, reached
    place = await dns_service(kubectl, plan.dns_service)
    return place, await _from_here(plan, kubectl, Direct(*place))


def _where(place: Place) -> str:
    return f"the cluster's DNS at {place[0]} port {place[1]}"


async def _through_pod(stack: AsyncExitStack, plan: Plan, kubectl: Kubectl, namespace: str, place: Place) -> Reached:
    """The cluster's DNS, asked by a Pod in a namespace of the run."""
    await pod.start(kubectl, namespace, plan.image)
    relay = await stack.enter_async_context(pod.relaying(kubectl, namespace))
    reached = await reach(pod.ThroughPod(relay, *place), "cluster", _where(place))
    return replace(reached, way="through a Pod", resolv_conf=relay.resolv_conf)


async def _from_here(plan: Plan, kubectl: Kubectl, asker: Direct) -> Reached | None:
    """The cluster's DNS, where this machine reaches it and not something else that answers at its address."""
    api = await kubectl.read("service", "kubernetes", "-n", "default")
    try:
        reached = await reach(asker, "cluster", seconds=1.0)
    except GroundError:
        return None
    return reached if await is_of(reached.server, plan.zone or DEFAULT_ZONE, api["spec"]["clusterIP"]) else None


async def dns_service(kubectl: Kubectl, name: str) -> Place:
    """ClusterIP and port of the Service NAMESPACE/NAME. Raises `GroundError`."""
    namespace, _, service = name.rpartition("/")
    try:
        found = await kubectl.read("service", service, "-n", namespace)
    except KubectlError as error:
        raise GroundError(f"the cluster's DNS is not Service {name} (--dns-service): {error}") from error
    address = found["spec"].get("clusterIP", "None")
    if address == "None":
        raise GroundError(f"Service {name} has no ClusterIP: give an address with --subject")
    return address, _dns_port(found)


def _dns_port(service: Object) -> int:
    ports = [port["port"] for port in service["spec"].get("ports") or () if port.get("protocol") == "UDP"]
    return 53 if 53 in ports or not ports else ports[0]


async def _beside_coredns(stack: AsyncExitStack, plan: Plan, ground: Ground) -> Ground:
    """A CoreDNS started here, with kubeadm's Corefile and the same API, in front."""
    line = f"kubeconfig {plan.kubeconfig and plan.kubeconfig.absolute()} {plan.context}".rstrip()
    stage = await stack.enter_async_context(perform(servers_case(ground.zone), "coredns", line, {}))
    asker: Asker = Direct("127.0.0.1", stage.port(1))
    coredns = Server("coredns", asker)
    await settle(coredns, ground.demands)
    return replace(ground, servers=[coredns, *ground.servers])

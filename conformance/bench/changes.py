"""A line of changes: how long after the API took a change a server's answer shows it.

Both servers run, on all cores, and watch; they are asked in turns, one change each: the question is asked again and
again from the API's word (201, 200) until its answer is the new one. The shortest time is thus that of one question.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address

from conformance.bench import asking, objects, questions
from conformance.bench.api import Api
from conformance.bench.contestants import CLUSTER, OURS_FREE, REFERENCE_FREE, Contestant, Server
from conformance.bench.finding import Figure, Finding, quantile
from conformance.bench.questions import Asked
from conformance.bench.setting import Options, Setting

COUNT = 400
"""Changes for each server."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "longest": 1.0}
PATIENCE = 10.0

NAMESPACE = "ns-1"

Change = Callable[[Api, Server, int], float]
"""Makes the change of this number; milliseconds until the server answered rightly."""


def service_created(api: Api, server: Server, number: int) -> float:
    """A Service that was not there."""
    name, address = f"new-{number}", IPv4Address("10.110.0.1") + number
    service = objects.named_service(NAMESPACE, name, str(address))
    query = asking.packet(Asked(f"{name}.{NAMESPACE}.svc.{questions.ZONE}", "A"))
    with asking.Client(server.port) as client:
        client.ask(query)  # what was denied before must not be denied after
    api.create(service)
    try:
        return _milliseconds(server, query, [address])
    finally:
        api.delete("Service", NAMESPACE, name)


def slice_changed(api: Api, server: Server, number: int) -> float:
    """Another address for an endpoint of a headless Service."""
    chosen = number * objects.HEADLESS_EVERY % api.services
    name = f"{objects.name_of(chosen)}.{objects.namespace_of(chosen)}.svc.{questions.ZONE}"
    query = asking.packet(Asked(name, "A"), asking.EDNS)
    asking.until(server.port, query, lambda reply: bool(reply[7]))
    return _milliseconds(server, query, [IPv4Address(text) for text in api.change(chosen)])


def _milliseconds(server: Server, query: bytes, addresses: Sequence[IPv4Address]) -> float:
    """From now until these are the answer's addresses."""
    right = partial(asking.has_addresses, addresses)
    began = time.monotonic()
    asking.until(server.port, query, right, server.process.check, PATIENCE)
    return (time.monotonic() - began) * 1000


@dataclass(frozen=True)
class Changes:
    """`COUNT` changes of one kind for each server."""

    change: Change
    needs: Sequence[str] = ()

    def seconds(self, options: Options) -> float:
        return 6 + 2 * COUNT * 0.015

    async def run(self, setting: Setting) -> Finding:
        both = (OURS_FREE, REFERENCE_FREE)
        await setting.only(both, CLUSTER)
        ready = questions.synced(setting.api.services)
        servers = [await setting.server(one, CLUSTER, ready) for one in both]
        took = await asyncio.to_thread(self._measure, setting.api, servers)
        return conclude(took[OURS_FREE], took[REFERENCE_FREE])

    def _measure(self, api: Api, servers: Sequence[Server]) -> dict[Contestant, list[float]]:
        took: dict[Contestant, list[float]] = {server.contestant: [] for server in servers}
        for number in range(COUNT * len(servers)):
            server = servers[number % len(servers)]
            took[server.contestant].append(self.change(api, server, number))
        return took


def conclude(ours: Sequence[float], theirs: Sequence[float]) -> Finding:
    """Milliseconds as figures."""
    finding = Finding(samples={OURS_FREE.name: list(ours), REFERENCE_FREE.name: list(theirs)})
    for what, share in QUANTILES.items():
        pair = [quantile(sorted(values), share) for values in (ours, theirs)]
        finding.figures.append(Figure(what, pair[:1], theirs=pair[1:], unit="ms"))
    return finding

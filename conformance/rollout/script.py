"""One server's life behind its Service, phase by phase, while clients keep asking; the same for each server."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from conformance.clients.pod import CLUSTER_DNS
from conformance.clients.setup import world_outside
from conformance.clients.world import load_world
from conformance.kubernetes import fake_api
from conformance.rollout.clients import CLIENTS, SECOND_DNS, asking, look_ups
from conformance.rollout.network import GATEWAY, Service
from conformance.rollout.replicas import Deployment, deployed
from conformance.servers import upstream
from conformance.tally import Count, LookUp, Phase, count, silent

COREFILE = Path(__file__).parents[2] / "deploy/base/Corefile"
KUBERNETES, FORWARD = "    kubernetes cluster.local in-addr.arpa ip6.arpa {\n", "forward . /etc/resolv.conf"
"""What of it names the API and the node's resolvers, and is told where they are here."""

STEADY, SETTLE = 4.0, 2.0
"""Seconds of the phase without a change, and of each phase after what it does."""

MARGIN = 0.25
"""Seconds at a phase's end whose look-ups may meet what the next one does, and are not counted."""

KILLS = 4
LONGEST = 16.0
"""Seconds the longest look-up takes: two attempts of five seconds each, and some."""

PHASES = ("nothing happens", "rolling restart", f"kill -9, {KILLS} times")

NAMES = {"coredns": "CoreDNS"}
"""The name of the server that others are compared with, as `tally.problems` knows it."""

GROUPS = {
    "look-ups by C libraries": [client for client in CLIENTS if not client.is_plain],
    "plain questions": [client for client in CLIENTS if client.is_plain],
}
"""Who sends queries again, and who never does."""


@dataclass
class Run:
    """What one server went through, and what became of the look-ups of each of `GROUPS` in each phase."""

    subject: str
    phases: list[Phase] = field(default_factory=list)
    counts: dict[str, list[Count]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


async def go_through(subject: str, folder: Path, say: Callable[[str], None]) -> Run:
    """All phases. Raises `StartError`, `OSError`, `Skipped` when they cannot be gone through."""
    run = Run(NAMES.get(subject, Path(subject).name))
    async with _server(subject, folder, say) as deployment:
        (folder / "clients").mkdir()
        with asking(folder / "clients"):
            await asyncio.sleep(SETTLE)
            with _phase(run, PHASES[0], say):
                await asyncio.sleep(STEADY)
            with _phase(run, PHASES[1], say):
                await deployment.restart()
                await asyncio.sleep(SETTLE)
            with _phase(run, PHASES[2], say, KILLS):
                back = [await deployment.kill(turn % 2) for turn in range(KILLS)]
                await asyncio.sleep(SETTLE)
            run.remarks.append(
                f"{run.subject}: ready again {', '.join(f'{took:.1f}' for took in back)} s after kill -9"
            )
            await _finish(folder)
    found = list(look_ups(folder / "clients"))
    run.counts = {group: _counts(run.phases, found, group) for group in GROUPS}
    run.faults = [f"{run.subject}: {fault}" for fault in _faults(found, run.phases[-1].ended)]
    return run


def _faults(found: Sequence[LookUp], end: float) -> Iterator[str]:
    """What is wrong whenever it happens: addresses that are nowhere written, and clients that fell silent."""
    yield from (f"{each.client} found {each.result} for {each.name}" for each in found if is_false(each))
    for thread in silent(found, _threads(), end, LONGEST):
        yield f"{thread} said nothing for {LONGEST:g} s"


def _counts(phases: Sequence[Phase], found: Sequence[LookUp], group: str) -> list[Count]:
    answers = {client.name: client.answers for client in GROUPS[group]}
    return count(phases, [each for each in found if each.client in answers], answers)


def is_false(look_up: LookUp) -> bool:
    """Whether something was found that is not there; what is there and was not found is another fault."""
    (client,) = (each for each in CLIENTS if each.name == look_up.client)
    return not look_up.result.startswith("EAI_") and not {*look_up.result.split(",")} <= client.answers[look_up.name]


def _threads() -> list[tuple[str, int]]:
    return [(client.name, thread) for client in CLIENTS for thread in range(client.threads)]


async def _finish(folder: Path) -> None:
    """Waits for the results of look-ups that began before the last kill was over, `LONGEST` seconds at most."""
    began = time.time()
    for _ in range(int(LONGEST)):
        if not silent(look_ups(folder / "clients"), _threads(), began + SETTLE, SETTLE):
            return
        await asyncio.sleep(1)


@contextlib.contextmanager
def _phase(run: Run, name: str, say: Callable[[str], None], kills: int = 0) -> Iterator[None]:
    say(f"{run.subject}: {name}")
    began = time.time()
    yield
    run.phases.append(Phase(f"{name}, {run.subject}", run.subject, began, time.time() - MARGIN, kills))


@asynccontextmanager
async def _server(subject: str, folder: Path, say: Callable[[str], None]) -> AsyncIterator[Deployment]:
    """Two replicas with deploy/base's Corefile, an API with the clients' objects, and the zones outside."""
    async with AsyncExitStack() as stack:
        api = fake_api.FakeApi()
        api.apply(load_world().objects)
        url = await stack.enter_async_context(fake_api.serve(api, GATEWAY))
        port = await stack.enter_async_context(upstream.serve(world_outside(), GATEWAY))
        (folder / "Corefile").write_text(corefile(COREFILE.read_text(), url, f"{GATEWAY}:{port}"))
        service = Service((CLUSTER_DNS, SECOND_DNS))
        yield await stack.enter_async_context(deployed(subject, folder / "Corefile", service, say))


def corefile(text: str, api: str, resolver: str) -> str:
    """deploy/base's, with the API and the upstream of this network. Raises `ValueError` for another one."""
    if text.count(KUBERNETES) != 1 or text.count(FORWARD) != 1:
        raise ValueError(f"{COREFILE} has not one line {KUBERNETES.strip()!r} and one with {FORWARD!r}")
    return text.replace(KUBERNETES, f"{KUBERNETES}        endpoint {api}\n").replace(FORWARD, f"forward . {resolver}")

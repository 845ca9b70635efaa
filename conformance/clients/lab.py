"""What the clients' jobs share: the servers with the world behind them, and Pods to run programs in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from conformance.clients.model import Kind
from conformance.clients.pod import Ran
from conformance.clients.sandbox import Sandbox, open_sandbox
from conformance.clients.setup import HOW
from conformance.clients.shapes import ZONES
from conformance.clients.tap import DROP, Address, Recording, Tap
from conformance.clients.world import SERVICES, load_world
from conformance.plan import Plan
from conformance.servers.subjects import StartError
from conformance.setting import Setting, Skipped
from conformance.table.stage import Stage, perform
from conformance.together import together
from conformance.wire.client import Direct
from conformance.wire.message import MalformedReply, decode
from conformance.wire.question import parse_question

PODS = 24
"""How many programs run at once: most of the time they wait for replies that do not come."""

REPLIES = {Kind.SERVFAIL: "SERVFAIL", Kind.REFUSED: "REFUSED", Kind.TIMEOUT: DROP}
"""How a tap plays a whole server that does this."""


LOST = f"{ZONES[Kind.TIMEOUT]}.test."
"""The zone whose questions a tap does not let through: no server is as silent as that."""


@dataclass(frozen=True)
class Server:
    """A server under test, and the stage it runs on when this suite started it."""

    name: str
    address: Address
    stage: Stage | None = None

    @property
    def ended(self) -> str:
        """How it ended, with its log's last lines; empty while it runs or when it is not this suite's."""
        return self.stage.running.ended if self.stage and self.stage.running else ""


@dataclass(frozen=True)
class Pod:
    """A sandbox with a tap on its DNS."""

    sandbox: Sandbox
    tap: Tap

    async def run(self, argv: Sequence[str], conf: str, recording: Recording, limit: float) -> Ran:
        """Runs a program; its questions are in the recording."""
        await self.tap.record(recording)
        ran = await self.sandbox.run(argv, conf, limit)
        self.tap.catch_up()
        return ran


@dataclass(frozen=True)
class Lab:
    """The servers in the order they are compared, and the Pods that nobody uses right now."""

    servers: Sequence[Server]
    pods: asyncio.Queue[Pod]

    @asynccontextmanager
    async def pod(self) -> AsyncIterator[Pod]:
        """A Pod that nobody else uses until the block ends."""
        pod = await self.pods.get()
        try:
            yield pod
        finally:
            self.pods.put_nowait(pod)


@asynccontextmanager
async def open_lab(setting: Setting) -> AsyncIterator[Lab]:
    """Until the block ends. Raises `Skipped` where no Pods can be, `StartError` for a server that does not start."""
    async with AsyncExitStack() as stack:
        pods: asyncio.Queue[Pod] = asyncio.Queue()
        await stack.enter_async_context(open_sandbox())  # one that is refused is enough
        for pod in await together(*(stack.enter_async_context(_open_pod()) for _ in range(PODS))):
            pods.put_nowait(pod)
        servers = await _servers(setting, stack)
        yield Lab(servers, pods)


@asynccontextmanager
async def _open_pod() -> AsyncIterator[Pod]:
    async with open_sandbox() as sandbox, Tap(sandbox.sockets) as tap:
        yield Pod(sandbox, tap)


async def _servers(setting: Setting, stack: AsyncExitStack) -> list[Server]:
    plan, case = setting.plan, load_world()
    api = await stack.enter_async_context(setting.clusters.open(case))
    starts = (perform(case, subject, api.line, plan.environment(subject)) for subject in plan.started)
    stages = await together(*map(stack.enter_async_context, starts))
    servers = [Server(stage.subject, ("127.0.0.1", stage.port(1)), stage) for stage in stages]
    return servers + ([await outside(plan)] if plan.outside else [])


async def outside(plan: Plan) -> Server:
    """A server that runs already; raises `Skipped` unless it serves the objects and the zones of the world.

    Raises `StartError` for one that does not answer.
    """
    if plan.address is None:
        raise Skipped(f"a Pod sandbox has no way to the DNS of a {plan.subject}: give its address, --subject ADDRESS")
    for name, found in _MARKS.items():
        if found not in await _addresses(plan.subject, plan.address, name):
            raise Skipped(
                f"{plan.subject} does not serve what conformance/clients/world.case says: no A {name} {found}\n{HOW}"
            )
    return Server(plan.subject, plan.address)


async def _addresses(subject: str, address: Address, name: str) -> set[str]:
    """What a server says of a name; raises `StartError` for one that does not answer."""
    packet = await Direct(*address).ask(parse_question(f"{name} A", "."))
    if packet is None:
        raise StartError(subject, f"no reply to {name} A")
    try:
        return {record.rdata for record in decode(packet).answer}
    except MalformedReply as error:
        raise StartError(subject, f"the reply to {name} A is no DNS message: {error}") from error


_MARKS: Mapping[str, str] = {"web.shop.svc.cluster.local.": SERVICES["web.shop"][0], "mark.ok.test.": "192.0.2.1"}

"""Two replicas of a DNS server as a Deployment has them, driven as kubelet, its controllers and kube-proxy drive them.

The times are those of a node: a readiness probe each second; a change is in kube-proxy's rules half a second after it
was noticed; a container that dies is noticed after a second, and a new one is made in its Pod. The rollout is that of
kubeadm's Deployment and of deploy/base (maxUnavailable 1, maxSurge 25 %): one Pod ends while its successor starts.
Knows processes and addresses; not what they answer.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from conformance.rollout.network import PodNetwork, Service, open_pod
from conformance.servers.processes import stop, tied
from conformance.servers.subjects import StartError, command, variables
from conformance.together import together

REPLICAS = 2
PROBE_PERIOD = 1.0
"""Seconds between two readiness probes, as in deploy/base."""

FAILURES = 3
"""Probes that must fail one after the other before a replica is not ready, kubelet's default."""

PROBE_TIME = aiohttp.ClientTimeout(total=1)
"""Seconds for one of them, kubelet's default."""

PROPAGATION = 0.5
"""Seconds from a change of a Pod until kube-proxy has it in its rules."""

NOTICED = 1.0
"""Seconds until kubelet notices that a container has ended (its PLEG looks each second)."""

CREATED = 0.4
"""Seconds that a container runtime takes to make a container and start it."""

GRACE = 30.0
"""Seconds from SIGTERM to SIGKILL, a Pod's terminationGracePeriodSeconds."""

READY_TIME = 30.0
"""Seconds until a replica that was started must be ready."""

READY_PAGE = "http://{}:8181/ready"


@dataclass
class Replica:
    """A Pod with one container. `ready` and `serving` are what its EndpointSlice would say."""

    name: str
    network: PodNetwork
    process: asyncio.subprocess.Process
    log: Path
    ready: bool = False
    serving: bool = False


@dataclass
class Deployment:
    """The replicas and the Service that they are behind. `say` is told what happens."""

    subject: str
    corefile: Path
    service: Service
    say: Callable[[str], None]
    replicas: list[Replica] = field(default_factory=list)
    made: int = 0

    async def scale_up(self) -> None:
        """The first replicas, until all are ready. Raises `StartError`."""
        for _ in range(REPLICAS):
            await self._create()
        await together(*map(self._become_ready, self.replicas))

    async def restart(self) -> None:
        """`kubectl rollout restart`: each old Pod ends while a new one starts, the next when that one is ready."""
        for old in tuple(self.replicas):
            new = await self._create()
            self.say(f"{old.name} ends, {new.name} starts")
            await together(self._terminate(old), self._become_ready(new))

    async def kill(self, number: int) -> float:
        """SIGKILL to a replica; the seconds until its container was ready again."""
        replica = self.replicas[number]
        loop = asyncio.get_running_loop()
        began = loop.time()
        replica.process.kill()
        await replica.process.wait()
        await asyncio.sleep(NOTICED)
        await together(self._leave(replica), self._start_anew(replica))
        took = loop.time() - began
        self.say(f"{replica.name} was killed and was back after {took:.1f} s")
        return took

    async def close(self) -> None:
        """Ends all at once; whoever comes next to this Service's address finds no flows to what was here."""
        for replica in self.replicas:
            replica.ready = replica.serving = False
            if replica.process.returncode is None:
                replica.process.kill()
            replica.network.close()
        self._update()
        for replica in self.replicas:
            await replica.process.wait()

    async def _create(self) -> Replica:
        self.made += 1
        network = open_pod(10 + self.made)
        name = f"{Path(self.subject).name}-{self.made}"
        log = self.corefile.with_name(f"{name}.log")
        try:
            process = await self._launch(network, log)
        except BaseException:
            network.close()
            raise
        replica = Replica(name, network, process, log)
        self.replicas.append(replica)
        return replica

    async def _launch(self, network: PodNetwork, log: Path) -> asyncio.subprocess.Process:
        words = tied(network.inside([*command(self.subject), "-conf", str(self.corefile)]), "KILL")
        with log.open("ab") as output:
            return await asyncio.create_subprocess_exec(
                *words, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output,
                env=variables({}), cwd=self.corefile.parent, start_new_session=True,
            )  # fmt: skip

    async def _start_anew(self, replica: Replica) -> None:
        await asyncio.sleep(CREATED)
        replica.process = await self._launch(replica.network, replica.log)
        await self._become_ready(replica)

    async def _become_ready(self, replica: Replica) -> None:
        """Probes until the replica is ready, then tells kube-proxy. Raises `StartError`."""
        try:
            async with asyncio.timeout(READY_TIME):
                await self._probe_until_ready(replica)
        except TimeoutError:
            raise StartError(self.subject, f"{replica.name} is not ready after {READY_TIME:g} s", replica.log) from None
        await asyncio.sleep(PROPAGATION)
        replica.ready = replica.serving = True
        self._update()

    async def _probe_until_ready(self, replica: Replica) -> None:
        while not await self._probe(replica):  # noqa: ASYNC110 - another process is asked
            await asyncio.sleep(PROBE_PERIOD)

    async def _probe(self, replica: Replica) -> bool:
        """One readiness probe. Raises `StartError` for a replica that has ended."""
        if replica.process.returncode is not None:
            status = replica.process.returncode
            raise StartError(self.subject, f"{replica.name} ended with status {status}", replica.log)
        return await self._answers_ready(replica)

    async def _answers_ready(self, replica: Replica) -> bool:
        with suppress(aiohttp.ClientError, TimeoutError):
            page = READY_PAGE.format(replica.network.address)
            async with aiohttp.ClientSession(timeout=PROBE_TIME) as session, session.get(page) as reply:
                return reply.status == 200
        return False

    async def _terminate(self, replica: Replica) -> None:
        """SIGTERM; kube-proxy learns a little later that the Pod ends, when it serves no more, and that it is gone.

        Raises `OSError` where kube-proxy's rules cannot be changed.
        """
        replica.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(PROPAGATION)
        replica.ready = False
        self._update()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE - PROPAGATION):
                await self._probe_until_ended(replica)
        await stop(replica.process)
        self.replicas.remove(replica)
        self._update()
        replica.network.close()

    async def _probe_until_ended(self, replica: Replica) -> None:
        """A Pod that ends is still probed: it serves until its probe has failed for the third time."""
        failed = 0
        while not await _ends_within(replica, PROBE_PERIOD):
            failed = 0 if await self._answers_ready(replica) else failed + 1
            if failed == FAILURES and not await _ends_within(replica, PROPAGATION):
                replica.serving = False
                self._update()

    async def _leave(self, replica: Replica) -> None:
        """A container that has died is out of the rules when kube-proxy knows."""
        await asyncio.sleep(PROPAGATION)
        replica.ready = replica.serving = False
        self._update()

    def _update(self) -> None:
        """What kube-proxy makes of the endpoints: those that are ready, else those that end but serve."""
        ready = [replica.network.address for replica in self.replicas if replica.ready]
        serving = [replica.network.address for replica in self.replicas if replica.serving]
        self.service.update(ready or serving, serving)


async def _ends_within(replica: Replica, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await replica.process.wait()
    return replica.process.returncode is not None


@asynccontextmanager
async def deployed(
    subject: str, corefile: Path, service: Service, say: Callable[[str], None]
) -> AsyncIterator[Deployment]:
    """Two replicas that are ready, until the block ends. Raises `StartError`, `OSError`."""
    deployment = Deployment(subject, corefile, service, say)
    try:
        await deployment.scale_up()
        yield deployment
    finally:
        await deployment.close()

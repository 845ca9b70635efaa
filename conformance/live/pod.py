"""A Pod in the suite's own namespace that asks for it: the way to a cluster DNS that is not reachable from here."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from conformance.kubernetes.objects import Object
from conformance.live.kubectl import Kubectl, KubectlError, last_words
from conformance.spec.ground import GroundError
from conformance.wire.client import packets
from conformance.wire.question import Question

NAME = "conformance-client"
RELAY = Path(__file__).parent / "pod_relay.py"

READY_TIME = 180.0
"""Seconds a Pod has to become ready, the pulling of its image included."""

ACCOUNT_TIME = 15.0
"""Seconds within which a new namespace must have its ServiceAccount, without which the API refuses Pods."""

GRACE = 2.0
"""Seconds that a reply may take beyond its time-out on its way out of the Pod."""

LINE_LIMIT = 1 << 20

HOPELESS = frozenset({"CreateContainerConfigError", "ErrImageNeverPull", "ImagePullBackOff", "InvalidImageName"})
"""Reasons to wait of a container that time does not mend."""


def pod(namespace: str, image: str) -> Object:
    """A Pod that does nothing, and may run where only restricted ones are let in."""
    security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {
        "name": "client",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-c", "import time; time.sleep(7200)"],
        "securityContext": security,
    }
    spec = {
        "containers": [container],
        "activeDeadlineSeconds": 7200,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "terminationGracePeriodSeconds": 0,
        "tolerations": [{"operator": "Exists"}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": NAME, "namespace": namespace}, "spec": spec}


async def start(kubectl: Kubectl, namespace: str, image: str) -> None:
    """Creates the Pod and waits until it is ready; its end is the namespace's. Raises `GroundError`."""
    await _create(kubectl, pod(namespace, image))
    deadline = asyncio.get_running_loop().time() + READY_TIME
    while not is_ready(found := await kubectl.read("pod", NAME, "-n", namespace)):
        if hopeless(found) or asyncio.get_running_loop().time() > deadline:
            raise GroundError(await _explained(kubectl, namespace, image, found))
        await asyncio.sleep(0.5)


async def _create(kubectl: Kubectl, wanted: Object) -> None:
    deadline = asyncio.get_running_loop().time() + ACCOUNT_TIME
    while True:
        try:
            await kubectl.create([wanted])
        except KubectlError as error:
            if "serviceaccount" not in str(error) or asyncio.get_running_loop().time() > deadline:
                raise GroundError(f"the suite cannot create its Pod: {error}") from error
        else:
            return
        await asyncio.sleep(0.5)


def is_ready(found: Object) -> bool:
    """Whether the API shows the Pod as ready."""
    return any(each["type"] == "Ready" and each["status"] == "True" for each in found["status"].get("conditions") or ())


def hopeless(found: Object) -> bool:
    """Whether waiting longer does not help."""
    ended = found["status"].get("phase") in ("Failed", "Succeeded")
    return ended or any(state.get("reason") in HOPELESS for state in _waiting(found))


def _waiting(found: Object) -> list[Object]:
    statuses = found["status"].get("containerStatuses") or ()
    return [each["state"]["waiting"] for each in statuses if "waiting" in each.get("state", {})]


async def _explained(kubectl: Kubectl, namespace: str, image: str, found: Object) -> str:
    """Why the Pod is not ready: its conditions, what its container waits for, the last events."""
    said = [f"the Pod {namespace}/{NAME} with image {image} does not become ready (--image names another one)"]
    conditions = found["status"].get("conditions") or ()
    said += [f"  {each['type']}: {each.get('message') or each.get('reason')}" for each in conditions
             if each["status"] != "True" and (each.get("message") or each.get("reason"))]  # fmt: skip
    said += [f"  {state.get('reason', '')}: {state.get('message', '')}" for state in _waiting(found)]
    with contextlib.suppress(KubectlError):
        events = await kubectl.read("events", "-n", namespace, f"--field-selector=involvedObject.name={NAME}")
        said += [f"  event {each.get('reason', '')}: {each.get('message', '')}" for each in events["items"][-5:]]
    return "\n".join(dict.fromkeys(said))


# --- asking ----------------------------------------------------------------------------------------------------


@dataclass
class Relay:
    """The relay in the Pod, running; `resolv_conf` is the Pod's."""

    process: asyncio.subprocess.Process
    resolv_conf: str = ""
    waiting: dict[int, asyncio.Future[list[bytes]]] = field(default_factory=dict)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def exchange(self, transport: str, address: str, port: int, sent: list[bytes], seconds: float) -> list[bytes]:
        """The replies to packets, none when not all came in time. Raises `GroundError` when the relay ended."""
        number = next(self.numbers)
        answer: asyncio.Future[list[bytes]] = asyncio.get_running_loop().create_future()
        self.waiting[number] = answer
        order = {"id": number, "transport": transport, "address": address, "port": port, "timeout": seconds}
        self._write({**order, "packets": [packet.hex() for packet in sent]})
        try:
            async with asyncio.timeout(seconds + GRACE):
                return await answer
        except TimeoutError:
            return []
        finally:
            self.waiting.pop(number, None)

    def _write(self, order: Object) -> None:
        if self.process.stdin is None or self.process.stdin.is_closing():
            raise GroundError("the relay in the Pod has ended")
        self.process.stdin.write(json.dumps(order).encode() + b"\n")

    async def listen(self) -> None:
        """Hands out answers until the relay ends."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            answer = json.loads(line)
            waiting = self.waiting.get(answer["id"])
            if waiting and not waiting.done():
                waiting.set_result([bytes.fromhex(text) for text in answer["replies"]])
        for waiting in self.waiting.values():
            if not waiting.done():
                waiting.set_exception(GroundError("the relay in the Pod has ended"))


@asynccontextmanager
async def relaying(kubectl: Kubectl, namespace: str) -> AsyncIterator[Relay]:
    """Runs the relay in the Pod until the block ends. Raises `GroundError`."""
    words = kubectl.words("exec", "-i", "-n", namespace, NAME, "--", "python3", "-u", "-c", RELAY.read_text())
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *words, stdin=pipe, stdout=pipe, stderr=pipe, limit=LINE_LIMIT, start_new_session=True
    )
    try:
        relay = Relay(process, await _greeting(process))
        listener = asyncio.create_task(relay.listen())
        try:
            yield relay
        finally:
            listener.cancel()
            await asyncio.gather(listener, return_exceptions=True)
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """The relay ends with its input, and kubectl with the relay."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(GRACE):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _greeting(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None and process.stderr is not None
    line = await process.stdout.readline()
    if not line:
        errors = last_words((await process.stderr.read()).decode(errors="replace"))
        raise GroundError(f"the relay does not run in the Pod; its image needs python3: {errors}")
    text: str = json.loads(line)["resolv_conf"]
    return text


@dataclass(frozen=True)
class ThroughPod:
    """An asker whose packets leave from the Pod."""

    relay: Relay
    address: str
    port: int

    async def ask(self, question: Question) -> bytes | None:
        """The reply packet, or None when none came in time."""
        sent = packets(question)
        got = await self.relay.exchange(question.transport, self.address, self.port, sent, question.timeout)
        return next((reply for reply in got if reply[:2] == sent[-1][:2]), None)

"""kubectl as the way to a live cluster's API: it knows every way to log in. Knows no DNS."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.kubernetes.objects import Object
from conformance.spec.ground import GroundError
from conformance.tools.build import binary, built

REQUEST_TIME = 20
"""Seconds for one request of kubectl's to the API."""


class KubectlError(GroundError):
    """What kubectl said when it failed."""


@dataclass(frozen=True)
class Kubectl:
    """A kubeconfig, one of its contexts (empty: the current one), and the program."""

    program: str
    kubeconfig: Path
    context: str = ""

    def words(self, *words: str) -> list[str]:
        """A command line."""
        context = [f"--context={self.context}"] if self.context else []
        return [self.program, f"--kubeconfig={self.kubeconfig}", *context, *words]

    async def run(self, *words: str, given: str = "") -> str:
        """What it printed, `given` being its input. Raises `KubectlError`; ends the process when cancelled."""
        process = await asyncio.create_subprocess_exec(
            *self.words(f"--request-timeout={REQUEST_TIME}s", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the suite, which still needs it to clean up
        )
        try:
            output, errors = await process.communicate(given.encode())
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise KubectlError(last_words(errors.decode(errors="replace")))
        return output.decode()

    async def read(self, *words: str) -> Object:
        """An object or a list, as `kubectl get` gives it. Raises `KubectlError`."""
        answer: Object = json.loads(await self.run("get", *words, "-o", "json"))
        return answer

    async def create(self, objects: Sequence[Object]) -> None:
        """Creates objects in their order. Raises `KubectlError`."""
        together = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        await self.run("create", "-f", "-", given=json.dumps(together))


def last_words(errors: str) -> str:
    """An error of kubectl's without its log lines and repetitions."""
    lines = [line for line in errors.splitlines() if line.strip() and not _is_log(line)]
    return "; ".join(dict.fromkeys(lines)) or "kubectl failed and did not say why"


def _is_log(line: str) -> bool:
    """Lines like `E1130 13:05:11.123456 …` of klog."""
    return line[:1] in "EIW" and line[1:5].isdigit()


def open_kubectl(kubeconfig: Path, context: str) -> Kubectl:
    """Raises `GroundError` where there is no kubectl, or no kubeconfig that can be read."""
    try:
        kubeconfig.read_bytes()
    except OSError as error:
        raise GroundError(f"kubeconfig {kubeconfig}: {error.strerror}") from error
    program = str(binary("kubectl")) if built("kubectl") else shutil.which("kubectl")
    if program is None:
        raise GroundError("kubectl is missing: install it, or build it with: python -m conformance.tools.build kubectl")
    return Kubectl(program, kubeconfig, context)

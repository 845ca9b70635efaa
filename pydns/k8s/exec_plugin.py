"""Credentials from a program that a kubeconfig names (`exec`), as EKS, GKE and AKS have it.

Follows client.authentication.k8s.io/v1 and client-go's wording of what goes wrong.  Knows neither kubeconfig files nor
requests (`client`).
"""

import asyncio
import json
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec import Struct

from pydns.k8s.transport import CredentialsError

PATIENCE: Final = 60.0
"""Seconds that a program may take."""
MARGIN: Final = timedelta(seconds=30)
"""Credentials are renewed that long before they expire."""


class Variable(Struct):
    name: str
    value: str


class Program(Struct, rename="camel"):
    """What a kubeconfig says of the program."""

    command: str
    api_version: str
    args: list[str] | None = None
    env: list[Variable] | None = None


class Credentials(Struct, rename="camel"):
    """What the program says: a token, or a certificate and its key in PEM.  Without an expiry they are used once."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class ExecCredential(Struct):
    status: Credentials


class ExecPlugin:
    """Runs the program when credentials are needed, one run at a time; raises ValidationError for a bad `spec`."""

    def __init__(self, spec: Any, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._program = msgspec.convert(spec, Program)
        self._now = now
        self._running = asyncio.Lock()
        self._credentials: Credentials | None = None

    async def credentials(self) -> Credentials:
        """Credentials that hold now; raises CredentialsError."""
        async with self._running:
            if not self._credentials or self._expired(self._credentials):
                self._credentials = None
                self._credentials = read(await run(self._program))
            return self._credentials

    def _expired(self, credentials: Credentials) -> bool:
        expiry = credentials.expiration_timestamp
        return expiry is None or expiry - MARGIN <= self._now()


async def run(program: Program) -> bytes:
    """What the program writes; raises CredentialsError."""
    info = {"apiVersion": program.api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
    own = {one.name: one.value for one in program.env or ()}
    try:
        process = await asyncio.create_subprocess_exec(
            program.command,
            *(program.args or ()),
            env={**os.environ, **own, "KUBERNETES_EXEC_INFO": json.dumps(info)},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
        )
    except FileNotFoundError:
        raise failure(f"exec: executable {program.command} not found")
    except OSError as error:
        raise failure(f"exec: executable {program.command}: {error.strerror or error}")
    return await output_of(process, program.command)


async def output_of(process: asyncio.subprocess.Process, command: str) -> bytes:
    try:
        async with asyncio.timeout(PATIENCE):
            output, complaint = await process.communicate()
    except TimeoutError:
        raise failure(f"exec: executable {command} takes more than {PATIENCE:.0f}s")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        words = " ".join(complaint.decode(errors="replace").split())
        raise failure(f"exec: executable {command} failed with exit code {process.returncode}: {words}".rstrip(": "))
    return output


def read(output: bytes) -> Credentials:
    try:
        credentials = msgspec.json.decode(output, type=ExecCredential).status
    except msgspec.DecodeError as error:
        raise failure(f"decoding stdout: {error}")
    if not (credentials.token or (credentials.client_certificate_data and credentials.client_key_data)):
        raise failure("exec plugin didn't return a token or cert/key pair")
    return credentials


def failure(why: str) -> CredentialsError:
    return CredentialsError(f"getting credentials: {why}")

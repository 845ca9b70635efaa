"""What the jobs of one run share: the plan, the Kubernetes APIs, and whatever else is started once and used by many."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from conformance.plan import Plan
from conformance.results import Outcome
from conformance.servers.processes import end_all
from conformance.table.api import Clusters, FakeClusters, RealClusters

T = TypeVar("T")


class Skipped(Exception):
    """A job cannot run on this machine; the message says what is missing."""


class Waits(Exception):
    """A job needs what the server under test does not serve yet; the message names it."""


class Absent(Exception):
    """What is judged has nothing that a job is about; the message says what there is none of."""


class Job(Protocol):
    """One unit of the suite with a name below an area (`kubernetes/ptr`), and seconds after which it is ended."""

    @property
    def name(self) -> str:
        """AREA/NAME, what filters look at."""

    @property
    def about(self) -> str:
        """One line for people: what it checks, and what it needs."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The requirements it covers (R11, K5), known before it runs: so that one that is skipped can be named."""

    @property
    def limit(self) -> float:
        """Seconds it may take."""

    async def run(self, setting: Setting, outcome: Outcome) -> None:
        """Adds verdicts to the outcome. Raises `Skipped`, `Waits` or `Absent` when it cannot be run."""


class Setting:
    """Use as a context manager: leaving it stops everything that was started, what is just starting included."""

    clusters: Clusters

    def __init__(self, plan: Plan, real_api: bool) -> None:
        self.plan = plan
        self._real_api = real_api
        self._open = AsyncExitStack()
        self._shared: dict[Callable[..., Any], asyncio.Future[Any]] = {}

    async def __aenter__(self) -> Self:
        self.clusters = FakeClusters()
        if self._real_api:
            folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="conformance-cluster-"))
            self.clusters = await self._open.enter_async_context(RealClusters(Path(folder)))
        return self

    async def __aexit__(self, *_: object) -> None:
        end_all()
        await asyncio.gather(*self._shared.values(), return_exceptions=True)
        await self._open.aclose()

    def provide(self, opener: Callable[[Setting], AbstractAsyncContextManager[T]], value: T) -> None:
        """Makes `shared(opener)` give what was opened elsewhere, and is closed there."""
        self._shared[opener] = asyncio.get_running_loop().create_future()
        self._shared[opener].set_result(value)

    async def shared(self, opener: Callable[[Setting], AbstractAsyncContextManager[T]]) -> T:
        """What `opener(setting)` gives: opened when first asked for, the same for all jobs, closed at the end."""
        if opener not in self._shared:
            self._shared[opener] = asyncio.create_task(self._open.enter_async_context(opener(self)))
        found: T = await asyncio.shield(self._shared[opener])
        return found

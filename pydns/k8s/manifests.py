"""A store that follows manifest files instead of an API (`--manifests`).

A file that changes is a cluster that changes: its new contents are read aside, and applied to the store as a difference
in one step.  Files that no longer make sense change nothing; the log says which and where.  Directories are watched,
not files, so that editors that replace a file and ConfigMaps that swap a symbolic link are both noticed; and the files
are looked at every few seconds whatever the system says, so that no change is missed for long.

Knows neither YAML (`documents`) nor Kubernetes (`derive`).
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from hashlib import blake2b
from pathlib import Path
from typing import Final

import watchfiles

from pydns.k8s.derive import build, skipped_kinds
from pydns.k8s.documents import Document, ManifestError, is_manifest, manifest_files, parse, read_file
from pydns.k8s.objects import Kind, Object
from pydns.k8s.source import Clock, Interest
from pydns.k8s.store import Key, Store
from pydns.log import for_plugin
from pydns.tasks import Tasks

log = for_plugin("kubernetes")

LOOK: Final = 5.0
"""Seconds after which the files are looked at though nothing was noticed."""

Changes = Callable[[Sequence[str]], AsyncGenerator[object, None]]
"""Yields something after each change of the files at these paths, and perhaps at other times."""


class Manifests:
    """The files at some paths, and the cluster they describe."""

    def __init__(self, paths: Sequence[str], interest: Interest) -> None:
        self._paths = paths
        self._interest = interest
        self._digests: dict[Path, bytes] | None = None

    def read(self) -> Mapping[Kind, dict[Key, Object]] | None:
        """The cluster's objects, or None where no file changed since the last call; raises ManifestError."""
        texts = {path: read_file(path) for path in manifest_files(self._paths)}
        digests = {path: blake2b(text).digest() for path, text in texts.items()}
        if digests == self._digests:
            return None
        self._digests = digests
        documents = [document for path, text in texts.items() for document in parse(str(path), text)]
        report(documents)
        return build(documents, self._interest)


def report(documents: Sequence[Document]) -> None:
    skipped = skipped_kinds(documents)
    if skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(skipped.items()))
        log.info(f"of {len(documents)} manifests skipped {kinds}")


class ManifestSource:
    """A Source that reads manifest files, and directories of them.

    `clock` gives Unix seconds; `changes` and `sleep` are there to be replaced.
    """

    def __init__(
        self,
        paths: Sequence[str],
        interest: Interest,
        clock: Clock = time.time,
        changes: Changes | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.store = Store(interest.kinds, clock)
        self._paths = paths
        self._manifests = Manifests(paths, interest)
        self._changes = changes or file_changes
        self._sleep = sleep
        self._tasks = Tasks()
        self._complaints: set[str] = set()

    async def start(self) -> None:
        """Read the manifests and follow them from now on; raises ManifestError."""
        await self._load()
        self._tasks.run(self._follow())

    async def stop(self) -> None:
        """Stop following the files; the store keeps what it has.  Stopping twice does no harm."""
        await self._tasks.stop()

    async def wait_synced(self, timeout: float) -> bool:
        """True once started: the files are read before `start` returns."""
        return self.store.synced

    async def _load(self) -> None:
        cluster = await asyncio.to_thread(self._manifests.read)
        if cluster is None:
            return
        for kind, items in cluster.items():
            self.store.replace(kind, items)
        self._complaints.clear()

    async def _follow(self) -> None:
        while True:
            try:
                async with aclosing(self._changes(self._paths)) as changes:
                    async for _ in changes:
                        await self._reload()
            except (OSError, RuntimeError) as error:
                self._complain(f"cannot watch the manifests: {error}")
            await self._sleep(LOOK)
            await self._reload()

    async def _reload(self) -> None:
        try:
            await self._load()
        except ManifestError as error:
            self._complain(f"manifests not reloaded, the last good ones stay: {error}")

    def _complain(self, complaint: str) -> None:
        """Log what is wrong, once until manifests have been loaded again."""
        if complaint not in self._complaints:
            self._complaints.add(complaint)
            log.error(complaint)


async def file_changes(paths: Sequence[str]) -> AsyncGenerator[object, None]:
    """Changes of the files, as the operating system notices them, and every LOOK seconds."""
    given = {Path(path).absolute() for path in paths}
    directories = {path if path.is_dir() else path.parent for path in (*given, *(one.resolve() for one in given))}
    names = {path.name for path in given}

    def concerns(_: watchfiles.Change, changed: str) -> bool:
        path = Path(changed)
        swapped = path.name.startswith("..")  # the symbolic link `..data` of a mounted ConfigMap or Secret
        return swapped or is_manifest(path) or path.name in names

    watch = watchfiles.awatch(
        *directories, watch_filter=concerns, rust_timeout=int(LOOK * 1000), yield_on_timeout=True, recursive=False
    )
    async with aclosing(watch) as batches:
        async for batch in batches:
            yield batch

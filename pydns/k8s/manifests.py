"""A store that follows manifest files instead of an API (`--manifests`).

A file that changes is a cluster that changes: its new contents are read aside, and applied to the store as a difference
in one step.  Files that no longer make sense change nothing; the log says which and where.  Directories are watched,
not files, so that editors that replace a file and ConfigMaps that swap a symbolic link are both noticed; and the files
are looked at every few seconds whatever the system says, so that no change is missed for long.

Knows neither YAML (`documents`) nor Kubernetes (`derive`).
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from hashlib import blake2b
from pathlib import Path
from typing import Final

import watchfiles

from pydns.k8s.derive import build
from pydns.k8s.documents import (
    Document,
    ManifestError,
    is_manifest,
    manifest_files,
    parse,
    read_file,
    unread_folders,
)
from pydns.k8s.objects import Kind, Object
from pydns.k8s.source import Clock, Interest
from pydns.k8s.store import Key, Store
from pydns.k8s.survey import is_read, skipped_kinds, warnings
from pydns.log import for_plugin
from pydns.tasks import Tasks

log = for_plugin("kubernetes")

LOOK: Final = 5.0
"""Seconds after which the files are looked at though nothing was noticed."""

Changes = Callable[[Sequence[str]], AsyncGenerator[object, None]]
"""Yields something after each change of the files at these paths, and perhaps at other times."""


class Manifests:
    """The files at some paths, and the cluster they describe; `count` is how many objects are written in them."""

    def __init__(self, paths: Sequence[str], interest: Interest) -> None:
        self.count = 0
        self._paths = paths
        self._interest = interest
        self._digests: dict[Path, bytes] | None = None
        self._warned: set[str] = set()
        self._skipped: Mapping[str, int] = {}

    def read(self) -> Mapping[Kind, dict[Key, Object]] | None:
        """The cluster's objects, or None where no file changed since the last call; raises ManifestError."""
        texts = {path: read_file(path) for path in manifest_files(self._paths)}
        digests = {path: blake2b(text).digest() for path, text in texts.items()}
        if digests == self._digests:
            return None
        self._digests = digests
        documents = [document for path, text in texts.items() for document in parse(str(path), text)]
        cluster = build(documents, self._interest)
        self.count = sum(map(is_read, documents))
        self._report(documents)
        return cluster

    def _report(self, documents: Sequence[Document]) -> None:
        """Log what a person should know of the manifests and was not told of them last time."""
        skipped = skipped_kinds(documents)
        if skipped and skipped != self._skipped:
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(skipped.items()))
            log.info(f"of {len(documents)} manifests skipped {kinds}")
        self._skipped = skipped
        found = dict.fromkeys((*self._odd_paths(), *warnings(documents)))
        for warning in found:
            if warning not in self._warned:
                log.warning(warning)
        self._warned = set(found)

    def _odd_paths(self) -> Iterator[str]:
        if not self.count:
            yield f"no objects in {', '.join(self._paths)}"
        for folder in unread_folders(self._paths):
            yield f"subfolder {folder} is not read; name it after --manifests if it is meant"


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

    @property
    def followed(self) -> bool:
        """See `Source.followed`."""
        return self.store.synced

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

    async def _load(self) -> bool:
        """Read the files if they changed; whether they did."""
        cluster = await asyncio.to_thread(self._manifests.read)
        if cluster is None:
            return False
        for kind, items in cluster.items():
            self.store.replace(kind, items)
        self._complaints.clear()
        return True

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
            if await self._load():
                count = self._manifests.count
                log.info(f"manifests reloaded: {count} object{'' if count == 1 else 's'}")
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

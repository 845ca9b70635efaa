"""What a plugin is, and what it may know of the server around it.

A plugin is a class with a ``name``, an `Options` dataclass and, as a link of the chain, the coroutine ``serve``:

* to answer, return a `Message` (see `Query.reply`);
* to pass on, ``return await self.next(query)``; to change a reply, await that and return a changed copy;
* CoreDNS's "rcode returned, nothing written" is ``raise Failure(rcode, why)``: never cached, logged by *errors*, made a
  reply by the server;
* ``raise Dropped()`` sends no reply at all.

Consent to the packet cache is explicit and defaults to no, twice: the class says ``replay_safe`` where serving the same
bytes again without calling it is right, and a reply carries a `Replay`.  For a reply that may serve for other names,
too (`Pattern`), every link in front of the one that made it must say so: ``treats_alike``.  A link that counts a query
says how its reply is counted that is sent again (`Query.counters`).

This module knows no plugin by name and no socket.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, cast, runtime_checkable

from pydns import log
from pydns.corefile.line import Findings
from pydns.corefile.options import Options
from pydns.dns.message import Message
from pydns.metrics import Metrics
from pydns.query import Query, Serve
from pydns.workforce import Workers

if TYPE_CHECKING:
    from pydns.corefile.keys import Key
    from pydns.corefile.line import Line
    from pydns.http import HttpListeners

P = TypeVar("P")


@dataclass
class Settings:
    """What plugins without a link of their own say about the block that they stand in."""

    addresses: tuple[str, ...] = ()
    """Addresses to listen on (*bind*); none means all."""
    debug: bool = False
    """Whether a bug ends the process instead of one query (*debug*)."""
    stacktrace: bool = False
    """Whether a bug is logged with its stack (*errors*)."""
    root: Path = Path()
    """The base of relative file names (*root*)."""
    read_timeout: float = 3.0
    """Seconds until the first query of a TCP connection must have come."""
    write_timeout: float = 5.0
    """Seconds that a TCP client may leave replies unread."""
    idle_timeout: float = 10.0
    """Seconds that a TCP connection may be silent."""
    sockets: int = 1
    """Sockets of each kind for an address, each served by a process of its own if there are several (*multisocket*)."""


class Changes:
    """Tells whoever remembers replies which data changed (the tags of a `Replay`)."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Iterable[Hashable]], None]] = []

    def listen(self, listener: Callable[[Iterable[Hashable]], None]) -> None:
        self._listeners.append(listener)

    def forget(self, listener: Callable[[Iterable[Hashable]], None]) -> None:
        self._listeners.remove(listener)

    @property
    def heard(self) -> bool:
        """Whether somebody remembers replies; not so during the start, with one change for each object there is."""
        return bool(self._listeners)

    def publish(self, tags: Iterable[Hashable]) -> None:
        """Call this in the loop iteration that applies the change."""
        log.tell(self._listeners, tags)


@dataclass
class Process:
    """What all server blocks share, also over reloads.

    ``clock`` is monotonic seconds, ``wall`` Unix seconds; ``sleep`` waits for seconds of the clock.  ``kubeconfig`` and
    ``manifests`` are what the command line puts in place of the API named in the Corefile.
    """

    metrics: Metrics
    http: HttpListeners
    corefile: str = "Corefile"
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    random: random.Random = field(default_factory=random.SystemRandom)
    kubeconfig: Path | None = None
    manifests: tuple[Path, ...] = ()
    changes: Changes = field(default_factory=Changes)
    worker: bool = False
    """Whether this is one of several processes that serve what their parent has read, watched and opened."""
    common: int = 0
    """A random number, another one for each configuration, that a parent and its workers have in common."""
    fatal: Callable[[], None] = lambda: None
    """Ends the process with exit status 1 after a fatal log line."""
    reload: Callable[[], Awaitable[bool]] | None = None
    """Replaces the running configuration by the Corefile as it is now; False where that failed."""
    workers: Workers = field(default_factory=Workers)
    """What the worker processes have to tell."""
    _shared: dict[type, Any] = field(default_factory=dict)

    def shared(self, kind: type[P]) -> P:
        """The one object of class ``kind`` that the plugins of all blocks share, also over reloads."""
        if kind not in self._shared:
            self._shared[kind] = kind()
        return cast(P, self._shared[kind])


@dataclass
class Block:
    """One server block as its plugins see it."""

    keys: tuple[Key, ...]
    process: Process
    settings: Settings = field(default_factory=Settings)
    plugins: dict[str, Plugin] = field(default_factory=dict)
    """The block's plugins by name, in the order in which they run; complete when ``start`` is called."""

    @property
    def zones(self) -> tuple[str, ...]:
        """The block's zones, lower-case, in the order written."""
        return tuple(dict.fromkeys(key.zone for key in self.keys))

    def path(self, name: str | Path) -> Path:
        """A file name of the Corefile, relative to *root*."""
        return self.settings.root / name

    def having(self, protocol: type[P]) -> list[P]:
        """The block's plugins that have what a Protocol asks for."""
        return [plugin for plugin in self.plugins.values() if isinstance(plugin, protocol)]


class Plugin:
    """Base of every plugin.  One without a ``serve`` of its own is no link of the chain: it changes settings."""

    name: ClassVar[str]
    options: ClassVar[type[Options]]
    repeatable: ClassVar[bool] = False
    """Whether several lines in one block make one plugin; its ``__init__`` then gets the list of their options."""
    first_line_only: ClassVar[bool] = False
    """Whether further lines in one block are left out with a warning instead of being an error."""
    replay_safe: ClassVar[bool] = False
    """Whether a reply may be sent again without calling this plugin."""
    once: ClassVar[bool] = False
    """Whether it works for the process as a whole: of several only the parent starts it."""
    any_class: ClassVar[bool] = False
    """Whether its presence opens the listener to classes other than IN."""

    next: Serve
    """The link behind this one."""

    def __init__(self, block: Block, conf: Any) -> None:
        self.block = block
        self.process = block.process
        self.log = log.for_plugin(self.name)

    @classmethod
    def setup(cls, block: Block, lines: Sequence[Line]) -> Self:
        """Make the plugin from its lines in one server block.  Raises CorefileError."""
        findings = Findings()
        confs: list[Options] = []
        for line in lines if cls.repeatable else lines[:1]:
            with findings.part():
                confs.append(cls.options.parse(line))
        with findings.part():
            cls._check_repeats(lines)
        findings.close()
        return cls(block, confs if cls.repeatable else confs[0])

    @classmethod
    def _check_repeats(cls, lines: Sequence[Line]) -> None:
        if cls.repeatable or len(lines) == 1:
            return
        if not cls.first_line_only:
            raise lines[1].only_once()
        for line in lines[1:]:
            line.warn(f"only the first line of '{cls.name}' in a block counts")

    def treats_alike(self, zone: str) -> bool:
        """Whether this plugin need not see queries for names below ``zone`` (lower-case) that a link behind it denies,
        or answers by one address.

        That is so where it does the same for each such name and keeps nothing of it, but for what `Replay.counters`
        count.  It defaults to no.
        """
        return False

    async def serve(self, query: Query) -> Message:
        """Answer ``query``, or pass it to ``next``."""
        return await self.next(query)

    async def start(self) -> None:
        """Before the sockets open.  Raises ValueError or OSError where the plugin cannot do its work."""

    async def serving(self) -> None:
        """After the sockets opened; must return soon."""

    async def lameduck(self) -> None:
        """Before the final stop, while queries are still answered."""

    async def stop(self) -> None:
        """After the sockets closed, or after a reload put another configuration in place."""

    @classmethod
    def is_link(cls) -> bool:
        return cls.serve is not Plugin.serve


@runtime_checkable
class Ready(Protocol):
    """A plugin with a readiness state, for *ready*."""

    name: ClassVar[str]

    def is_ready(self) -> bool: ...


@runtime_checkable
class Describes(Protocol):
    """A plugin that notes facts about a query, for *metadata*."""

    def metadata(self, query: Query) -> dict[str, Callable[[], str]]: ...


@runtime_checkable
class Counts(Protocol):
    """A plugin that counts queries which no block's chain saw, for *prometheus*.

    ``rcode`` is what the server answered on its own (REFUSED, FORMERR, NOTIMP, BADVERS).
    """

    def refused(self, query: Query, reply: Message, size: int) -> None: ...

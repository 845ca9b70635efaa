"""Loads the Corefile again when it changed.

Every interval, give or take half the jitter, the Corefile is read and parsed, with everything it imports.  If that
gives something else than before, a new configuration takes the place of the running one: it is started beside it,
takes over its sockets, and no query is lost.  If it cannot be started, or does not parse, the running one stays, the
log says why, and the same Corefile is not tried again.  Other files, such as those of *hosts*, are not looked at.

The whole process reloads, whichever block has the plugin; where several have it, the last one's times count.

## Examples

```corefile
. {
    reload 10s
    whoami
}
```

## Metrics

* `coredns_reload_failed_total` - reloads that failed.
* `coredns_reload_last_successful` - 0 from a reload that failed to the next one that does not; of pydns's own.
* `coredns_reload_version_info{hash, value}` - 1, with the SHA512 of the Corefile that was loaded last.
"""

import os
from dataclasses import dataclass, replace
from hashlib import sha512
from typing import Self

from pydns import registry
from pydns.corefile.line import CorefileError, Line
from pydns.corefile.options import Options, argument
from pydns.corefile.parser import load
from pydns.corefile.types import duration, strict
from pydns.plugin import Block, Plugin
from pydns.tasks import Tasks

MIN_INTERVAL, MIN_JITTER = 2.0, 1.0
STDIN = "stdin"
"""A Corefile that can be read once only."""


@dataclass
class ReloadOptions(Options):
    interval: float = argument(strict(duration()), default=30.0, help="time between two looks, at least 2s")
    jitter: float = argument(duration(), default=15.0, help="how much that time varies, at least 1s; 0s: not at all")

    @classmethod
    def parse(cls, line: Line) -> Self:
        """As `Options.parse`; CoreDNS does not look into braces."""
        if line.block is not None:
            line.warn("what stands between the braces is left out")
        return super().parse(replace(line, block=None))

    def validate(self, line: Line) -> None:
        if self.interval < MIN_INTERVAL:
            raise line.error("interval value must be greater or equal to 2s")
        if self.jitter != 0 and self.jitter < MIN_JITTER:
            raise line.error("jitter value must be 0 or greater or equal to 1s")


class _Watchers:
    """The *reload* plugins that run; the youngest one watches."""

    def __init__(self) -> None:
        self.running: list[Reload] = []


class Reload(Plugin):
    name = "reload"
    once = True
    options = ReloadOptions
    first_line_only = True

    def __init__(self, block: Block, conf: ReloadOptions) -> None:
        super().__init__(block, conf)
        jitter = min(conf.jitter, conf.interval / 2)
        self._interval = conf.interval + jitter * (self.process.random.random() - 0.5)
        self._watchers = self.process.shared(_Watchers)
        self._tasks = Tasks()
        self._version = self.process.metrics.gauge(
            "reload_version_info",
            "A metric with a constant '1' value labeled by hash, and value which type of hash generated.",
            ("hash", "value"),
        )
        self._digest = ""

    async def start(self) -> None:
        self._watchers.running.append(self)
        self._digest = self._read() or ""

    async def serving(self) -> None:
        if self._is_watching():
            self.log.info(f"Running configuration SHA512 = {self._digest}")
        self._tasks.run(self._watch())

    async def stop(self) -> None:
        self._watchers.running.remove(self)
        await self._tasks.stop()

    def _is_watching(self) -> bool:
        return self._watchers.running[-1] is self

    async def _watch(self) -> None:
        """Look at the Corefile until a reload puts other plugins in place."""
        while self in self._watchers.running:
            await self.process.sleep(self._interval)
            if self._is_watching():
                await self._look()

    async def _look(self) -> None:
        digest = self._read()
        if digest is None or digest == self._digest or self.process.reload is None:
            return
        self._version.remove("sha512", self._digest)
        self._digest = digest
        if not await self.process.reload():
            self.log.error("Corefile changed but reload failed")
        self._version.labels("sha512", digest).set(1)

    def _read(self) -> str | None:
        """The digest of the Corefile as it is now, imports included, or of what is wrong with it; None: it is away."""
        if self.process.corefile == STDIN:
            return None
        try:
            return load(self.process.corefile, environ=os.environ, plugins=registry.ORDER).digest()
        except CorefileError as error:
            return sha512(str(error).encode()).hexdigest() if error.line else None

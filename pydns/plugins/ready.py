"""Tells over HTTP when the server can answer all its queries.

GET `/ready` answers 200 and `OK` once every plugin with a state of readiness (*kubernetes*: its caches are filled) is
ready; before that 503 and the names of those that are not, in alphabetical order with commas between.  One answer
covers the plugins of every block that has *ready*.

A plugin that was ready once is not asked again, unless `monitor continuously` is set.  The address closes as soon
as the server begins to stop, before *health* waits for its `lameduck`.

## Examples

```corefile
. {
    ready localhost:8091 {
        monitor continuously
    }
    whoami
}
```

## Differences from CoreDNS

When two blocks have a plugin of the same name, both are asked; CoreDNS asks the last one only.
"""

from collections.abc import Collection
from dataclasses import dataclass

from pydns.address import Address
from pydns.corefile.options import Options, argument, option
from pydns.corefile.types import choice, listen_address
from pydns.http import PLAIN_TEXT
from pydns.plugin import Block, Plugin
from pydns.plugin import Ready as HasReadiness

PATH = "/ready"
CONTINUOUSLY = "continuously"


@dataclass
class ReadyOptions(Options):
    address: Address = argument(listen_address, default=Address("", 8181), help="where to serve `/ready`")
    monitor: str = option(
        choice("until-ready", CONTINUOUSLY), default="until-ready", help="how long a plugin's readiness is looked at"
    )


class _Waiting:
    """The plugins of all blocks that are not known to be ready; during a reload those of both configurations."""

    def __init__(self) -> None:
        self._plugins: list[HasReadiness] = []
        self.continuously = False

    def add(self, plugins: list[HasReadiness]) -> None:
        self._plugins += plugins

    def remove(self, plugins: list[HasReadiness]) -> None:
        self._plugins = [plugin for plugin in self._plugins if plugin not in plugins]

    def names(self, of_workers: Collection[str]) -> list[str]:
        """The names of the plugins that are not ready, here or in worker processes, sorted."""
        waiting = [plugin for plugin in self._plugins if not plugin.is_ready() or plugin.name in of_workers]
        if not self.continuously:
            self._plugins = waiting
        return sorted({plugin.name for plugin in waiting})


class Ready(Plugin):
    name = "ready"
    once = True
    options = ReadyOptions

    def __init__(self, block: Block, conf: ReadyOptions) -> None:
        super().__init__(block, conf)
        self._address = str(conf.address)
        self._continuously = conf.monitor == CONTINUOUSLY
        self._waiting = self.process.shared(_Waiting)
        self._plugins: list[HasReadiness] = []

    async def start(self) -> None:
        await self.process.http.add(self._address, PATH, self._answer)
        self._waiting.continuously = self._continuously
        self._plugins = self.block.having(HasReadiness)  # type: ignore[type-abstract]
        self._waiting.add(self._plugins)

    async def lameduck(self) -> None:
        await self.process.http.remove(self._address, PATH, self._answer)

    async def stop(self) -> None:
        self._waiting.remove(self._plugins)
        await self.process.http.remove(self._address, PATH, self._answer)

    async def _answer(self) -> tuple[int, str, bytes]:
        names = ",".join(self._waiting.names(self.process.workers.not_ready()))
        if not names:
            return 200, PLAIN_TEXT, b"OK"
        self.log.info(f'Plugins not ready: "{names}"')
        return 503, PLAIN_TEXT, names.encode()

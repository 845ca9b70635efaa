"""Collects facts about each query for the plugins that ask for them.

Plugins such as *kubernetes* and *forward* know facts about a query: its namespace, the upstream that answered.  With
*metadata* they note them under labels like `kubernetes/namespace`, and *log* can show them: `{/kubernetes/namespace}`.
Facts are noted for names in the zones, without zones for all names of the block.

## Examples

```corefile
. {
    metadata
    log . "{common} {/forward/upstream}"
    forward . 8.8.8.8
}
```
"""

from dataclasses import dataclass, replace
from typing import Self

from pydns.corefile.line import Line
from pydns.corefile.options import Options, argument
from pydns.corefile.types import zones
from pydns.dns.message import Message
from pydns.dns.name import longest_zone
from pydns.plugin import Block, Describes, Plugin
from pydns.query import Query


@dataclass
class MetadataOptions(Options):
    zones: tuple[str, ...] = argument(zones, many=True, help="only names in these zones")

    @classmethod
    def parse(cls, line: Line) -> Self:
        """As `Options.parse`; braces with nothing between them may stand there."""
        return super().parse(line if line.block else replace(line, block=None))


class Metadata(Plugin):
    name = "metadata"
    options = MetadataOptions
    replay_safe = True

    def __init__(self, block: Block, conf: MetadataOptions) -> None:
        super().__init__(block, conf)
        self._zones = conf.zones or block.zones
        self._sources: list[Describes] = []

    async def start(self) -> None:
        self._sources = self.block.having(Describes)  # type: ignore[type-abstract]

    async def serve(self, query: Query) -> Message:
        if longest_zone(query.name, self._zones) is not None:
            for source in self._sources:
                query.metadata.update(source.metadata(query))
        return await self.next(query)

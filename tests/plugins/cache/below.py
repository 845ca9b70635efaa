"""What stands below *cache* in its tests, and *cache* itself with a clock that turns."""

from __future__ import annotations

from pydns.dns.message import Message
from pydns.dns.types import type_name
from pydns.plugin import Block
from pydns.plugins.cache.plugin import Cache
from pydns.query import Failure, Query
from tests.support import Clock, answer, make_block, make_plugin, make_query


class Below:
    """A chain end whose reply can be changed; ``asked`` are the queries that came."""

    def __init__(self, *records: str, rcode: int = 0, flags: int = 0) -> None:
        self.asked: list[Query] = []
        self.says(*records, rcode=rcode, flags=flags)

    def says(self, *records: str, rcode: int = 0, flags: int = 0) -> None:
        self._serve = answer(*records, rcode=rcode, flags=flags, change=self.change)

    def fails(self) -> None:
        async def serve(query: Query) -> Message:
            raise Failure(2, "no healthy proxies")

        self._serve = serve

    def change(self, reply: Message) -> Message:
        """Replaced by tests whose reply is more than records."""
        return reply

    async def serve(self, query: Query) -> Message:
        self.asked.append(query)
        return await self._serve(query)

    @property
    def questions(self) -> list[str]:
        return [f"{query.qname} {type_name(query.qtype)}" for query in self.asked]


class Cached:
    """*cache* above `Below`."""

    def __init__(self, below: Below, text: str = "cache", key: str = ".:53") -> None:
        self.clock = Clock()
        self.block: Block = make_block(key, clock=self.clock)
        self.below = below
        self.plugin = make_plugin(Cache, text, self.block, below.serve)

    async def ask(self, question: str = "www.example.org. A", **words: object) -> Message:
        return await self.plugin.serve(make_query(question, **words))  # type: ignore[arg-type]

    async def ttl(self, question: str = "www.example.org. A") -> int:
        """The TTL that all records of the reply have."""
        [ttl] = {record.ttl for record in (await self.ask(question)).records()}
        return ttl

    def count(self, name: str, kind: str = "", zones: str = ".", server: str = "dns://:53") -> float | None:
        labels = {"server": server, "zones": zones, "view": ""} | ({"type": kind} if kind else {})
        self.block.process.metrics.exposition()
        return self.block.process.metrics.registry.get_sample_value(f"coredns_cache_{name}", labels)

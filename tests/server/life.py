"""Plugins that note their life cycle, and configurations made of them."""

from __future__ import annotations

from typing import Any

from pydns.plugin import Block, Plugin, Process
from pydns.query import Address
from pydns.server.instance import Instance
from pydns.server.listener import Listener
from tests.server.parts import make_dispatcher
from tests.support import answer


class Noted(Plugin):
    """Notes ``NAME event`` in ``events``; fails to start where ``broken`` says why."""

    name = "noted"

    def __init__(self, block: Block, label: str, events: list[str], broken: Exception | None = None) -> None:
        super().__init__(block, None)
        self.label = label
        self.events = events
        self.broken = broken

    def note(self, event: str) -> None:
        self.events.append(f"{self.label} {event}")

    async def start(self) -> None:
        if self.broken is not None:
            raise self.broken
        self.note("start")

    async def serving(self) -> None:
        self.note("serving")

    async def lameduck(self) -> None:
        self.note("lameduck")

    async def stop(self) -> None:
        self.note("stop")


def make_instance(
    process: Process, events: list[str], label: str = "a", *addresses: Address, records: str = "", **more: Any
) -> Instance:
    """A configuration with one plugin, answering with ``records`` on ``addresses``."""
    block = Block((), process)
    plugin = Noted(block, label, events, **more)
    zones = {".": answer(records) if records else answer()}
    listeners = {address: Listener(make_dispatcher(zones, process=process)) for address in addresses}
    return Instance([block], [plugin], listeners)

"""A configuration that runs or may run: its blocks' plugins and what answers on each address.

Duty: the life cycle of the plugins in CoreDNS's order (directive by directive, block by block).  Made by `build`; it
knows no Corefile.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydns.log import Log, with_stack
from pydns.plugin import Block, Plugin
from pydns.query import Address
from pydns.server.listener import Listener

_PREFERRED_SYNTAX = re.compile(r"([A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+")

FORESEEN = (ValueError, OSError)
"""What a plugin may raise, with words for the operator; anything else is a bug."""

_log = Log()


class StartError(Exception):
    """A plugin that cannot do its work, told in one line."""


@dataclass
class Instance:
    """``plugins`` stand in the order in which they start; ``listeners`` are by (host, port).

    ``recipe`` is what a worker process needs to make the same; only whoever makes instances knows what is in it.
    """

    blocks: Sequence[Block]
    plugins: Sequence[Plugin]
    listeners: Mapping[Address, Listener]
    recipe: bytes = b""

    async def start(self) -> None:
        """Start all plugins; those already started are stopped again where one fails.  Raises StartError."""
        started: list[Plugin] = []
        for plugin in self.plugins:
            try:
                await plugin.start()
            except Exception as error:
                await _stop(started)
                if not isinstance(error, FORESEEN):
                    _log_failure(plugin, "starting", error)
                raise StartError(_why(plugin, error)) from error
            started.append(plugin)

    async def serving(self) -> None:
        """The sockets are open."""
        await _each(self.plugins, "serving", lambda plugin: plugin.serving())

    async def lameduck(self) -> None:
        """The final stop is near; queries are still answered."""
        await _each(self.plugins, "lameduck", lambda plugin: plugin.lameduck())

    async def finish(self) -> None:
        """No more queries arrive: let those in flight end."""
        await asyncio.gather(*(listener.finish() for listener in self.listeners.values()))

    def cancel(self) -> None:
        """Leave the queries in flight without a reply."""
        for listener in self.listeners.values():
            listener.cancel()

    async def stop(self) -> None:
        """Stop all plugins."""
        await _stop(self.plugins)

    @property
    def debug(self) -> bool:
        return any(block.settings.debug for block in self.blocks)

    @property
    def workers(self) -> int:
        """How many worker processes are to serve it; 0: this process serves it."""
        most = max((listener.settings.sockets for listener in self.listeners.values()), default=1)
        return most if most > 1 else 0

    def banner(self) -> Iterator[str]:
        """CoreDNS's line for each zone of each address, once for each of its sockets."""
        for address, listener in self.listeners.items():
            for _ in range(listener.settings.sockets):
                yield from _zones(address, listener)


def _zones(address: Address, listener: Listener) -> Iterator[str]:
    host, port = address
    for zone in sorted(listener.dispatcher.zones):
        if not _is_preferred(zone):
            yield f'Warning: Domain "{zone}" does not follow RFC1035 preferred syntax'
        yield f"{zone}:{port} on {host}" if host else f"{zone}:{port}"


async def _stop(plugins: Sequence[Plugin]) -> None:
    await _each(plugins, "stopping", lambda plugin: plugin.stop())


async def _each(plugins: Sequence[Plugin], step: str, take: Callable[[Plugin], Awaitable[None]]) -> None:
    """Have all plugins take a step that none can refuse; one that fails at it is logged and holds up no other."""
    for plugin in plugins:
        try:
            await take(plugin)
        except Exception as error:  # noqa: BLE001  it must not leave the others running
            _log_failure(plugin, step, error)


def _log_failure(plugin: Plugin, step: str, error: Exception) -> None:
    """What went wrong at a step; of a bug where, too."""
    _log.error(f"plugin/{plugin.name}: {step}: {error if isinstance(error, FORESEEN) else with_stack(error)}")


def _why(plugin: Plugin, error: Exception) -> str:
    text = " ".join((str(error) if isinstance(error, FORESEEN) else repr(error)).split())
    return text if text.startswith("plugin/") else f"plugin/{plugin.name}: {text}"


def _is_preferred(zone: str) -> bool:
    """RFC 1035 section 2.3.1; the root and reverse zones need not follow it."""
    reverse = zone.endswith((".in-addr.arpa.", ".ip6.arpa."))
    return zone == "." or reverse or bool(_PREFERRED_SYNTAX.fullmatch(zone))

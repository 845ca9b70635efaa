"""From a Corefile to an `Instance`: plugins set up in their fixed order, linked into chains, joined by address.

Rules (CoreDNS ``dnsserver/register.go``):

1. Plugins are set up directive by directive in registry order, and within one by block in file order; the order in
   which a Corefile names them has no meaning.
2. A block's plugins are made once and shared by all its zones.
3. Blocks listen where *bind* says, by default on the wildcard; those of one address share a listener.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from pydns import registry
from pydns.address import host_port
from pydns.corefile import parser
from pydns.corefile.keys import DEFAULT_PORT, Claim, duplicates
from pydns.corefile.line import CorefileError, Line
from pydns.corefile.parser import Corefile, ServerBlock
from pydns.dns.message import Message
from pydns.plugin import Block, Counts, Plugin, Process, Settings
from pydns.query import Address, Failure, Query, Serve
from pydns.server.dispatch import Chain, Dispatcher
from pydns.server.instance import Instance
from pydns.server.listener import Listener

PACKET_CACHE = "PYDNS_PACKET_CACHE"
"""The environment variable that turns the packet cache, and every other short way, off with ``0``; ``1`` is on."""


def load(path: str | None, dns_port: int = DEFAULT_PORT, *, go_on: bool = False) -> Corefile:
    """Read the Corefile ``path`` (None: the default one) with this process's environment.  Raises CorefileError.

    With ``go_on`` what does not parse is left out, and told in the result's ``problems``.
    """
    return parser.load(path, environ=os.environ, plugins=registry.ORDER, dns_port=dns_port, go_on=go_on)


def remembers(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether replies are remembered: what the environment says of `PACKET_CACHE`.  Raises ValueError."""
    said = environ.get(PACKET_CACHE, "1")
    if said not in ("0", "1"):
        raise ValueError(f"environment variable {PACKET_CACHE} is {said!r}; 0 (off) and 1 (on) are known")
    return said == "1"


def build(corefile: Corefile, process: Process) -> Instance:
    """Make what ``corefile`` describes, without starting it.  Raises the first of its errors, and as `remembers`."""
    draft = Draft(corefile, process)
    if draft.problems:
        raise _first(draft.problems, process.corefile)
    return draft.instance()


def _first(problems: Sequence[CorefileError], path: str) -> CorefileError:
    """The first problem, with a hint where there are others."""
    first, count = problems[0], len(set(map(str, problems)))
    if count > 1:
        all_shown = f"pydns check {path} shows all {count} problems"
        first.hint = f"{first.hint}; {all_shown}" if first.hint else all_shown
    return first


@dataclass
class Draft:
    """A Corefile with its plugins set up as far as they can be; ``problems`` says what keeps it from starting."""

    corefile: Corefile
    process: Process
    problems: list[CorefileError] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    plugins: list[Plugin] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.problems += self.corefile.problems
        self.blocks = [Block(block.keys, self.process) for block in self.corefile.blocks]
        self._check_transports()
        for name in registry.ORDER:
            for block, written in zip(self.blocks, self.corefile.blocks, strict=True):
                self._set_up(name, block, written)
        self._check_zones()

    def instance(self) -> Instance:
        """The whole, where there are no problems."""
        chains = [_chain(block) for block in self.blocks]
        remember = remembers()
        counts = next((found for block in self.blocks for found in block.having(Counts)), None)  # type: ignore[type-abstract]
        listeners = {
            address: Listener(
                Dispatcher(f"dns://{host_port(*address)}", self.process, zones, _settings(blocks), counts),
                remember=remember,
            )
            for address, (zones, blocks) in self._by_address(chains).items()
        }
        own = [plugin for plugin in self.plugins if not (plugin.once and self.process.worker)]
        return Instance(self.blocks, own, listeners)

    def _check_transports(self) -> None:
        for block in self.blocks:
            self.problems += [key.not_served() for key in block.keys if key.transport != "dns"]

    def _set_up(self, name: str, block: Block, written: ServerBlock) -> None:
        lines = [line for line in written.lines if line.name == name]
        if not lines:
            return
        try:
            plugin = _plugin_class(lines[0]).setup(block, lines)
        except CorefileError as problem:
            self.problems += [problem, *problem.further]
            return
        block.plugins[name] = plugin
        self.plugins.append(plugin)

    def _check_zones(self) -> None:
        claims: list[Claim] = []
        if any(problem.plugin == "bind" for problem in self.problems):
            return  # who listens where is not known
        for block, written in zip(self.blocks, self.corefile.blocks, strict=True):
            has_view = any(line.name == "view" for line in written.lines)
            claims += [Claim(key, block.settings.addresses, has_view) for key in block.keys]
        self.problems += duplicates(claims)

    def _by_address(self, chains: Sequence[Chain]) -> dict[Address, tuple[dict[str, Chain], list[Block]]]:
        found: dict[Address, tuple[dict[str, Chain], list[Block]]] = {}
        for block, chain in zip(self.blocks, chains, strict=True):
            for address, zone in _listening(block):
                zones, blocks = found.setdefault(address, ({}, []))
                zones[zone] = chain
                if not blocks or blocks[-1] is not block:
                    blocks.append(block)
        return found


def _listening(block: Block) -> Iterator[tuple[Address, str]]:
    """Each address and zone that a block serves."""
    for host in block.settings.addresses or ("",):
        for key in block.keys:
            yield (host, key.port), key.zone


def _plugin_class(line: Line) -> type[Plugin]:
    name = line.name
    if name in registry.OUT_OF_SCOPE:
        raise line.error(f"plugin '{name}' is not part of pydns", f"it is for {registry.OUT_OF_SCOPE[name]}")
    if name not in registry.PLUGINS:
        raise line.error(f"plugin '{name}' is not served by this version yet")
    return registry.load(name)


def _chain(block: Block) -> Chain:
    """Link a block's plugins, each with the one behind it."""
    links = [plugin for plugin in block.plugins.values() if plugin.is_link()]
    following: Serve | None = None
    for plugin in reversed(links):
        plugin.next = following or _end_of_chain(plugin.name)
        following = plugin.serve
    return Chain(
        following,
        replay_safe=all(plugin.replay_safe for plugin in links),
        any_class=any(plugin.any_class for plugin in links),
        links=tuple(links),
    )


def _end_of_chain(name: str) -> Serve:
    async def end(query: Query) -> Message:
        raise Failure(why=f"plugin/{name}: no next plugin found")

    return end


def _settings(blocks: Sequence[Block]) -> Settings:
    """What the blocks of one listener say together: of each setting the last one that is not the default.

    The number of its sockets is what the first block says (CoreDNS ``dnsserver/register.go``, ``MakeServers``).
    """
    settings = Settings()
    for block in blocks:
        for each in fields(Settings):
            value = getattr(block.settings, each.name)
            if value != each.default:
                setattr(settings, each.name, value)
    settings.sockets = blocks[0].settings.sockets
    return settings

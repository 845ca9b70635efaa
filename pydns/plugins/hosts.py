"""Answers from a hosts file and from entries in the Corefile.

A, AAAA and PTR records are made from lines as `/etc/hosts` has them: an address and its names.  The file is read again
when its time or size changes.  Without a file named, `/etc/hosts` is used; a file that does not exist is no error and
is read once it appears.

Entries may stand between the braces too, before `fallthrough`; they come behind the file's.  A name `*.example.org`
answers for every name with one label in its place, unless that name has an entry of its own.

Only names in the zones count; without zones those are the block's.  PTR queries are tried for every name.  A name
that is known, but not with the type that is asked for, gets an empty answer.  An unknown one falls through where
`fallthrough` says so; else the answer is SERVFAIL, because there is no SOA record that NXDOMAIN could carry.  PTR
queries without a match always go to the next plugin.

Lines that are neither an entry nor a property are left out, with a warning in the log and in `pydns check`.

## Examples

```corefile
. {
    hosts {
        10.0.0.1 example.org www.example.org
        2001:db8::1 example.org
        10.0.0.2 *.apps.example.org
        fallthrough
    }
    whoami
}
```

```corefile
. {
    hosts example.hosts example.org example.net {
        ttl 60
        reload 30s
    }
}
```

## Metrics

* `coredns_hosts_entries{hostsfile}` - entries of the file and the Corefile together.
* `coredns_hosts_reload_timestamp_seconds` - the file's time of change when it was last read.
"""

import asyncio
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from stat import S_ISDIR, S_ISREG
from typing import Any, NamedTuple, Self

from pydns.corefile.fallthrough import Fallthrough
from pydns.corefile.line import Line, near_name
from pydns.corefile.options import Options, argument, flag, option
from pydns.corefile.types import duration, path, seconds, zones
from pydns.dns.message import RR, Message
from pydns.dns.name import longest_zone, normalize, parent, reverse_address
from pydns.dns.rdata import target
from pydns.dns.replay import Replay
from pydns.dns.types import ADDRESSES, Flag, Rcode, Type
from pydns.plugin import Block, Plugin
from pydns.query import Failure, Query
from pydns.tasks import Tasks

DEFAULT_FILE = "/etc/hosts"
WILDCARD = "*."


class Entry(NamedTuple):
    """A line of a hosts file: an address and its names, lower-case and absolute."""

    address: IPv4Address | IPv6Address
    names: tuple[str, ...]


def read_entry(text: str) -> Entry | None:
    """The entry in a line; None for an empty line or a comment.  Raises ValueError, which says what is wrong."""
    fields = text.partition("#")[0].split()
    if not fields:
        return None
    address = _address(fields[0])
    if len(fields) < 2:
        raise ValueError(f"no name follows address '{fields[0]}'")
    return Entry(address, tuple(normalize(name) for name in fields[1:]))


def _address(word: str) -> IPv4Address | IPv6Address:
    """An address without its zone; an IPv4 address mapped to IPv6 is an IPv4 address, as for Go."""
    try:
        address = ip_address(word.partition("%")[0])
    except ValueError:
        raise ValueError(f"'{word}' is no IP address") from None
    return getattr(address, "ipv4_mapped", None) or address


class Table:
    """What entries say: rdata by name and type, names by address."""

    def __init__(self, entries: Iterable[Entry] = (), zones: tuple[str, ...] = (".",), *, reverse: bool = True) -> None:
        self._rdata: dict[tuple[str, int], list[bytes]] = {}
        self._names: dict[str, list[str]] = {}
        for entry in entries:
            for name in entry.names:
                if longest_zone(name, zones) is not None:
                    self._add(entry.address, name, reverse)

    def _add(self, address: IPv4Address | IPv6Address, name: str, reverse: bool) -> None:
        rrtype = Type.A if address.version == 4 else Type.AAAA
        self._rdata.setdefault((name, rrtype), []).append(address.packed)
        if reverse and not name.startswith(WILDCARD):
            self._names.setdefault(str(address), []).append(name)

    def addresses(self, name: str, rrtype: int) -> list[bytes]:
        """Rdata of A or AAAA for a name, by its own entries or else by a wildcard."""
        found = self._rdata.get((name, rrtype))
        if found is None:
            found = self._rdata.get((WILDCARD + parent(name), rrtype))
        return found or []

    def names(self, address: str) -> list[str]:
        """The names of an address in canonical text."""
        return self._names.get(address, [])

    def __len__(self) -> int:
        """Addresses of all names and names of all addresses, as CoreDNS counts entries."""
        return sum(map(len, self._rdata.values())) + sum(map(len, self._names.values()))


@dataclass
class HostsOptions(Options):
    file: str = argument(path, default="", help=f"the hosts file ({DEFAULT_FILE})")
    zones: tuple[str, ...] = argument(zones, many=True, help="only names in these zones")
    ttl: int = option(seconds(1, 65535), default=3600, surplus="left out", help="TTL of the records")
    no_reverse: bool = flag(surplus="property", help="no PTR records")
    reload: float = option(duration(0), default=5.0, help="how often the file is looked at; 0s: only at the start")
    fallthrough: Fallthrough | None = option(Fallthrough, help="unknown names go to the next plugin")
    fallthrough_unsupported: bool = flag(help="with `fallthrough`: so do types other than A, AAAA and PTR")
    entries: Sequence[Entry] = ()

    free_block = True

    @classmethod
    def read_unknown(cls, line: Line, values: dict[str, Any]) -> None:
        if "fallthrough" in values and values["fallthrough"].zones:
            raise line.error(f"unknown property '{line.name}'", "entries stand before fallthrough")
        if line.block is not None:
            raise line.error("unknown property '{'", "entries take no braces")
        try:
            entry = read_entry(" ".join((line.name, *line.args)))
        except ValueError as error:
            hint = near_name(line.name, [declared.name for declared in cls._properties().values()])
            line.warn(f"line is left out: {error}" + (f" ({hint})" if hint else ""))
            return
        if entry is not None:
            values.setdefault("entries", []).append(entry)

    def validate(self, line: Line) -> None:
        if self.fallthrough_unsupported and self.fallthrough is None:
            raise line.error("fallthrough_unsupported requires fallthrough")


class Hosts(Plugin):
    name = "hosts"
    options = HostsOptions
    replay_safe = True

    def __init__(self, block: Block, conf: HostsOptions) -> None:
        super().__init__(block, conf)
        self._conf = conf
        self._path = block.path(conf.file or DEFAULT_FILE)
        self._zones = conf.zones or block.zones
        self._inline = Table(conf.entries, self._zones, reverse=not conf.no_reverse)
        self._file = Table()
        self._seen: tuple[int, int] | None = None
        self._tag = (self.name, id(self))
        self._tasks = Tasks()
        self._entries = self.process.metrics.gauge(
            "hosts_entries", "The combined number of entries in hosts and Corefile.", ("hostsfile",)
        )
        self._reloaded = self.process.metrics.gauge(
            "hosts_reload_timestamp_seconds", "The timestamp of the last reload of hosts file."
        )

    @classmethod
    def setup(cls, block: Block, lines: Sequence[Line]) -> Self:
        hosts = super().setup(block, lines)
        try:
            if hosts._conf.file:
                hosts._warn_of_path()
        except OSError as error:
            raise lines[0].error(f"unable to access hosts file '{hosts._path}': {error.strerror}") from None
        return hosts

    def _warn_of_path(self) -> None:
        try:
            if S_ISDIR(self._path.stat().st_mode):
                self.log.warning(f'Hosts file "{self._path}" is a directory')
        except FileNotFoundError:
            self.log.warning(f"File does not exist: {self._path}")

    # Answers.

    async def serve(self, query: Query) -> Message:
        in_zones = longest_zone(query.name, self._zones) is not None
        if not in_zones and query.qtype != Type.PTR:
            return await self.next(query)
        found = tuple(self._answer(query))
        if not found and not self._answers_emptily(query):
            return await self._pass_on(query)
        reply = query.reply(flags=Flag.AA, answer=found)
        return reply.with_replay(Replay(math.inf, (self._tag,)))

    def _answer(self, query: Query) -> Iterator[RR]:
        name, qtype, ttl = query.name, query.qtype, self._conf.ttl
        if qtype == Type.PTR:
            for host in self._names(reverse_address(name)):
                yield RR(name, qtype, ttl, target(host))
        elif qtype in ADDRESSES:
            for rdata in self._addresses(name, qtype):
                yield RR(name, qtype, ttl, rdata)

    def _addresses(self, name: str, qtype: int) -> list[bytes]:
        return self._file.addresses(name, qtype) + self._inline.addresses(name, qtype)

    def _names(self, address: str | None) -> list[str]:
        return self._file.names(address) + self._inline.names(address) if address is not None else []

    def _answers_emptily(self, query: Query) -> bool:
        """Whether a query without records gets an empty answer: its name has an address."""
        if query.qtype == Type.PTR:
            return False
        if query.qtype not in ADDRESSES and self._conf.fallthrough_unsupported and self._through(query):
            return False
        return bool(self._addresses(query.name, Type.A) or self._addresses(query.name, Type.AAAA))

    def _through(self, query: Query) -> bool:
        return self._conf.fallthrough is not None and self._conf.fallthrough.through(query.name)

    async def _pass_on(self, query: Query) -> Message:
        if query.qtype != Type.PTR and not self._through(query):
            raise Failure(Rcode.SERVFAIL)
        reply = await self.next(query)
        if reply.replay is None:
            return reply
        return reply.with_replay(reply.replay._replace(tags=(*reply.replay.tags, self._tag)))

    # The file.

    async def start(self) -> None:
        await self._read()
        if self._conf.reload:
            self._tasks.run(self._watch())

    async def stop(self) -> None:
        await self._tasks.stop()

    async def _watch(self) -> None:
        while True:
            await self.process.sleep(self._conf.reload)
            await self._read()

    async def _read(self) -> None:
        """Take over the file where its time or size changed; one that cannot be read leaves the last content."""
        try:
            stat = self._path.stat()
            if self._seen == (stat.st_mtime_ns, stat.st_size) or not S_ISREG(stat.st_mode):
                return  # a device or a pipe might have no end
            self._file, faults = await asyncio.to_thread(self._load)
        except OSError:
            return
        self._seen = stat.st_mtime_ns, stat.st_size
        for fault in faults:
            self.log.warning(f"{self._path}:{fault}")
        self.log.debug(f"Parsed hosts file into {len(self._file)} entries")
        self._entries.labels(str(self._path)).set(len(self._file) + len(self._inline))
        self._reloaded.set(stat.st_mtime)
        self.process.changes.publish([self._tag])

    def _load(self) -> tuple[Table, list[str]]:
        """The file's content and what is wrong with which line; runs in a thread."""
        entries: list[Entry] = []
        faults: list[str] = []
        for number, line in enumerate(self._path.read_text(errors="replace").split("\n"), 1):
            try:
                entry = read_entry(line)
            except ValueError as error:
                faults.append(f"{number} - line is left out: {error}")
                continue
            if entry is not None:
                entries.append(entry)
        return Table(entries, self._zones, reverse=not self._conf.no_reverse), faults

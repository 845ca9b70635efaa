"""Changes the order of addresses, so that clients spread over all of them.

Most clients take the first address of a reply.  `round_robin` (the default) shuffles A, AAAA and MX records in every
section of a positive reply; CNAME records come first, then other types, addresses, and MX records.  Networks named
with `prefer` go to the front, in the order they are named in; within each the shuffled order stays.

`weighted` only chooses the first address, with the odds that a file gives.  The file has a line for a name, and below
it a line for each address with its weight from 1 to 255; addresses without a line have weight 1:

    # name, then addresses with weights
    www.example.org
    100.64.1.1 3
    100.64.1.2 1

The file is read again when it changed; a faulty one is reported and the old weights stay.

## Examples

```corefile
. {
    loadbalance round_robin {
        prefer 10.9.20.0/24 10.9.30.0/24
    }
    forward . 8.8.8.8
}
```

```corefile
example.com {
    loadbalance weighted ./db.example.com.weights {
        reload 10s
    }
    forward . 8.8.8.8
}
```

## Differences from CoreDNS

Names in a weight file match in any letter case.  With `round_robin` the addresses of a reply that is asked for often
come first in turn, each as often as the others; `weighted` draws every time.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from math import lcm
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from pydns.corefile.duration import format_duration
from pydns.corefile.line import Line, near_name
from pydns.corefile.options import Options, argument, option
from pydns.corefile.types import cidr, duration, path, text
from pydns.dns.message import RR, Message
from pydns.dns.replay import Replay
from pydns.dns.types import ADDRESSES, Rcode, Type
from pydns.errand import Errand, Passes
from pydns.plugin import Block, Plugin
from pydns.query import Query
from pydns.tasks import Tasks

MOST_VARIANTS = 16
"""How many orders of a reply may be kept and sent in turn."""
UNEVEN_LAST = 1.0
"""Seconds after which new orders are drawn where so many are not even: over the seconds they are."""
_TRANSFERS = (Type.AXFR, Type.IXFR)
RELOAD = 30.0
"""Seconds between two looks at the weight file."""
ROUND_ROBIN, WEIGHTED = "round_robin", "weighted"

Records = tuple[RR, ...]
Network = IPv4Network | IPv6Network
Weights = dict[tuple[str, bytes], int]
"""The weight of an address (packed) of a name (lower-case)."""


@dataclass
class LoadbalanceOptions(Options):
    policy: str = argument(text, default=ROUND_ROBIN, help="`round_robin` or `weighted`")
    file: str | None = argument(path, default=None, help="the weight file of `weighted`")
    reload: float | None = option(duration(0), help="how often the weight file is looked at; 0s: never again (30s)")
    prefer: tuple[Network, ...] = option(cidr, many=True, at_least=0, help="networks whose addresses come first")

    @classmethod
    def usage(cls) -> str:
        return f"[{ROUND_ROBIN} | {WEIGHTED} FILE]"

    def validate(self, line: Line) -> None:
        if self.policy not in (ROUND_ROBIN, WEIGHTED):
            raise line.error(f"unknown policy: {self.policy}", near_name(self.policy, (ROUND_ROBIN, WEIGHTED)))
        if self.policy == WEIGHTED and self.file is None:
            raise line.error("missing weight file argument")
        if self.policy == ROUND_ROBIN and self.file is not None:
            raise line.error(f"unknown property for {ROUND_ROBIN}")
        if self.policy == WEIGHTED and self.prefer:
            raise line.error("unknown property 'prefer'", f"it belongs to {ROUND_ROBIN}")
        if self.policy == ROUND_ROBIN and self.reload is not None:
            raise line.error("unknown property 'reload'", f"it belongs to {WEIGHTED}")


class Groups(NamedTuple):
    """The records of a section by what is done with them."""

    cnames: list[RR]
    addresses: list[RR]
    mxs: list[RR]
    rest: list[RR]


_GROUP: dict[int, int] = {Type.CNAME: 0, Type.A: 1, Type.AAAA: 1, Type.MX: 2}
_REST = 3
"""Places in `Groups` by type, and that of all other types."""


def grouped(section: Records) -> Groups:
    """The records of a section by group, each in the order they came in."""
    groups = Groups([], [], [], [])
    for record in section:
        groups[_GROUP.get(record.type, _REST)].append(record)
    return groups


def turns(sections: Iterable[Groups]) -> int:
    """After how many turns each address and each MX record of all sections came first equally often."""
    return lcm(*[len(records) for groups in sections for records in (groups.addresses, groups.mxs) if records])


def shuffled(section: Records, luck: random.Random, variant: int) -> tuple[Records, int]:
    """CNAME records, other types, shuffled addresses, shuffled MX records; ``variant`` says which comes first.

    Also after how many turns each came first equally often.
    """
    if len(section) < 2:
        return section, 1
    types = {record.type for record in section}
    if types <= ADDRESSES:  # this and the next are nearly all sections
        return tuple(_shuffled(list(section), luck, variant)), len(section)
    if types.isdisjoint(_GROUP):
        return section, 1
    groups = grouped(section)
    wanted = turns([groups])
    cnames, addresses, mxs, rest = groups
    return (*cnames, *rest, *_shuffled(addresses, luck, variant), *_shuffled(mxs, luck, variant)), wanted


def _shuffled(records: list[RR], luck: random.Random, variant: int) -> list[RR]:
    """The records, of which the list is used up, in another order."""
    if len(records) < 2:
        return records
    records.sort(key=attrgetter("rdata"))  # the same one for each variant, whatever order they came in
    first = records.pop(variant % len(records))
    records.sort(key=lambda _: luck.random())  # each order as likely as any other, in a third of the time of `shuffle`
    return [first, *records]


def preferred(section: Records, networks: Sequence[Network]) -> Records:
    """CNAME records, addresses in the order of the first network that has them, MX records, other types."""
    cnames, addresses, mxs, rest = grouped(section)

    def rank(record: RR) -> int:
        address = ip_address(record.rdata)
        return next((i for i, net in enumerate(networks) if address in net), len(networks))

    return (*cnames, *sorted(addresses, key=rank), *mxs, *rest)


def weighted(section: Records, weights: Weights, luck: random.Random) -> Records:
    """CNAME records, other types, addresses with the one that was drawn in front, MX records."""
    cnames, addresses, mxs, rest = grouped(section)
    if not addresses:
        return section
    odds = [weights.get((record.name.lower(), record.rdata), 1) for record in addresses]
    drawn = luck.choices(range(len(addresses)), odds)[0]
    addresses[0], addresses[drawn] = addresses[drawn], addresses[0]
    return (*cnames, *rest, *addresses, *mxs)


def read_weights(content: str, file: str) -> Weights:
    """The weights in the text of a weight file.  Raises ValueError."""
    weights: Weights = {}
    name = ""
    for line in map(str.strip, content.splitlines()):
        fields = line.split()
        if not line or line.startswith("#"):
            continue
        if len(fields) > 2:
            raise ValueError(f'could not parse weight line:"{line}" in weight file {file}')
        if len(fields) == 1:
            name = _name(fields[0], file)
        else:
            address, weight = _weight(fields[0], fields[1], file)
            if not name:
                raise ValueError(f"missing domain name in weight file {file}")
            weights.setdefault((name, address), weight)
    return weights


def _name(word: str, file: str) -> str:
    if _packed(word) is not None:
        raise ValueError(f'wrong domain name:"{word}" in weight file {file}. (Maybe a missing weight value?)')
    return word.lower().removesuffix(".") + "."


def _weight(address: str, weight: str, file: str) -> tuple[bytes, int]:
    packed = _packed(address)
    if packed is None:
        raise ValueError(f'wrong IP address:"{address}" in weight file {file}')
    if not (weight.isascii() and weight.isdigit() and 0 < int(weight) < 256):
        raise ValueError(f'wrong weight value:"{weight}" in weight file {file}')
    return packed, int(weight)


def _packed(word: str) -> bytes | None:
    try:
        return ip_address(word).packed
    except ValueError:
        return None


class Loadbalance(Passes, Plugin):
    name = "loadbalance"
    options = LoadbalanceOptions
    repeatable = True
    replay_safe = True

    def __init__(self, block: Block, conf: Sequence[LoadbalanceOptions]) -> None:
        super().__init__(block, conf)
        last = conf[-1]
        self._luck = random.Random(self.process.random.getrandbits(64))  # quick; nobody gains from guessing it
        self._prefer = last.prefer
        self._file: Path | None = block.path(last.file) if last.file is not None else None
        self._reload = RELOAD if last.reload is None else last.reload
        self._weights: Weights = {}
        self._content: str | None = None
        self._tasks = Tasks()

    def treats_alike(self, zone: str) -> bool:
        """One address is in the right order, whatever it weighs."""
        return True

    async def serve(self, query: Query) -> Message:
        reply = await self.next(query)
        if reply.rcode != Rcode.NOERROR or query.qtype in _TRANSFERS:
            return reply
        return self._shuffle(reply, query.variant) if self._file is None else self._draw(reply, query.qtype)

    def back(self, errand: Errand) -> None:
        if len(errand.rdatas) > 1:
            qtype = errand.shape.qtype
            records = tuple([RR(errand.name, qtype, errand.ttl, rdata) for rdata in errand.rdatas])
            errand.rdatas = [record.rdata for record in self._in_some_order(records)]

    def _in_some_order(self, section: Records) -> Records:
        """The answer of a reply of which no other order is kept."""
        if self._file is not None:
            return weighted(section, self._weights, self._luck)
        section, _ = shuffled(section, self._luck, self._luck.getrandbits(16))
        return preferred(section, self._prefer) if self._prefer else section

    def _shuffle(self, reply: Message, variant: int) -> Message:
        sections = reply.answer, reply.authority, reply.additional
        ordered = [shuffled(section, self._luck, variant) for section in sections]
        (answer, first), (authority, second), (additional, third) = ordered
        if answer is reply.answer and authority is reply.authority and additional is reply.additional:
            return reply
        if self._prefer:
            answer, additional = preferred(answer, self._prefer), preferred(additional, self._prefer)
        ordered_reply = reply.with_order(answer, authority, additional)
        if reply.replay is None:
            return ordered_reply
        if ordered_reply.packed is not None and not self._prefer:
            return ordered_reply.with_replay(reply.replay.in_any_order())
        return ordered_reply.with_replay(self._in_turn(reply.replay, lcm(first, second, third)))

    def _in_turn(self, replay: Replay, wanted: int) -> Replay:
        """Consent to keep ``wanted`` orders, or for a while some, where so many are too many or would not be even."""
        until = replay.until
        if wanted > MOST_VARIANTS or (wanted > 1 and self._prefer):
            wanted, until = MOST_VARIANTS, min(until, self.process.clock() + UNEVEN_LAST)
        return Replay(until, replay.tags, wanted, replay.counters, lease=replay.lease)

    def _draw(self, reply: Message, qtype: int) -> Message:
        if qtype not in (Type.A, Type.AAAA, Type.SRV):
            return reply
        sections = [reply.answer, reply.additional]
        answer, additional = (weighted(section, self._weights, self._luck) for section in sections)
        replay = (
            None if turns(map(grouped, sections)) > 1 else reply.replay
        )  # a few kept variants would not keep the odds
        return reply.with_sections(answer, reply.authority, additional).with_replay(replay)

    async def start(self) -> None:
        if self._file is None:
            return
        try:
            self._read(self._file)
        except OSError:
            if not self._reload:
                raise ValueError("weight file open error") from None
            again = format_duration(self._reload)
            self.log.warning(f"Failed to open weight file:weight file open error. Will try again in {again}")
        if self._reload:
            self._tasks.run(self._watch(self._file))

    async def stop(self) -> None:
        await self._tasks.stop()

    async def _watch(self, file: Path) -> None:
        while True:
            await self.process.sleep(self._reload)
            try:
                self._read(file)
            except OSError:
                self.log.error("weight file open error")
            except ValueError as error:
                self.log.error(str(error))

    def _read(self, file: Path) -> None:
        """Take over the weights where the file's text changed.  Raises OSError, ValueError."""
        try:
            content = file.read_text(errors="replace")
        except IsADirectoryError:
            raise ValueError(f"read {file}: is a directory") from None
        if content == self._content:
            return
        self._content = content
        self._weights = read_weights(content, str(file))
        self.log.info(f"Successfully reloaded weight file {file}")

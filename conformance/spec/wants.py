"""What must hold of a reply, as values that judge one. Know no servers and no objects.

Records are compared by owner, type and data in lower case, without TTL; of an SRV only port and target count, because
priority and weight are free (R5).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol

from conformance.wire.message import Record, Reply


@dataclass(frozen=True)
class Got:
    """A reply, and how many octets it had (0: none came)."""

    reply: Reply
    size: int = 0


@dataclass(frozen=True, order=True)
class Datum:
    """A record as far as it is looked at."""

    owner: str
    rtype: str
    data: str

    def __str__(self) -> str:
        return f"{self.owner} {self.rtype} {self.data}"


class Want(Protocol):
    """One thing that must hold."""

    def faults(self, got: Got) -> list[str]:
        """What does not, in words; empty when all is well."""


def datum(owner: str, rtype: str, data: str) -> Datum:
    """A record in the form it is compared in."""
    if rtype in ("A", "AAAA"):
        return Datum(owner.lower(), rtype, str(ip_address(data)))
    return Datum(owner.lower(), rtype, data if rtype == "TXT" else data.lower())


def read(records: Iterable[Record]) -> frozenset[Datum]:
    """Records in the form they are compared in."""
    return frozenset(map(_read, records))


def _read(record: Record) -> Datum:
    data = record.rdata.partition(" ")[2].partition(" ")[2] if record.rtype == "SRV" else record.rdata
    return datum(record.owner, record.rtype, data)


def _listed(data: Iterable[Datum]) -> str:
    return " | ".join(map(str, sorted(data)))


@dataclass(frozen=True)
class Holds:
    """NOERROR with these records in the answer, and none of `without`."""

    records: frozenset[Datum]
    without: frozenset[Datum] = frozenset()

    def faults(self, got: Got) -> list[str]:
        if got.reply.rcode != "NOERROR":
            return [f"{got.reply.rcode}, wanted {_listed(self.records)}"]
        found = read(got.reply.answer)
        missing, wrong = self.records - found, self.without & found
        faults = [f"missing {_listed(missing)} (answered: {_listed(found) or 'nothing'})"] if missing else _cut(got)
        return faults + ([f"must not be there: {_listed(wrong)}"] if wrong else [])


@dataclass(frozen=True)
class Only:
    """No record of one type in the answer but these; any rcode."""

    rtype: str
    records: frozenset[Datum]

    def faults(self, got: Got) -> list[str]:
        found = {record for record in read(got.reply.answer) if record.rtype == self.rtype}
        besides = found - self.records
        return [f"besides {_listed(self.records) or 'nothing'}: {_listed(besides)}"] if besides else []


@dataclass(frozen=True)
class Lacks:
    """None of these records in the answer; any rcode."""

    records: frozenset[Datum]

    def faults(self, got: Got) -> list[str]:
        wrong = self.records & read(got.reply.answer)
        return [f"must not be there: {_listed(wrong)}"] if wrong else []


@dataclass(frozen=True)
class Leads:
    """Every SRV in the answer has one of these ports, and a target at a name or below it; at least one is there."""

    below: str
    ports: frozenset[int]

    def faults(self, got: Got) -> list[str]:
        found = [record.data for record in read(got.reply.answer) if record.rtype == "SRV"]
        strange = [data for data in found if not self._fits(data)]
        if got.reply.rcode != "NOERROR" or not found:
            return [f"{got.reply.rcode} without SRV"]
        return [f"SRV {data} leads elsewhere" for data in strange]

    def _fits(self, data: str) -> bool:
        port, target = data.split()
        return int(port) in self.ports and f".{target}".endswith(f".{self.below.lower()}")


@dataclass(frozen=True)
class Denied:
    """NXDOMAIN, where a CNAME may stand in front."""

    def faults(self, got: Got) -> list[str]:
        return _cut(got) if got.reply.rcode == "NXDOMAIN" else [f"{_said(got.reply)}, wanted NXDOMAIN"]


@dataclass(frozen=True)
class Empty:
    """NODATA: NOERROR with nothing in the answer (RFC 2308 section 2.2)."""

    def faults(self, got: Got) -> list[str]:
        well = got.reply.rcode == "NOERROR" and not got.reply.answer
        return _cut(got) if well else [f"{_said(got.reply)}, wanted NODATA"]


def _cut(got: Got) -> list[str]:
    """TC in a reply that has all it needs sends every client to TCP for nothing (RFC 2181 section 9)."""
    return ["TC is set, and nothing is missing"] if "tc" in got.reply.flags else []


def _said(reply: Reply) -> str:
    return f"{reply.rcode} with {_listed(read(reply.answer))}" if reply.answer else reply.rcode


@dataclass(frozen=True)
class Beside:
    """Addresses in the additional section, if there are any, are among these."""

    addresses: frozenset[str]

    def faults(self, got: Got) -> list[str]:
        records = [record for record in read(got.reply.additional) if record.rtype in ("A", "AAAA")]
        wrong = [record for record in records if record.data not in self.addresses]
        return [f"wrong in the additional section: {_listed(wrong)}"] if wrong else []


@dataclass(frozen=True)
class Deniable:
    """A denial that resolvers understand: AA or RA where `flags`, the SOA of the zone or one above where `soa`."""

    flags: bool = False
    soa: bool = False

    def faults(self, got: Got) -> list[str]:
        faults = [] if not self.flags or got.reply.flags & {"aa", "ra"} else ["neither AA nor RA"]
        if self.soa and not any(record.rtype == "SOA" for record in got.reply.authority):
            faults.append("no SOA in the authority section")
        return faults


@dataclass(frozen=True)
class Cut:
    """A UDP reply of at most `limit` octets with TC set."""

    limit: int

    def faults(self, got: Got) -> list[str]:
        faults = [] if "tc" in got.reply.flags else ["TC is not set"]
        return faults + ([f"{got.size} octets, wanted at most {self.limit}"] if got.size > self.limit else [])


@dataclass(frozen=True)
class Echoed:
    """The question as it was asked, letter for letter, and RD as it was sent."""

    question: str
    recursion: bool = True

    def faults(self, got: Got) -> list[str]:
        faults = [] if got.reply.question == self.question else [f"the question came back as {got.reply.question!r}"]
        return faults + ([] if ("rd" in got.reply.flags) is self.recursion else ["RD is not as it was sent"])


@dataclass(frozen=True)
class Extended:
    """An OPT record of version 0, or none."""

    wanted: bool

    def faults(self, got: Got) -> list[str]:
        opt = got.reply.opt
        if not self.wanted:
            return [f"OPT ({opt}) without being asked"] if opt else []
        return [] if opt and opt.version == 0 else [f"OPT is {opt or 'missing'}, wanted version 0"]


@dataclass(frozen=True)
class OneTtl:
    """Records of one owner and type have one TTL."""

    def faults(self, got: Got) -> list[str]:
        ttls: dict[tuple[str, str], set[int]] = {}
        for record in got.reply.answer:
            ttls.setdefault((record.owner.lower(), record.rtype), set()).add(record.ttl)
        mixed = {key: found for key, found in ttls.items() if len(found) > 1}
        return [f"{owner} {rtype} has the TTLs {sorted(found)}" for (owner, rtype), found in mixed.items()]

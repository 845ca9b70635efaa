"""Compares two replies and says where they differ. Knows no servers, no cases, no named differences.

Compared: rcode, opcode, flags, question, all sections with TTLs, OPT. Not compared: SOA serials (times), message
sizes, and, unless `order` is "exact", the order of records beyond that of their types (CoreDNS shuffles addresses).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from itertools import groupby
from pathlib import Path

from conformance.wire.message import Record, Reply

LOCAL_ADDRESS = "0.0.0.0"
"""Stands in replies for "an address of this machine"; IPv6 ones are left out, because not every machine has one."""

OWN_NAMES = ("ns.dns.", "ns1.dns.")
"""Owners of a server's own addresses (plugins kubernetes and k8s_external)."""


@dataclass(frozen=True)
class Mismatch:
    """One part in which two replies differ, both sides as text."""

    part: str
    wanted: str
    got: str

    def __str__(self) -> str:
        return f"{self.part}: wanted {self.wanted or '-'}, got {self.got or '-'}"


def compare(wanted: Reply, got: Reply, order: str = "any", slack: int = 0) -> list[Mismatch]:
    """Every part that differs; `slack` is how many seconds TTLs may be apart."""
    wanted, got = normalise(wanted), normalise(got)
    pairs = [(part, str(getattr(wanted, part)), str(getattr(got, part))) for part in ("rcode", "opcode", "question")]
    pairs.append(("flags", " ".join(sorted(wanted.flags)), " ".join(sorted(got.flags))))
    pairs.append(("opt", str(wanted.opt or ""), str(got.opt or "")))
    mismatches = [Mismatch(*pair) for pair in pairs if pair[1] != pair[2]]
    for section, records in wanted.sections.items():
        mismatches += _compare_section(section, records, got.sections[section], order, slack)
    return mismatches


def _compare_section(
    section: str, wanted: tuple[Record, ...], got: tuple[Record, ...], order: str, slack: int
) -> list[Mismatch]:
    if order != "exact":
        wanted, got = _unordered(wanted), _unordered(got)
    if len(wanted) == len(got) and all(_alike(*pair, slack) for pair in zip(wanted, got, strict=True)):
        return []
    return [Mismatch(section, " | ".join(map(str, wanted)), " | ".join(map(str, got)))]


def _unordered(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """Sorted, but CNAMEs keep their order and their place: a chain must stand in front of what it leads to."""
    ordered: list[Record] = []
    for alias, run in groupby(records, key=lambda record: record.rtype == "CNAME"):
        together = list(run)
        ordered += together if alias else sorted(together, key=lambda r: (r.rtype, r.owner, r.rdata))
    return tuple(ordered)


def _alike(wanted: Record, got: Record, slack: int) -> bool:
    return replace(wanted, ttl=0) == replace(got, ttl=0) and abs(wanted.ttl - got.ttl) <= slack


# --- what depends on time and machine --------------------------------------------------------------------------


def normalise(reply: Reply) -> Reply:
    """The reply without SOA serials, and with this machine's own addresses as one `LOCAL_ADDRESS`."""
    return reply.with_sections({name: _normalise_section(records) for name, records in reply.sections.items()})


def _normalise_section(records: tuple[Record, ...]) -> tuple[Record, ...]:
    kept: list[Record] = []
    for record in map(_normalise_record, records):
        local = record.owner.lower().startswith(OWN_NAMES) and record.rdata in _LOCAL
        if local and record.rtype == "A":
            record = replace(record, rdata=LOCAL_ADDRESS)
        if not local or (record.rtype == "A" and record not in kept):
            kept.append(record)
    return tuple(kept)


def _normalise_record(record: Record) -> Record:
    if record.rtype != "SOA":
        return record
    words = record.rdata.split()
    return replace(record, rdata=" ".join([*words[:2], "0", *words[3:]]))


def local_addresses() -> frozenset[str]:
    """The addresses of this machine's interfaces other than loopback, read from /proc/net."""
    return frozenset(_local_ipv4() | _local_ipv6())


def tells_own_address(reply: Reply) -> bool:
    """Whether a reply has `LOCAL_ADDRESS`: no machine without an address of its own can give it."""
    records = (record for section in reply.sections.values() for record in section)
    return any(record.rdata == LOCAL_ADDRESS and record.owner.lower().startswith(OWN_NAMES) for record in records)


def has_own_address() -> bool:
    """Whether this machine has an IPv4 address other than loopback."""
    return bool(_local_ipv4())


def own_address() -> str:
    """An IPv4 address of this machine, the same at every call; 192.0.2.1, nobody's, where it has none but loopback."""
    return min(_local_ipv4(), default="192.0.2.1")


def _local_ipv4() -> set[str]:
    lines = _lines("/proc/net/fib_trie")
    owners = (lines[index - 1].split()[-1] for index, line in enumerate(lines) if "/32 host LOCAL" in line)
    return {address for address in owners if not address.startswith("127.")}


def _local_ipv6() -> set[str]:
    hosts = (line.split()[0] for line in _lines("/proc/net/if_inet6") if not line.endswith(" lo"))
    return {str(IPv6Address(int(digits, 16))) for digits in hosts}


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []


_LOCAL = local_addresses()

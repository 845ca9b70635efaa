"""What programs print, as the words of the models: what was found, or a `Failure`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address

from conformance.clients.model import Failure, Want, got

Reader = Callable[[str, Want], str]
"""From what a program printed, and what it looked for, to `got`'s text or a failure's word."""

NATIVE: Mapping[str, Failure] = {
    **dict.fromkeys(("EAI_NONAME", "HOST_NOT_FOUND", "Name or service not known"), Failure.NOT_FOUND),
    **dict.fromkeys(("EAI_NODATA", "NO_DATA", "No address associated with hostname"), Failure.NO_DATA),
    **dict.fromkeys(("EAI_AGAIN", "TRY_AGAIN", "Temporary failure in name resolution"), Failure.TRY_AGAIN),
    **dict.fromkeys(("ENOTFOUND", "ARES_ENOTFOUND", "NXDOMAIN"), Failure.NOT_FOUND),
    **dict.fromkeys(("ENODATA", "ARES_ENODATA", "NoAnswer"), Failure.NO_DATA),
    **dict.fromkeys(("ESERVFAIL", "ARES_ESERVFAIL", "ETIMEOUT", "ARES_ETIMEOUT", "LifetimeTimeout"), Failure.TRY_AGAIN),
    **dict.fromkeys(("EREFUSED", "ARES_EREFUSED", "ARES_ENOTIMP", "ARES_EFORMERR"), Failure.REFUSED),
}
"""The words of libraries: libc's (by name, and by text as Java shows it), c-ares's and Node's, dnspython's."""

GO: Mapping[str, Failure] = {
    "not found": Failure.NOT_FOUND,
    "timeout": Failure.TRY_AGAIN,
    "temporary": Failure.TRY_AGAIN,
}
"""What programs/lookup.go says of a DNSError, before the colon."""

RCODES: Mapping[str, Failure] = {
    "NOERROR": Failure.NO_DATA,
    "NXDOMAIN": Failure.NOT_FOUND,
    "SERVFAIL": Failure.TRY_AGAIN,
}
"""The rcodes that tools print; any other is `Failure.REFUSED`."""

_CANNOT_FIND = r"can't find .*: ([A-Z]+)$"

SILENCE = "no servers could be reached"
"""What BIND's tools and busybox print when no reply came."""


def read_json(text: str, want: Want) -> str:
    """The line of the programs in programs/: `found` or `error`."""
    said = json.loads(text)
    if said.get("found"):
        return _found(said["found"], want)
    error = str(said.get("error", ""))
    return NATIVE.get(error) or GO.get(error.partition(":")[0]) or Failure.FAILED


def read_go(text: str, want: Want) -> str:
    """As `read_json`; an error that is neither of Go's flags is a refusal."""
    word = read_json(text, want)
    return Failure.REFUSED if word == Failure.FAILED else word


def _found(found: Iterable[str], want: Want) -> str:
    """Addresses as RFC 5952 has them; SRV targets with the final dot that some libraries leave out."""
    return got(f"{each.rstrip('.')}." if want == Want.SRV else str(ip_address(each)) for each in found)


def read_dig(text: str, want: Want) -> str:
    """Records of the type in the answer section; else the last status."""
    records = [line.split() for line in text.splitlines() if line and line[0] != ";"]
    found = [fields[-1] for fields in records if fields[3:4] == [want.value]]
    return _found(found, want) if found else _rcode(re.findall(r"status: (\w+)", text), text)


def read_host(text: str, want: Want) -> str:
    """`NAME has address ADDRESS`, `Host NAME not found: 3(NXDOMAIN)`, `NAME has no A record`; nothing for NODATA."""
    pattern = r"has SRV record .* (\S+)$" if want == Want.SRV else r"has (?:IPv6 )?address (\S+)$"
    found = re.findall(pattern, text, re.MULTILINE)
    return _found(found, want) if found else _rcode(re.findall(r"not found: \d+\((\w+)\)", text), text)


def read_nslookup(text: str, want: Want) -> str:
    """The records behind the lines about the server; else the last `can't find NAME: RCODE`."""
    _, _, said = text.partition("\n\n")
    pattern = r"service = .* (\S+)$" if want == Want.SRV else r"^Address: (\S+)$"
    found = re.findall(pattern, said, re.MULTILINE)
    return _found(found, want) if found else _rcode(re.findall(_CANNOT_FIND, said, re.MULTILINE), text)


def _rcode(rcodes: list[str], text: str) -> Failure:
    if SILENCE in text or "timed out" in text:
        return Failure.TRY_AGAIN
    return RCODES.get(rcodes[-1], Failure.REFUSED) if rcodes else Failure.NO_DATA


def read_busybox(text: str, want: Want) -> str:
    """As nslookup, with something printed for every candidate, in any order: the worst of it where nothing is found."""
    word = read_nslookup(text, want)
    said = {RCODES.get(rcode, Failure.REFUSED) for rcode in re.findall(_CANNOT_FIND, text, re.MULTILINE)}
    worst = next((each for each in (Failure.TRY_AGAIN, Failure.REFUSED, Failure.NOT_FOUND) if each in said), word)
    return worst if word in tuple(Failure) else word

"""Domain names as text, and their wire form.

Rules:

1. A name is a ``str`` in presentation format, absolute, with its final dot, in the letter case it came in; the root
   is ``.``.  Octets that presentation format cannot show are escaped as CoreDNS does: ``\\.`` or ``\\255`` (RFC 1035
   section 5.1).
2. Two names are the same when their lower-cased texts are (RFC 4343).  Escaped text is plain ASCII, so ``str.lower``
   is right.
3. Lengths are measured on the wire: a label has 1 to 63 octets, a name at most 255 (RFC 1035 section 2.3.4).
"""

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

MAX_NAME = 255
MAX_LABEL = 63
MAX_POINTERS = 126
WIRES = 8192
"""Names whose wire forms are known at a time."""

_ESCAPE = {octet: f"\\{octet:03d}" for octet in (*range(0x21), *range(0x7F, 0x100))}
_ESCAPE |= {ord(special): "\\" + special for special in ". '@;()\"\\"}
_NEEDS_ESCAPE = re.compile(rb"""[^!#-&*-\-/0-:<-?A-\[\]-~]""")
_TOKEN = re.compile(r"\\(\d\d\d)|\\(.)|(\.)|([^\\.])", re.DOTALL)

IPV4_REVERSE = "in-addr.arpa."
IPV6_REVERSE = "ip6.arpa."

_wires: dict[str, bytes] = {}
_parents: dict[bytes, str] = {}


class BadName(ValueError):
    """A text or wire form that is no domain name."""


def from_wire(data: bytes, offset: int) -> tuple[str, int]:
    """The name at ``offset`` and the offset behind it, following compression pointers (RFC 1035 section 4.1.4).

    Raises BadName for a cut name, a reserved label type, a pointer that does not go back, or more than 255 octets.
    """
    labels: list[bytes] = []
    end = -1
    pointers = 0
    last = offset + MAX_NAME - 1  # where the final octet of the longest name would stand
    try:
        while length := data[offset]:
            if length <= MAX_LABEL:
                start = offset + 1
                offset = start + length
                if offset > last:
                    raise BadName("name longer than 255 octets")
                labels.append(data[start:offset])  # one that is cut short has nothing behind it to go on with
                continue
            if length < 0xC0:
                raise BadName(f"reserved label type {length:#x}")
            if end < 0:
                end = offset + 2
            pointers += 1
            if pointers > MAX_POINTERS:
                raise BadName("too many compression pointers")
            target = (length & 0x3F) << 8 | data[offset + 1]
            last += target - offset
            offset = target
    except IndexError:
        raise BadName("name cut short") from None
    return _text(labels), offset + 1 if end < 0 else end


def plain_name(data: bytes, offset: int) -> tuple[str, int]:
    """What `from_wire` gives for a name without pointers and escapes, not the root; quicker where its parent was met
    lately.  Raises BadName or IndexError for any other.
    """
    start = offset + 1 + data[offset]
    end = data.find(0, start) + 1
    label, rest = data[offset + 1 : start], data[start:end]
    parent = _parents.get(rest)
    if parent is None:
        parent = _note_parent(data, start, rest)
    if not 1 < start - offset <= MAX_LABEL + 1 or end - offset > MAX_NAME or _NEEDS_ESCAPE.search(label):
        raise BadName("not plain")
    return f"{label.decode()}.{parent}", end


def _note_parent(data: bytes, offset: int, rest: bytes) -> str:
    """The text of the name at ``offset``, nothing for the root; ``rest`` are its octets up to the first zero."""
    text, end = from_wire(data, offset)
    if text == ".":
        text = ""
    if not end == offset + len(rest) == offset + len(text) + 1:  # pointers, or escapes
        raise BadName("not plain")
    if len(_parents) >= WIRES:
        _parents.clear()
    _parents[rest] = text
    return text


def _text(labels: list[bytes]) -> str:
    if not labels:
        return "."
    joined = b"".join(labels)
    if not _NEEDS_ESCAPE.search(joined):
        return b".".join(labels).decode("ascii") + "."
    return "".join(escape_label(label) + "." for label in labels)


def escape_label(label: bytes) -> str:
    """One label in presentation format."""
    return "".join(_ESCAPE.get(octet) or chr(octet) for octet in label)


def to_wire(name: str) -> bytes:
    """The uncompressed wire form of a name.  Raises BadName where the text is no domain name."""
    wire = _wires.get(name)
    if wire is None:
        wire = _to_wire(name)
        note_wire(name, wire)
    return wire


def note_wire(name: str, wire: bytes) -> None:
    """Let `to_wire` know that ``wire`` is the uncompressed form of ``name``, for the next names to come."""
    if len(_wires) >= WIRES:
        _wires.clear()
    _wires[name] = wire


def _to_wire(name: str) -> bytes:
    if name == ".":
        return b"\0"
    text, _, rest = name.partition(".")
    behind = _wires.get(rest)
    if behind is not None and "\\" not in text:
        first = text.encode()
        if 0 < len(first) <= MAX_LABEL and len(first) + len(behind) < MAX_NAME:
            return bytes((len(first),)) + first + behind
    wire = bytearray()
    for label in wire_labels(name):
        if not 0 < len(label) <= MAX_LABEL:
            raise BadName(f"label of {len(label)} octets in {name!r}")
        wire.append(len(label))
        wire += label
    wire.append(0)
    if len(wire) > MAX_NAME:
        raise BadName(f"name longer than {MAX_NAME} octets: {name!r}")
    return bytes(wire)


def wire_labels(name: str) -> list[bytes]:
    """The labels' octets, escapes resolved; a missing final dot is understood."""
    body = name[:-1] if is_absolute(name) else name
    if "\\" not in body:
        return body.encode("utf-8").split(b".") if body else []
    labels = [bytearray()]
    for match in _TOKEN.finditer(body):
        number, escaped, dot, plain = match.groups()
        if dot:
            labels.append(bytearray())
        elif number:
            if int(number) > 255:
                raise BadName(f"bad escape \\{number} in {name!r}")
            labels[-1].append(int(number))
        else:
            labels[-1] += (escaped or plain).encode("utf-8")
    return [bytes(label) for label in labels]


def labels(name: str) -> list[str]:
    """The labels of a name, left to right, escapes kept; the root has none."""
    if name == ".":
        return []
    if "\\" not in name:
        return name.removesuffix(".").split(".")
    return [escape_label(label) for label in wire_labels(name)]


def suffixes(name: str) -> Iterator[str]:
    """The name, then each of its parents, the root last."""
    if "\\" in name:
        yield name
        yield from suffixes(parent(name))
        return
    start = 0
    while start < len(name) > 1:
        yield name[start:]
        start = name.find(".", start) + 1
    yield "."


def tail(name: str, count: int) -> str:
    """The last ``count`` labels of a name, all where it has no more."""
    parts = [*labels(name), ""] if "\\" in name else name.rsplit(".", count + 1)
    return ".".join(parts[-count - 1 :]) or "."


def parent(name: str) -> str:
    """The name without its first label; the root is its own parent."""
    if "\\" not in name:
        return name[name.find(".") + 1 :] or "."
    rest = labels(name)[1:]
    return ".".join(rest) + "." if rest else "."


def is_below(name: str, zone: str) -> bool:
    """Whether ``name`` is ``zone`` or below it.  Both lower-case (rule 2)."""
    if name.endswith("." + zone) and ("\\" not in name or is_absolute(name[: -len(zone)])):
        return True
    return name == zone or zone == "."


def is_absolute(text: str) -> bool:
    """Whether the text ends in a dot that is not escaped, by an odd number of backslashes before it."""
    if not text.endswith("."):
        return False
    if "\\" not in text:
        return True
    body = text[:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 0


def longest_zone(name: str, zones: tuple[str, ...]) -> str | None:
    """The zone with the most labels that ``name`` is in, or None.  All lower-case."""
    best: str | None = None
    for zone in zones:
        if name.endswith(zone) and (best is None or len(zone) > len(best)) and is_below(name, zone):
            best = zone
    return best


def normalize(text: str) -> str:
    """Lower-cased and absolute, checked (CoreDNS plugin.Name.Normalize).  Raises BadName."""
    if not text:
        raise BadName("empty name (the root is written '.')")
    name = text.lower()
    if not is_absolute(name):
        name += "."
    to_wire(name)
    return name


def reverse_address(name: str) -> str | None:
    """The address of a complete PTR owner in lower case, canonical text; None for anything else (RFC 1035 section 3.5,
    RFC 3596 section 2.5).

    Up to three labels before an IPv6 address have no meaning, as in CoreDNS (dnsutil.ExtractAddressFromReverse).
    """
    if name.endswith("." + IPV4_REVERSE):
        octets = name[: -len(IPV4_REVERSE) - 1].split(".")
        return _parsed(".".join(reversed(octets))) if len(octets) == 4 else None
    if name.endswith("." + IPV6_REVERSE):
        nibbles = name[: -len(IPV6_REVERSE) - 1].split(".")
        if not 32 <= len(nibbles) < 36 or any(len(nibble) != 1 for nibble in nibbles[-32:]):
            return None
        digits = "".join(reversed(nibbles[-32:]))
        return _parsed(":".join(digits[i : i + 4] for i in range(0, 32, 4)))
    return None


def _parsed(text: str) -> str | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return str(getattr(address, "ipv4_mapped", None) or address)


def is_reverse(zone: str) -> bool:
    """Whether a zone lies below a reverse tree (CoreDNS dnsutil.IsReverse: not the trees' apexes themselves)."""
    return zone.endswith(("." + IPV4_REVERSE, "." + IPV6_REVERSE))


def reverse_zones(cidr: str) -> list[str]:
    """The zones that cover a network, on octet (IPv4) or nibble (IPv6) bounds, host bits ignored (RFC 2317's problem).

    ``10.0.0.0/22`` gives four zones, ``2001:db8::/32`` one.  Raises ValueError where the text is no CIDR.
    """
    if "/" not in cidr:
        raise ValueError(f"not a CIDR: {cidr!r}")
    network = ip_network(cidr, strict=False)
    step, tail = (4, IPV6_REVERSE) if isinstance(network, IPv6Network) else (8, IPV4_REVERSE)
    prefix = -(-network.prefixlen // step) * step
    return [
        _reverse_zone(subnet.network_address, prefix // step, tail) for subnet in network.subnets(new_prefix=prefix)
    ]


def _reverse_zone(address: IPv4Address | IPv6Address, count: int, tail: str) -> str:
    parts = address.reverse_pointer.split(".")[:-2]
    kept = parts[len(parts) - count :]
    return ".".join([*kept, tail])

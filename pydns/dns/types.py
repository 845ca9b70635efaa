"""The numbers of the DNS protocol and their names (IANA "Domain Name System (DNS) Parameters").

Everywhere else a type, class, rcode or opcode is a plain ``int``: enum members are ints, so they compare equal,
and a number without a name is as good as one with.  ``type_name`` and its siblings give the text.
"""

from enum import Enum, IntEnum
from typing import TypeVar

E = TypeVar("E", bound=Enum)


def direct(kind: type[E]) -> type[E]:
    """Members as plain attributes of their class, as from Python 3.12 on; in 3.11 each access calls a function."""
    for member in kind:
        type.__setattr__(kind, member.name, member)
    return kind


new = tuple.__new__
"""``new(Kind, fields)`` makes a named tuple of all its fields, in order, in half the time that ``Kind(*fields)`` takes,
which calls a function.  For the paths that each query takes.
"""


@direct
class Type(IntEnum):
    """RR types and query types (RFC 1035 section 3.2.2, RFC 6895)."""

    NONE = 0
    A = 1
    NS = 2
    MD = 3
    MF = 4
    CNAME = 5
    SOA = 6
    MB = 7
    MG = 8
    MR = 9
    NULL = 10
    WKS = 11
    PTR = 12
    HINFO = 13
    MINFO = 14
    MX = 15
    TXT = 16
    RP = 17
    AFSDB = 18
    X25 = 19
    ISDN = 20
    RT = 21
    NSAP_PTR = 23
    SIG = 24
    KEY = 25
    PX = 26
    GPOS = 27
    AAAA = 28
    LOC = 29
    NXT = 30
    EID = 31
    NIMLOC = 32
    SRV = 33
    ATMA = 34
    NAPTR = 35
    KX = 36
    CERT = 37
    DNAME = 39
    OPT = 41
    APL = 42
    DS = 43
    SSHFP = 44
    IPSECKEY = 45
    RRSIG = 46
    NSEC = 47
    DNSKEY = 48
    DHCID = 49
    NSEC3 = 50
    NSEC3PARAM = 51
    TLSA = 52
    SMIMEA = 53
    HIP = 55
    NINFO = 56
    RKEY = 57
    TALINK = 58
    CDS = 59
    CDNSKEY = 60
    OPENPGPKEY = 61
    CSYNC = 62
    ZONEMD = 63
    SVCB = 64
    HTTPS = 65
    SPF = 99
    NID = 104
    L32 = 105
    L64 = 106
    LP = 107
    EUI48 = 108
    EUI64 = 109
    TKEY = 249
    TSIG = 250
    IXFR = 251
    AXFR = 252
    MAILB = 253
    MAILA = 254
    ANY = 255
    URI = 256
    CAA = 257
    AVC = 258
    AMTRELAY = 260


@direct
class Class(IntEnum):
    """RR classes (RFC 1035 section 3.2.4, RFC 2136 for NONE)."""

    IN = 1
    CS = 2
    CH = 3
    HS = 4
    NONE = 254
    ANY = 255


@direct
class Opcode(IntEnum):
    """Kinds of query (RFC 1035 section 4.1.1, RFC 1996, RFC 2136, RFC 8490)."""

    QUERY = 0
    IQUERY = 1
    STATUS = 2
    NOTIFY = 4
    UPDATE = 5
    DSO = 6


@direct
class Rcode(IntEnum):
    """Response codes; those above 15 need EDNS (RFC 1035 section 4.1.1, RFC 6895 section 2.3)."""

    NOERROR = 0
    FORMERR = 1
    SERVFAIL = 2
    NXDOMAIN = 3
    NOTIMP = 4
    REFUSED = 5
    YXDOMAIN = 6
    YXRRSET = 7
    NXRRSET = 8
    NOTAUTH = 9
    NOTZONE = 10
    DSOTYPENI = 11
    BADVERS = 16
    BADKEY = 17
    BADTIME = 18
    BADMODE = 19
    BADNAME = 20
    BADALG = 21
    BADTRUNC = 22
    BADCOOKIE = 23


class Flag:
    """Header bits as they stand in the 16-bit flags word (RFC 1035 section 4.1.1, RFC 4035 for AD and CD).

    Plain ints on purpose: combining ``IntFlag`` members costs a microsecond each.
    """

    QR = 0x8000
    AA = 0x0400
    TC = 0x0200
    RD = 0x0100
    RA = 0x0080
    Z = 0x0040
    AD = 0x0020
    CD = 0x0010


OPCODE_MASK = 0x7800
RCODE_MASK = 0x000F

ADDRESSES = frozenset((Type.A, Type.AAAA))
"""The types of records that hold an address."""

_TYPES = {member.value: member.name.replace("_", "-") for member in Type}
_TYPE_NUMBERS = {name: number for number, name in _TYPES.items()}
_CLASSES = {member.value: member.name for member in Class}
_RCODES = {member.value: member.name for member in Rcode}


def type_name(number: int) -> str:
    """The mnemonic of a type, or ``TYPE65280`` (RFC 3597 section 5)."""
    return _TYPES.get(number) or f"TYPE{number}"


def type_number(name: str) -> int:
    """The number of a mnemonic or of ``TYPE65280``, in any letter case.  Raises ValueError."""
    upper = name.upper()
    if upper in _TYPE_NUMBERS:
        return _TYPE_NUMBERS[upper]
    if upper.startswith("TYPE") and upper[4:].isdigit() and int(upper[4:]) <= 0xFFFF:
        return int(upper[4:])
    raise ValueError(f"unknown RR type {name!r}")


def class_name(number: int) -> str:
    """The mnemonic of a class, or ``CLASS4711`` (RFC 3597 section 5)."""
    return _CLASSES.get(number) or f"CLASS{number}"


def rcode_name(number: int) -> str:
    """The mnemonic of a response code, or ``RCODE4095``."""
    return _RCODES.get(number) or f"RCODE{number}"

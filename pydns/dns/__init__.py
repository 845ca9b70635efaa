"""The DNS message codec: pure functions and immutable values, no I/O, no clock."""

from pydns.dns.edns import Edns, OptionCode
from pydns.dns.message import RR, Message, Question, WireError, pack, parse
from pydns.dns.replay import Replay
from pydns.dns.types import Class, Flag, Opcode, Rcode, Type

__all__ = [
    "RR",
    "Class",
    "Edns",
    "Flag",
    "Message",
    "Opcode",
    "OptionCode",
    "Question",
    "Rcode",
    "Replay",
    "Type",
    "WireError",
    "pack",
    "parse",
]

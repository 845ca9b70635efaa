"""The property ``fallthrough [ZONES...]`` that several plugins have."""

from dataclasses import dataclass

from pydns.corefile.line import Line
from pydns.corefile.options import Options, argument
from pydns.corefile.types import zones
from pydns.dns.name import longest_zone


@dataclass
class Fallthrough(Options):
    """Names that a plugin passes on where it has no answer: those in ``zones``, all names if none are given.

    Where none of those given is a zone, none is passed on (CoreDNS ``fall.setZones``).
    """

    zones: tuple[str, ...] = argument(zones, many=True)

    def validate(self, line: Line) -> None:
        if not line.args:
            self.zones = (".",)

    def through(self, name: str) -> bool:
        """Whether a query for ``name`` (lower-case) goes to the next plugin."""
        return longest_zone(name, self.zones) is not None

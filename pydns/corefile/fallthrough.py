"""The property ``fallthrough [ZONES...]`` that several plugins have."""

from dataclasses import dataclass

from pydns.corefile.options import Options, argument
from pydns.corefile.types import zones
from pydns.dns.name import longest_zone


@dataclass
class Fallthrough(Options):
    """Names that a plugin passes on where it has no answer: those in ``zones``, all names without zones."""

    zones: tuple[str, ...] = argument(zones, many=True)

    def through(self, name: str) -> bool:
        """Whether a query for ``name`` (lower-case) goes to the next plugin."""
        return not self.zones or longest_zone(name, self.zones) is not None

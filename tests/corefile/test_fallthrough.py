"""Which names fall through."""

from dataclasses import dataclass

import pytest

from pydns.corefile.fallthrough import Fallthrough
from pydns.corefile.options import Options, option
from tests.support import corefile_lines


@dataclass
class HostsOptions(Options):
    fallthrough: Fallthrough | None = option(Fallthrough)


@pytest.mark.parametrize(
    "line, name, through",
    [
        ("fallthrough", "example.org.", True),
        ("fallthrough", ".", True),
        ("fallthrough example.org", "www.example.org.", True),
        ("fallthrough Example.org", "example.org.", True),
        ("fallthrough example.org", "example.net.", False),
        ("fallthrough 10.0.0.0/8", "1.2.3.10.in-addr.arpa.", True),
        ("fallthrough a.test b.test", "x.b.test.", True),
        ("fallthrough a..b", "x.", False),
        ('fallthrough ""', "x.", False),
    ],
)
def test_through(line: str, name: str, through: bool) -> None:
    options = HostsOptions.parse(corefile_lines(f"hosts {{\n{line}\n}}")[0])
    assert options.fallthrough is not None
    assert options.fallthrough.through(name) is through

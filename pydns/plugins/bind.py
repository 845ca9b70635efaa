"""Names the addresses that a server block listens on.

Without it a block listens on all addresses of the machine.  An interface stands for all its addresses at the start;
`except` takes some out again.  Several *bind* lines in one block add up.

## Examples

```corefile
. {
    bind 127.0.0.1 ::1
    whoami
}
```

```corefile
. {
    bind lo {
        except 127.0.0.1
    }
    whoami
}
```
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydns.address import is_ip
from pydns.corefile.line import Line
from pydns.corefile.options import Options, argument, option
from pydns.corefile.types import Converter, quote
from pydns.net import interface_addresses
from pydns.plugin import Block, Plugin

_place = Converter(str, "ADDRESS|INTERFACE")


@dataclass
class BindOptions(Options):
    words: tuple[str, ...] = argument(_place, many=True, help="where to listen")
    without: tuple[str, ...] = option(_place, many=True, name="except", help="addresses and interfaces to leave out")
    addresses: tuple[str, ...] = ()

    def validate(self, line: Line) -> None:
        if not self.words:
            raise line.error("at least one address or interface name is expected")
        left_out = set(_addresses(self.without, line))
        self.addresses = tuple(address for address in _addresses(self.words, line) if address not in left_out)


def _addresses(words: Iterable[str], line: Line) -> Iterator[str]:
    """The addresses that words name: an interface's, or the word itself.  Raises CorefileError."""
    known = interface_addresses()
    for word in words:
        of_interface = [found.address for found in known if found.interface == word]
        if not of_interface and (not is_ip(word) or "%" in word):  # for an address with a zone, name the interface
            raise line.error(f"not a valid IP address or interface name: {quote(word)}")
        yield from of_interface or [word]


class Bind(Plugin):
    name = "bind"
    options = BindOptions
    repeatable = True

    def __init__(self, block: Block, conf: Sequence[BindOptions]) -> None:
        super().__init__(block, conf)
        block.settings.addresses = tuple(address for each in conf for address in each.addresses)

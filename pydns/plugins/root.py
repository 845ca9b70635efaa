"""Names the directory that relative file names in the block start from.

Without it that is the directory in which the server was started.  A directory that does not exist is only worth a
warning: it may come later.

## Examples

```corefile
. {
    root /etc/coredns
    hosts cluster.hosts
}
```
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydns.corefile.line import Line
from pydns.corefile.options import Options, argument
from pydns.corefile.types import path
from pydns.plugin import Block, Plugin


@dataclass
class RootOptions(Options):
    directory: str = argument(path, help="where relative file names start")

    def validate(self, line: Line) -> None:
        try:
            Path(self.directory).stat()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise line.error(f"unable to access root path '{self.directory}': {error.strerror}") from None


class Root(Plugin):
    name = "root"
    options = RootOptions
    repeatable = True

    def __init__(self, block: Block, conf: Sequence[RootOptions]) -> None:
        super().__init__(block, conf)
        block.settings.root = Path(conf[-1].directory)
        if not block.settings.root.exists():
            self.log.warning(f"Root path does not exist: {conf[-1].directory}")

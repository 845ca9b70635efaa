"""Lets a bug end the process, and shows `[DEBUG]` lines in the log.

Without it a bug in a plugin costs one query, which gets SERVFAIL, and a line in the log.  With it the process ends
there, with the whole story on standard error.  Meant for tests, not for production.

## Examples

```corefile
. {
    debug
    whoami
}
```
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydns.corefile.options import Options
from pydns.plugin import Block, Plugin


@dataclass
class DebugOptions(Options):
    pass


class Debug(Plugin):
    name = "debug"
    options = DebugOptions
    repeatable = True

    def __init__(self, block: Block, conf: Sequence[DebugOptions]) -> None:
        super().__init__(block, conf)
        block.settings.debug = True

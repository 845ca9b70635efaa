"""Opens several sockets for each address, and serves them by as many processes.

Python runs on one core in a process; with *multisocket* the server uses as many as it is told.  A parent process holds
everything that there is once: the watch of the Kubernetes API or of manifest files, the pages of *health*, *ready* and
*prometheus*, reloading, signals, and all sockets.  Each of its workers serves one UDP and one TCP socket of each
address; the kernel gives every client (address and port) to one of them.  `multisocket 1` is as without it: one
process, without workers.

* The sockets of an address are as many as the first server block says that listens there; an address of blocks without
  *multisocket* has one, served by the first worker.
* A worker that ends, whatever the reason, is replaced; until then the parent answers what arrives by its sockets, and
  the log says how it ended.  One that hangs for ten seconds is ended.
* A changed object is known to each worker a moment after the parent knows it.  A worker that lags behind by more than
  64 MiB is replaced.
* A reload starts new workers beside the old ones, which then answer what they have and end; open TCP connections end
  with them.
* `/metrics` shows sums over all processes: of counters, of histograms, of `coredns_cache_entries`, and of memory, CPU
  time and open files in `process_*`.  Of a worker that is killed, what it counted in its last second is missing.
* `/ready` answers 200 when the plugins of all workers are ready.

## Memory and speed

Without a number there is a worker for each CPU that the process may use: **on a large node without a CPU limit that
is a lot of memory**; say how many.  Each worker needs its own for the program, the objects of the cluster and what it
caches:

| cluster | parent | each worker |
|---|---|---|
| a few Services | 36 MB | 20 MB |
| 1,000 Services of 10 endpoints | 50 MB | 37 MB |
| 10,000 Services of 10 endpoints | 83 MB | 68 MB |

kubeadm's limit for the Pod, 170Mi, is enough for three workers and 1,000 Services; for 10,000 it must be higher.
`process_resident_memory_bytes` is a sum that counts what the processes share (11 MB of program files) once for each: 16
workers with a few Services show 566 MB and take 360.

Of two workers on two cores each answered 76 to 98 % of the queries in a second of processor time that one process
without workers did.  So there is a gain where whole cores are free for them, and none where clients on the same cores,
or a CPU limit of less than two, leave them one.

## Examples

```corefile
. {
    multisocket 2
    whoami
}
```

## Differences from CoreDNS

The sockets of CoreDNS share one process: one *cache*, one limit of *forward*, one state of upstreams.  Here each worker
has its own, so a name may be asked of an upstream once by each.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydns.corefile.line import WRONG_ARGS, Line
from pydns.corefile.options import Options, argument
from pydns.corefile.types import quote, text
from pydns.plugin import Block, Plugin

MOST = 1024
CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")
"""Where a container's share of CPU time is told: microseconds (or "max"), and of how many."""


def _number(word: str) -> int:
    """The number of sockets, with CoreDNS's errors."""
    if not re.fullmatch(r"[+-]?[0-9]+", word):
        raise ValueError(f"invalid num sockets: strconv.Atoi: parsing {quote(word)}: invalid syntax")
    number = int(word)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"invalid num sockets: strconv.Atoi: parsing {quote(word)}: value out of range")
    if number <= 0:
        raise ValueError(f"num sockets can not be zero or negative: {number}")
    if number > MOST:
        raise ValueError(f"num sockets exceeds maximum ({MOST}): {number}")
    return number


@dataclass
class MultisocketOptions(Options):
    num: str = argument(
        text, default="", help="how many, 1 to 1024; without it as many as there are CPUs for the process"
    )
    number: int = 0

    def validate(self, line: Line) -> None:
        try:
            self.number = _number(self.num) if self.num else usable_cpus()
        except ValueError as error:
            raise line.error(str(error)) from None


class Multisocket(Plugin):
    name = "multisocket"
    options = MultisocketOptions

    def __init__(self, block: Block, conf: MultisocketOptions) -> None:
        super().__init__(block, conf)
        block.settings.sockets = conf.number

    @classmethod
    def _check_repeats(cls, lines: Sequence[Line]) -> None:
        if len(lines) > 1:
            raise lines[1].error(WRONG_ARGS.format(cls.name))


def usable_cpus(limit: Path = CPU_LIMIT) -> int:
    """The CPUs that this process may use, as CoreDNS counts them: a container's limit is rounded down, 1 at least."""
    allowed = len(os.sched_getaffinity(0))
    try:
        quota, period = limit.read_text().split()
        return min(allowed, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        return allowed

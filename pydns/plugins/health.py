"""Tells over HTTP that the process is alive.

GET `/health` answers 200 and `OK` as long as the process can answer at all; nothing is checked.  Once a second the
plugin asks its own URL; a warning says when that fails or takes longer than a second, a sign of an overloaded machine.

With `lameduck` the final stop waits: for that time queries, `/health` and everything else go on, so that load
balancers and kube-proxy can take the server out first.  A reload does not wait.

## Examples

```corefile
. {
    health localhost:8091 {
        lameduck 5s
    }
    whoami
}
```

## Metrics

* `coredns_health_request_duration_seconds` - how long the plugin's own requests took.
* `coredns_health_request_failures_total` - how many of them failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydns.address import Address
from pydns.corefile.duration import format_duration
from pydns.corefile.options import Options, argument, option
from pydns.corefile.types import duration, listen_address
from pydns.http import PLAIN_TEXT, probe
from pydns.plugin import Block, Plugin
from pydns.tasks import Tasks

PATH = "/health"
INTERVAL = 1.0
"""Seconds between two requests of the plugin's own."""
TIMEOUT = 3.0
SLOW = 1.0
"""Seconds that a request may take without a warning."""
BUCKETS = (0.00025, 0.0025, 0.025, 0.25, 2.5)


@dataclass
class HealthOptions(Options):
    address: Address = argument(listen_address, default=Address("", 8080), help="where to serve `/health`")
    lameduck: float = option(duration(), default=0.0, help="how long the final stop waits")


class Health(Plugin):
    name = "health"
    once = True
    options = HealthOptions
    repeatable = True

    def __init__(self, block: Block, conf: Sequence[HealthOptions]) -> None:
        super().__init__(block, conf)
        self._address = conf[-1].address
        self._lameduck = conf[-1].lameduck
        self._tasks = Tasks()
        self._durations = self.process.metrics.histogram(
            "health_request_duration_seconds", "Histogram of the time (in seconds) each request took.", (), BUCKETS
        )
        self._failures = self.process.metrics.counter(
            "health_request_failures_total", "The number of times the health check failed."
        )

    async def start(self) -> None:
        await self.process.http.add(str(self._address), PATH, self._answer)
        self._tasks.run(self._watch())

    async def lameduck(self) -> None:
        if self._lameduck > 0:
            self.log.info(f"Going into lameduck mode for {format_duration(self._lameduck)}")
            await self.process.sleep(self._lameduck)

    async def stop(self) -> None:
        await self._tasks.stop()
        await self.process.http.remove(str(self._address), PATH, self._answer)

    async def _answer(self) -> tuple[int, str, bytes]:
        return 200, PLAIN_TEXT, b"OK"

    async def _watch(self) -> None:
        port = self.process.http.ports()[str(self._address)]
        url = f"http://{Address(self._address.host or 'localhost', port)}{PATH}"
        while True:
            await self.process.sleep(INTERVAL)
            await self._check(url)

    async def _check(self, url: str) -> None:
        started = self.process.clock()
        error = await probe(url, TIMEOUT)
        elapsed = self.process.clock() - started
        self._durations.observe(elapsed)
        if error:
            self._failures.inc()
            self.log.warning(f'Local health request to "{url}" failed: {error}')
        elif elapsed > SLOW:
            self.log.warning(f'Local health request to "{url}" took more than 1s: {format_duration(elapsed)}')

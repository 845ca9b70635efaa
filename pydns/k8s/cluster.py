"""A store that follows the Kubernetes API: the reflectors a Corefile needs, over one connection.

Knows neither HTTP (`client`) nor how one resource is followed (`reflector`).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime

from pydns.k8s.client import Connection, connect
from pydns.k8s.health import ApiHealth
from pydns.k8s.objects import EndpointSlice, Kind, Object
from pydns.k8s.reflector import Reflector
from pydns.k8s.source import Clock, Interest, Observer
from pydns.k8s.store import Store
from pydns.k8s.transport import Transport
from pydns.k8s.wire import RESOURCES
from pydns.log import for_plugin
from pydns.tasks import Tasks

log = for_plugin("kubernetes")

Connect = Callable[[Connection, Observer], Awaitable[Transport]]


class ApiSource:
    """A Source that lists and watches the API.  `connect_to` makes the transport; `clock` gives Unix seconds."""

    def __init__(
        self,
        connection: Connection,
        interest: Interest,
        observer: Observer | None = None,
        clock: Clock = time.time,
        connect_to: Connect = connect,
    ) -> None:
        self.store = Store(interest.kinds, clock)
        self._connection = connection
        self._interest = interest
        self._observer = observer or Observer()
        self._clock = clock
        self._connect_to = connect_to
        self._synced = asyncio.Event()
        self._transport: Transport | None = None
        self._health: ApiHealth | None = None
        self._tasks = Tasks()

    @property
    def followed(self) -> bool:
        """See `Source.followed`."""
        return self.store.synced and self._health is not None and self._health.watched.issuperset(self._interest.kinds)

    async def start(self) -> None:
        """Read the credentials and start to list; raises SourceError where the credentials cannot be read."""
        self._transport = await self._connect_to(self._connection, self._observer)
        self._health = ApiHealth(self._transport.url, self._observer, self._clock)
        for kind in self._interest.kinds:
            self._tasks.run(self._reflector(kind, self._transport, self._health).run())

    async def stop(self) -> None:
        """Stop following the API; the store keeps what it has.  Stopping twice does no harm."""
        await self._tasks.stop()
        if self._transport is not None:
            await self._transport.close()
            self._transport = None

    async def wait_synced(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for every kind to be listed once."""
        try:
            async with asyncio.timeout(timeout):
                await self._synced.wait()
        except TimeoutError:
            pass
        return self.store.synced

    def _reflector(self, kind: Kind, transport: Transport, health: ApiHealth) -> Reflector:
        resource = RESOURCES[kind]
        selectors = {"labelSelector": str(self._interest.selector(kind)), "fieldSelector": resource.field_selector}
        return Reflector(
            resource,
            transport,
            self.store,
            health,
            params={name: value for name, value in selectors.items() if value},
            seen=self._seen,
            listed=self._listed,
        )

    def _listed(self) -> None:
        if self.store.synced:
            self._synced.set()

    def _seen(self, item: Object) -> None:
        """Measure how long after its cause a slice is served, for slices that say so and whose Service is known."""
        if not isinstance(item, EndpointSlice) or not item.trigger_time:
            return
        service = self.store.service(item.namespace, item.service)
        if service is None:
            return
        try:
            caused = datetime.fromisoformat(item.trigger_time).timestamp()
        except ValueError:
            log.warning(f"{item.namespace}/{item.name} has a bad trigger time: {item.trigger_time!r}")
            return
        kind = "headless_with_selector" if service.headless else "cluster_ip"
        self._observer.programmed(kind, self._clock() - caused)

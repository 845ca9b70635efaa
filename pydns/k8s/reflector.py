"""Keep the store equal to the API for one resource: list, then watch, for ever.

    run                  never ends: what fails is tried again, after a growing pause
      list               everything there is: as a streaming list, else in pages
        watch            the changes since, until the stream ends or the API has forgotten where it was (410)

Rules.  The store changes when a list is complete, never during it.  What is known stays until a complete list or an
event says otherwise.  A watch that breaks goes on from the last version seen; an ERROR event, or a refusal, leads to a
new list.  Each change is applied whole, in the API's order; between two changes of a burst others have their turn, so
that queries wait for no more than `PORTION`.

Does not know HTTP (`transport`), JSON (`stream`, `wire`) or who else lists what (`cluster`).
"""

import asyncio
import random
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from pydns.k8s.backoff import Backoff
from pydns.k8s.health import ApiHealth, Forbidden, Unauthorized, Verb
from pydns.k8s.objects import Object
from pydns.k8s.store import Key, Store, key_of
from pydns.k8s.stream import DELETED, ApiError, Event, Lines, api_error, read_event, read_object
from pydns.k8s.transport import Response, Transport, TransportError
from pydns.k8s.wire import Resource, decode_page
from pydns.log import for_plugin

log = for_plugin("kubernetes")

PAGE: Final = "500"
WATCH_SECONDS: Final = (300, 600)
"""Bounds of the time for which a watch is asked for; random, so that not all clients come back at once."""
GRACE: Final = 30.0
"""Seconds past the end of a watch after which its silence means that the connection is dead."""
SHORT: Final = 1.0
"""A watch that ends in less than this many seconds is no success."""
PORTION: Final = 0.0003
"""Seconds of work until others have their turn: some changes, and twenty times what a turn itself takes."""
GONE: Final = 410
REFUSALS: Final[Mapping[int, type[Exception]]] = {401: Unauthorized, 403: Forbidden}
OK: Final = 200


class Portions:
    """Portions of work, after each of which others have the event loop, so that queries are answered meanwhile.

    `clock` gives seconds; those count in which this process had no processor, for queries came all the same.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end = 0.0

    def begin(self) -> None:
        """Others had their turn just now."""
        self._end = self._clock() + PORTION

    @property
    def over(self) -> bool:
        """Whether a portion has been worked on."""
        return self._clock() >= self._end

    async def give_way(self) -> None:
        """Have others go first, if a portion has been worked on."""
        if self.over:
            await asyncio.sleep(0)
            self.begin()


class Reflector:
    """Mirrors one resource into `store`.

    `params` are the selectors to send with every request.  `seen` is called for each object that the API shows,
    `listed` whenever a list is complete.  `sleep`, `clock` (monotonic seconds) and `rng` are there to be replaced.
    """

    def __init__(
        self,
        resource: Resource,
        transport: Transport,
        store: Store,
        health: ApiHealth,
        *,
        params: Mapping[str, str] | None = None,
        seen: Callable[[Object], None] = lambda item: None,
        listed: Callable[[], None] = lambda: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._resource = resource
        self._transport = transport
        self._store = store
        self._health = health
        self._params = dict(params or {})
        self._seen = seen
        self._listed = listed
        self._sleep = sleep
        self._clock = clock
        self._rng = rng or random.Random()
        self._backoff = Backoff(clock, self._rng)
        self._version = ""
        """The resourceVersion the store stands at; empty: a list is due."""
        self._initial: dict[Key, Object] | None = None
        """What a streaming list has brought so far; None outside one."""
        self._portions = Portions(clock)
        self._gone = False
        """Whether the API has said 410 since the last complete list."""
        self._fault: Exception | None = None
        """What went wrong where nothing may be raised."""

    async def run(self) -> None:
        """Mirror until cancelled."""
        while True:
            try:
                await (self._watch() if self._version else self._list())
            except TransportError as error:
                self._health.failed(self._resource.kind, self._verb, error)
            except ApiError as error:
                if self._refused(error):
                    continue
            except Exception as error:  # noqa: BLE001 - a fault of ours must not end the mirror
                log.error(f"listing {self._resource.kind} anew after a fault: {error!r}")
                log.debug(traceback.format_exc())
                self._health.failed(self._resource.kind, self._verb, error)
                self._version = ""
            else:
                continue
            await self._sleep(self._backoff.next())

    @property
    def _verb(self) -> Verb:
        """What is being tried."""
        return "watch" if self._version else "list"

    def _refused(self, error: ApiError) -> bool:
        """Decide how to go on; whether to do so at once, as after the first 410, which is no fault of the API."""
        verb = self._verb
        if error.refusal:
            self._version = ""
        if error.code == GONE:
            log.info(f"listing {self._resource.kind} anew: {error}")
            first, self._gone = not self._gone, True
            return first
        fault = REFUSALS[error.code](str(error)) if error.code in REFUSALS else error
        self._health.failed(self._resource.kind, verb, fault)
        return False

    # list

    async def _list(self) -> None:
        """Get everything as a stream that goes on as a watch; an API that does not do that is asked for pages."""
        self._initial = {}
        try:
            await self._follow({"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"})
        except ApiError as error:
            if self._version or not error.refusal:
                raise
            log.debug(f"no streaming list of {self._resource.kind}: {error}")
        finally:
            self._initial = None
        if not self._version:
            await self._list_pages()

    async def _list_pages(self) -> None:
        """Get everything in pages, so that neither side holds all of it as JSON at any time."""
        items: dict[Key, Object] = {}
        params = {"limit": PAGE}
        while True:
            page = decode_page(await self._body(params))
            self._portions.begin()
            for raw in page.items or ():
                item = read_object(self._resource, raw)
                if item is not None:
                    items[key_of(item)] = item
                await self._portions.give_way()
            if not page.metadata.continue_:
                break
            params = {"limit": PAGE, "continue": page.metadata.continue_}
        await self._replace(items, page.metadata.resource_version, "list")

    async def _body(self, params: Mapping[str, str]) -> bytes:
        async with self._transport.get(self._resource.path, {**self._params, **params}, GRACE) as response:
            await check(response)
            return b"".join([chunk async for chunk in response])

    async def _replace(self, items: Mapping[Key, Object], version: str | None, by: Verb) -> None:
        for item in self._store.replacing(self._resource.kind, items):
            if item is not None:
                self._seen(item)
            await self._portions.give_way()
        self._version = version or "0"
        self._gone = False
        self._health.ok(self._resource.kind, by)
        self._listed()

    # watch

    async def _watch(self) -> None:
        started = self._clock()
        await self._follow({"resourceVersion": self._version})
        if self._clock() - started < SHORT:
            raise TransportError(f"the watch of {self._resource.kind} ended at once")

    async def _follow(self, params: Mapping[str, str]) -> None:
        """Apply the events of one stream until it ends; a stream that breaks after its list has merely ended."""
        seconds = self._rng.randint(*WATCH_SECONDS)
        params = {**self._params, **params, "watch": "true", "allowWatchBookmarks": "true"}
        params["timeoutSeconds"] = str(seconds)
        async with self._transport.get(self._resource.path, params, seconds + GRACE) as response:
            await check(response)
            if self._initial is None:
                self._health.ok(self._resource.kind, "watch")
            try:
                await self._apply_all(response)
            except TransportError as error:
                if self._initial is not None:
                    raise
                log.debug(f"the watch of {self._resource.kind} broke: {error}")

    async def _apply_all(self, response: Response) -> None:
        lines = Lines()
        self._fault = None
        response.show_first(partial(self._apply_at_once, lines))
        async for chunk in response:
            if self._fault is not None:
                raise self._fault
            self._portions.begin()
            for line in lines.feed(chunk):
                event = read_event(self._resource, line)
                if event is not None and self._initial is not None:
                    await self._apply_initial(self._initial, event)
                elif event is not None:
                    self._apply(event)
                await self._portions.give_way()

    def _apply_at_once(self, lines: Lines, chunk: bytes) -> bytes:
        """Apply the changes of a watch that a chunk brings, when it comes; what it leaves is for `_apply_all`.

        That is what takes more than a portion, is no whole line, or has failed, which is raised there.
        """
        if self._initial is not None or lines.pending:
            return chunk
        self._portions.begin()
        while b"\n" in chunk and not self._portions.over:
            line, _, rest = chunk.partition(b"\n")
            try:
                event = read_event(self._resource, line) if line.strip() else None  # as `Lines` has it
                if event is not None:
                    self._apply(event)
            except Exception as error:  # noqa: BLE001 - whoever shows the chunk is told nothing
                self._fault = error
                break
            chunk = rest
        return chunk

    def _apply(self, event: Event) -> None:
        if event.type == DELETED:
            self._store.remove(self._resource.kind, event.key)
        elif event.item is not None:
            self._store.put(event.item)
            self._seen(event.item)
        self._version = event.version or self._version

    async def _apply_initial(self, initial: dict[Key, Object], event: Event) -> None:
        """An event of a streaming list, which ends with an annotated bookmark."""
        if event.item is not None:
            initial[event.key] = self._store.shared(event.item)  # a relist brings little that is new
        elif event.type == DELETED:
            initial.pop(event.key, None)
        elif event.ends_list:
            self._initial = None
            await self._replace(initial, event.version, "watch")


async def check(response: Response) -> None:
    """Raise ApiError with the API's own words unless the reply is what was asked for."""
    if response.status == OK:
        return
    body = b"".join([chunk async for chunk in response])
    raise api_error(body, response.status)

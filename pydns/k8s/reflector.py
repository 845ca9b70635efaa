"""Keep the store equal to the API for one resource: list, then watch, for ever.

    run                  never ends: what fails is tried again, after a growing pause
      list               everything there is: as a streaming list, else in pages
        watch            the changes since, until the stream ends or the API has forgotten where it was (410)

Rules.  The store changes when a list is complete, never during it.  What is known stays until a complete list or an
event says otherwise.  A watch that breaks goes on from the last version seen; an ERROR event, or a refusal, leads to a
new list.  One object that cannot be decoded is logged and left out.

Does not know HTTP (`transport`), the objects' fields (`wire`) or who else lists what (`cluster`).
"""

import asyncio
import random
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec

from pydns.k8s.backoff import Backoff
from pydns.k8s.health import ApiHealth, Forbidden, Unauthorized
from pydns.k8s.objects import Object
from pydns.k8s.store import Key, Store, key_of
from pydns.k8s.transport import Response, Transport, TransportError
from pydns.k8s.wire import EventWire, Identity, Resource, decode_event, decode_identity, decode_page, decode_status
from pydns.log import for_plugin

log = for_plugin("kubernetes")

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
PAGE: Final = "500"
WATCH_SECONDS: Final = (300, 600)
"""Bounds of the time for which a watch is asked for; random, so that not all clients come back at once."""
GRACE: Final = 30.0
"""Seconds past the end of a watch after which its silence means that the connection is dead."""
SHORT: Final = 1.0
"""A watch that ends in less than this many seconds is no success."""
SHOWN: Final = 200
"""Characters shown of a refusal that is no Status object."""
MAX_EVENT: Final = 16 << 20
"""Octets of the longest watch event; etcd keeps no object of more than 1.5 MB.  What is longer is no watch."""
GONE: Final = 410
REFUSALS: Final[Mapping[int, type[Exception]]] = {401: Unauthorized, 403: Forbidden}
TOO_MANY: Final = 429
OK: Final = 200


class ApiError(Exception):
    """The API answered, but not with what was asked for; `code` as in HTTP, also for an ERROR event in a stream."""

    def __init__(self, code: int, message: str, *, in_stream: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.in_stream = in_stream

    @property
    def refusal(self) -> bool:
        """Whether to ask in another way rather than again."""
        return self.in_stream or (400 <= self.code < 500 and self.code != TOO_MANY)


class Lines:
    """Cuts a stream of bytes into its non-empty lines."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes; raises ApiError for one that has no end."""
        self._rest += chunk
        if b"\n" not in chunk:
            if len(self._rest) > MAX_EVENT:
                raise ApiError(0, f"a watch event of more than {MAX_EVENT} octets", in_stream=True)
            return []
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        return [line for line in lines if line.strip()]


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
        self._gone = False
        """Whether the API has said 410 since the last complete list."""

    async def run(self) -> None:
        """Mirror until cancelled."""
        while True:
            try:
                await (self._watch() if self._version else self._list())
            except TransportError as error:
                self._health.failed(self._resource.kind, error)
            except ApiError as error:
                if self._refused(error):
                    continue
            except Exception as error:  # noqa: BLE001 - a fault of ours must not end the mirror
                log.error(f"listing {self._resource.kind} anew after a fault: {error!r}")
                log.debug(traceback.format_exc())
                self._version = ""
                self._health.failed(self._resource.kind, error)
            else:
                continue
            await self._sleep(self._backoff.next())

    def _refused(self, error: ApiError) -> bool:
        """Decide how to go on; whether to do so at once, as after the first 410, which is no fault of the API."""
        if error.refusal:
            self._version = ""
        if error.code == GONE:
            log.info(f"listing {self._resource.kind} anew: {error}")
            first, self._gone = not self._gone, True
            return first
        self._health.failed(self._resource.kind, REFUSALS[error.code](str(error)) if error.code in REFUSALS else error)
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
            for raw in page.items or ():
                self._collect(items, raw)
            if not page.metadata.continue_:
                break
            params = {"limit": PAGE, "continue": page.metadata.continue_}
        self._replace(items, page.metadata.resource_version)

    async def _body(self, params: Mapping[str, str]) -> bytes:
        async with self._transport.get(self._resource.path, {**self._params, **params}, GRACE) as response:
            await check(response)
            return b"".join([chunk async for chunk in response])

    def _collect(self, items: dict[Key, Object], raw: msgspec.Raw) -> None:
        item = self._decode(raw)
        if item is not None:
            items[key_of(item)] = item

    def _replace(self, items: Mapping[Key, Object], version: str | None) -> None:
        self._store.replace(self._resource.kind, items)
        self._version = version or "0"
        self._gone = False
        for item in items.values():
            self._seen(item)
        self._health.ok(self._resource.kind)
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
                self._health.ok(self._resource.kind)
            try:
                await self._apply_all(response)
            except TransportError as error:
                if self._initial is not None:
                    raise
                log.debug(f"the watch of {self._resource.kind} broke: {error}")

    async def _apply_all(self, response: Response) -> None:
        lines = Lines()
        async for chunk in response:
            for line in lines.feed(chunk):
                self._apply(read_event(line))

    def _apply(self, event: EventWire) -> None:
        meta = self._identity(event.object)
        if meta is None:
            return
        if self._initial is not None:
            self._apply_initial(self._initial, event, meta)
            return
        if event.type == "DELETED":
            self._store.remove(self._resource.kind, (meta.namespace or "", meta.name))
        elif event.type != "BOOKMARK":
            self._put(event.object)
        self._version = meta.resource_version or self._version

    def _apply_initial(self, initial: dict[Key, Object], event: EventWire, meta: Identity) -> None:
        """An event of a streaming list, which ends with an annotated bookmark."""
        if event.type != "BOOKMARK":
            self._collect(initial, event.object)
        elif (meta.annotations or {}).get(INITIAL_EVENTS_END) == "true":
            self._initial = None
            self._replace(initial, meta.resource_version)

    def _identity(self, raw: msgspec.Raw) -> Identity | None:
        try:
            return decode_identity(raw).metadata
        except msgspec.DecodeError as error:
            self._skip("(no name)", error)
            return None

    def _put(self, raw: msgspec.Raw) -> None:
        item = self._decode(raw)
        if item is not None:
            self._store.put(item)
            self._seen(item)

    def _decode(self, raw: msgspec.Raw) -> Object | None:
        try:
            return self._resource.decode(raw)
        except msgspec.DecodeError as error:
            meta = self._identity(raw)
            if meta is not None:
                self._skip(f"{meta.namespace or ''}/{meta.name}", error)
            return None

    def _skip(self, name: str, error: msgspec.DecodeError) -> None:
        log.warning(f"leaving out {name} of the {self._resource.kind}: {error}")


async def check(response: Response) -> None:
    """Raise ApiError with the API's own words unless the reply is what was asked for."""
    if response.status == OK:
        return
    body = b"".join([chunk async for chunk in response])
    raise api_error(body, response.status)


def api_error(body: bytes | msgspec.Raw, code: int, *, in_stream: bool = False) -> ApiError:
    try:
        status = decode_status(body)
    except msgspec.DecodeError:
        words = " ".join(bytes(body).decode(errors="replace").split())[:SHOWN]
        return ApiError(code, f"the API answered with status {code}: {words}".rstrip(": "), in_stream=in_stream)
    return ApiError(status.code or code, status.message or f"status {code}", in_stream=in_stream)


def read_event(line: bytes) -> EventWire:
    try:
        event = decode_event(line)
    except msgspec.DecodeError as error:
        raise ApiError(0, f"a watch event cannot be read: {error}", in_stream=True)
    if event.type == "ERROR":
        raise api_error(event.object, 500, in_stream=True)
    return event

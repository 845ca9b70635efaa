"""A small Kubernetes list/watch API over plain HTTP for given objects, odd ones included.

Serves Namespaces, Services, EndpointSlices and Pods with label and field selectors; streaming lists end in the
`initial-events-end` bookmark. Knows no DNS. Nothing is validated; what DNS needs and people leave out, protocols
of ports and ClusterIPs, is filled in unless the objects are to be served as they are.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from conformance.kubernetes import cluster_ips, controllers
from conformance.kubernetes.objects import Key, Object, key_of
from conformance.servers.ports import free_port

RESOURCES = {
    "/api/v1/namespaces": ("v1", "Namespace"),
    "/api/v1/services": ("v1", "Service"),
    "/api/v1/pods": ("v1", "Pod"),
    "/apis/discovery.k8s.io/v1/endpointslices": ("discovery.k8s.io/v1", "EndpointSlice"),
}
INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


@dataclass(frozen=True)
class Selection:
    """What one list or watch asks for."""

    kind: str
    labels: str = ""
    fields: str = ""

    def matches(self, object: Object) -> bool:
        """Kind, every label requirement and every field requirement."""
        labels = object["metadata"].get("labels") or {}
        return (
            object["kind"] == self.kind
            and all(_label_matches(text, labels) for text in _requirements(self.labels))
            and all(_field_matches(text, object) for text in _requirements(self.fields))
        )


def _requirements(selector: str) -> list[str]:
    """A selector at its commas, those within parentheses excepted."""
    parts, depth = [""], 0
    for char in selector:
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _label_matches(text: str, labels: dict[str, str]) -> bool:
    words = text.replace("(", " ").replace(")", " ").replace(",", " ").split()
    if len(words) > 1 and words[1] in ("in", "notin"):
        return (labels.get(words[0]) in words[2:]) is (words[1] == "in")
    if "=" not in text:
        return (text.lstrip("!") in labels) is not text.startswith("!")
    return _equality(text, labels.get)


def _field_matches(text: str, object: Object) -> bool:
    def value(path: str) -> Any:
        found: Any = object
        for step in path.split("."):
            found = found.get(step, "") if isinstance(found, dict) else ""
        return found

    return _equality(text, value)


def _equality(text: str, value: Any) -> bool:
    if "!=" in text:
        name, _, wanted = text.partition("!=")
        return bool(value(name.strip()) != wanted.strip())
    name, _, wanted = text.replace("==", "=").partition("=")
    return bool(value(name.strip()) == wanted.strip())


@dataclass
class FakeApi:
    """The objects, what happened to them, and the watchers to tell of it.

    `streaming=False` refuses streaming lists with 422. `defaults=False` serves the objects as they are.
    `controllers=True` runs small ones on them (`controllers.py`).
    """

    streaming: bool = True
    defaults: bool = True
    controllers: bool = False
    version: int = 1000
    objects: dict[Key, Object] = field(default_factory=dict)
    watchers: list[tuple[Selection, asyncio.Queue[Object | None]]] = field(default_factory=list)
    history: list[tuple[Object | None, Object | None]] = field(default_factory=list)

    def apply(self, objects: Iterable[Object]) -> None:
        """Creates or replaces objects and tells the watchers."""
        for given in objects:
            object = copy.deepcopy(given)
            if self.defaults:
                self._complete(object)
            self._put(object)
        self._control()

    def patch(self, kind: str, namespace: str, name: str, body: Object) -> None:
        """A JSON merge patch (RFC 7386) of an object; `KeyError` if it is not there."""
        self._put(merge(self.objects[kind, namespace, name], body))
        self._control()

    def delete(self, kind: str, namespace: str, name: str, at_once: bool = True) -> None:
        """Removes an object and tells the watchers; `KeyError` if it is not there.

        A Pod on a Node stays, marked as terminating, unless it is to go `at_once`.
        """
        old = self.objects[kind, namespace, name]
        if not at_once and (old.get("spec") or {}).get("nodeName"):
            self._put(merge(old, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}))
        else:
            self._remove(old)
        self._control()

    def close(self) -> None:
        """Ends all watches."""
        for _, queue in self.watchers:
            queue.put_nowait(None)

    def expire(self) -> None:
        """Forgets what happened so far, and ends all watches with 410 Gone."""
        self._forget()
        for _, queue in self.watchers:
            queue.put_nowait(_gone())
            queue.put_nowait(None)

    def restart(self) -> None:
        """Ends all watches and forgets what happened so far, as a new process would."""
        self._forget()
        self.close()

    def _control(self) -> None:
        """Lets the controllers do what there is to do; what they do is no change that asks for more."""
        while self.controllers and (work := controllers.work(self.objects)):
            for object in work.changed:
                self._put(object)
            for object in work.removed:
                self._remove(object)

    def _complete(self, object: Object) -> None:
        """Fills in what an API server does and DNS needs: protocols of ports, ClusterIPs."""
        _set_protocols(object)
        if object["kind"] == "Service":
            cluster_ips.complete(object, self.objects.get(key_of(object)), self.objects.values())

    def _put(self, object: Object) -> None:
        key = key_of(object)
        self._note(self.objects.get(key), object)
        self.objects[key] = object

    def _remove(self, object: Object) -> None:
        self._note(self.objects.pop(key_of(object)), None)

    def _note(self, old: Object | None, new: Object | None) -> None:
        """One more version: remembered, and told to the watchers."""
        self.version += 1
        if new is not None:
            new["metadata"]["resourceVersion"] = str(self.version)
        elif old is not None:
            old = merge(old, {"metadata": {"resourceVersion": str(self.version)}})
        self.history.append((old, new))
        for selection, queue in self.watchers:
            _tell(selection, queue, old, new)

    def _forget(self) -> None:
        self.version += 1
        self.history.clear()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One list or watch."""
        if request.path not in RESOURCES:
            return web.json_response(_status(404, "NotFound"), status=404)
        group, kind = RESOURCES[request.path]
        query = request.query
        selection = Selection(kind, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        if query.get("watch") not in ("true", "1"):
            return web.json_response(self._list(group, selection))
        initial = query.get("sendInitialEvents") == "true"
        if initial and not self.streaming:
            return web.json_response(_status(422, "Invalid"), status=422)
        return await self._watch(request, group, selection, initial)

    def _list(self, group: str, selection: Selection) -> Object:
        items = [object for object in self.objects.values() if selection.matches(object)]
        metadata = {"resourceVersion": str(self.version)}
        return {"kind": f"{selection.kind}List", "apiVersion": group, "metadata": metadata, "items": items}

    async def _watch(self, request: web.Request, group: str, selection: Selection, initial: bool) -> web.StreamResponse:
        queue: asyncio.Queue[Object | None] = asyncio.Queue()
        if initial:
            self._tell_all(group, selection, queue)
        elif since := int(request.query.get("resourceVersion") or 0):
            self._tell_since(since, selection, queue)
        watcher = (selection, queue)
        self.watchers.append(watcher)
        try:
            return await _stream(request, queue)
        finally:
            self.watchers.remove(watcher)

    def _tell_all(self, group: str, selection: Selection, queue: asyncio.Queue[Object | None]) -> None:
        """A streaming list: every object, then the bookmark that ends it."""
        for object in self.objects.values():
            _tell(selection, queue, None, object)
        queue.put_nowait(_bookmark(group, selection.kind, self.version))

    def _tell_since(self, version: int, selection: Selection, queue: asyncio.Queue[Object | None]) -> None:
        """What happened after a version; 410 Gone where that is no longer known."""
        missed = self.version - version
        if missed > len(self.history):
            queue.put_nowait(_gone())
            queue.put_nowait(None)
        for old, new in self.history[len(self.history) - missed :]:
            _tell(selection, queue, old, new)


def _tell(selection: Selection, queue: asyncio.Queue[Object | None], old: Object | None, new: Object | None) -> None:
    """The event that a change is to a watcher: an object that leaves the selection is deleted to it."""
    before = old is not None and selection.matches(old)
    after = new is not None and selection.matches(new)
    if before or after:
        kind = "DELETED" if not after else "MODIFIED" if before else "ADDED"
        queue.put_nowait({"type": kind, "object": new if after else old})


async def _stream(request: web.Request, queue: asyncio.Queue[Object | None]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    try:
        while event := await queue.get():
            await response.write(json.dumps(event).encode() + b"\n")
    except ConnectionError:
        pass
    return response


def _set_protocols(object: Object) -> None:
    """TCP where a port of a Service or an EndpointSlice names no protocol, as the API server sets it."""
    for port in (object.get("spec") or object).get("ports") or ():
        port.setdefault("protocol", "TCP")


def _bookmark(group: str, kind: str, version: int) -> Object:
    metadata = {"resourceVersion": str(version), "annotations": INITIAL_EVENTS_END}
    return {"type": "BOOKMARK", "object": {"kind": kind, "apiVersion": group, "metadata": metadata}}


def _gone() -> Object:
    return {"type": "ERROR", "object": _status(410, "Expired")}


def merge(old: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7386) of a value, as a new value: null takes a field away, a list is replaced."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    merged = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


def _status(code: int, reason: str) -> Object:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}


@asynccontextmanager
async def serve(api: FakeApi, host: str = "127.0.0.1") -> AsyncIterator[str]:
    """Serves at an address of this machine until the block ends; gives the URL."""
    app = web.Application()
    app.router.add_get("/{path:.*}", api.handle)
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=0.1)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, host, port).start()
    try:
        yield f"http://{host}:{port}"
    finally:
        api.close()
        await runner.cleanup()

"""A scripted Kubernetes API, and objects as the real one writes them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydns.k8s.transport import TransportError
from tests.support import Clock

Wire = dict[str, Any]


class Reply:
    """A response: bytes, pauses in seconds, then the end, a fault, or silence that never ends."""

    def __init__(self, *pieces: bytes | float, status: int = 200, then: TransportError | str = "end") -> None:
        self.status = status
        self.pieces = pieces
        self.then = then


class Playing:
    """A reply on its way."""

    def __init__(self, reply: Reply, clock: Clock) -> None:
        self.status = reply.status
        self._reply = reply
        self._clock = clock
        self.look: Callable[[bytes], bytes] | None = None

    def show_first(self, look: Callable[[bytes], bytes]) -> None:
        self.look = look

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._reply.pieces:
            if isinstance(piece, bytes):
                if self.look is not None:
                    piece = self.look(piece)
                    await asyncio.sleep(0)  # whoever iterates is woken, and others have their turn before
                if piece:
                    yield piece
            else:
                await self._clock.sleep(piece)
        if isinstance(self._reply.then, TransportError):
            raise self._reply.then
        if self._reply.then == "silence":
            await asyncio.Event().wait()


class ScriptedApi:
    """A Transport that gives its replies in order, whoever asks; after the last one it never answers."""

    def __init__(self, *replies: Reply | TransportError, clock: Clock) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.url = "https://api.example.com"
        self.closed = False
        self.playing: Playing | None = None
        self._replies = list(replies)
        self._clock = clock

    @asynccontextmanager
    async def get(self, path: str, params: Mapping[str, str], silence: float) -> AsyncIterator[Playing]:
        self.requests.append((path, dict(params)))
        if not self._replies:
            await asyncio.Event().wait()
        reply = self._replies.pop(0)
        if isinstance(reply, TransportError):
            raise reply
        self.playing = Playing(reply, self._clock)
        yield self.playing

    async def close(self) -> None:
        self.closed = True


def service(name: str = "web", ip: str = "10.96.1.1", version: int = 1, **spec: Any) -> Wire:
    return {
        "metadata": {"namespace": "shop", "name": name, "resourceVersion": str(version)},
        "spec": {"type": "ClusterIP", "clusterIP": ip, "ports": [{"port": 80, "protocol": "TCP"}], **spec},
    }


def event(kind: str, item: Wire) -> bytes:
    return json.dumps({"type": kind, "object": item}).encode() + b"\n"


def added(*items: Wire) -> bytes:
    return b"".join(event("ADDED", item) for item in items)


def bookmark(version: int, *, end: bool = False) -> bytes:
    annotations = {"k8s.io/initial-events-end": "true"} if end else None
    return event("BOOKMARK", {"metadata": {"resourceVersion": str(version), "annotations": annotations}})


def error(code: int, message: str = "no") -> bytes:
    return event("ERROR", status_body(code, message))


def status_body(code: int, message: str) -> Wire:
    return {"kind": "Status", "status": "Failure", "code": code, "message": message}


def refusal(code: int, message: str = "no") -> Reply:
    return Reply(json.dumps(status_body(code, message)).encode(), status=code)


def page(version: int, items: Iterable[Wire], more: str = "") -> Reply:
    metadata = {"resourceVersion": str(version), "continue": more}
    return Reply(json.dumps({"metadata": metadata, "items": list(items)}).encode())

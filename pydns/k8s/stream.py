"""What the API sends, taken apart: lines, events, objects and refusals.

Rules.  An object is decoded once, together with its event.  One that cannot be decoded is logged and left out; who it
is, is read all the same.  Does not know requests, nor what becomes of the objects (`reflector`).
"""

from typing import Final, NamedTuple

import msgspec

from pydns.k8s.objects import Object
from pydns.k8s.store import Key
from pydns.k8s.wire import (
    INITIAL_EVENTS_END,
    Identity,
    Meta,
    Resource,
    decode_event,
    decode_identity,
    decode_status,
)
from pydns.log import for_plugin

log = for_plugin("kubernetes")

BOOKMARK: Final = "BOOKMARK"
DELETED: Final = "DELETED"
ERROR: Final = "ERROR"
MAX_EVENT: Final = 16 << 20
"""Octets of the longest watch event; etcd keeps no object of more than 1.5 MB.  What is longer is no watch."""
SHOWN: Final = 200
"""Characters shown of a refusal that is no Status object."""
TOO_MANY: Final = 429


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

    @property
    def pending(self) -> bool:
        """Whether a line has begun and not ended."""
        return bool(self._rest)

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


class Event(NamedTuple):
    """One line of a watch.

    `item` is None in a bookmark, for an object that is gone, and for one that cannot be decoded.
    """

    type: str
    key: Key
    version: str | None
    ends_list: bool
    item: Object | None


def read_event(resource: Resource, line: bytes) -> Event | None:
    """What a line says, None where not even of what; raises ApiError for an ERROR event and for what is no event."""
    try:
        wire = resource.decode_event(line)
    except msgspec.DecodeError as fault:
        return _read_odd(resource, line, fault)
    if wire.type == ERROR:
        return _read_odd(resource, line, None)
    bare = wire.type in (BOOKMARK, DELETED)
    return _event(wire.type, wire.object.metadata, None if bare else resource.convert(wire.object))


def _event(kind: str, meta: Meta | Identity, item: Object | None) -> Event:
    ends_list = kind == BOOKMARK and (meta.annotations or {}).get(INITIAL_EVENTS_END) == "true"
    return Event(kind, (meta.namespace or "", meta.name), meta.resource_version, ends_list, item)


def _read_odd(resource: Resource, line: bytes, fault: msgspec.DecodeError | None) -> Event | None:
    """An event whose object is not of its kind, `fault` says why."""
    try:
        event = decode_event(line)
    except msgspec.DecodeError as error:
        raise ApiError(0, f"a watch event cannot be read: {error}", in_stream=True)
    if event.type == ERROR:
        raise api_error(event.object, 500, in_stream=True)
    meta = _identity(resource, event.object)
    if meta is None:
        return None
    if fault is not None and event.type not in (BOOKMARK, DELETED):
        _skip(resource, f"{meta.namespace or ''}/{meta.name}", fault)
    return _event(event.type, meta, None)


def read_object(resource: Resource, raw: msgspec.Raw) -> Object | None:
    """An object of a list; None for one that cannot be decoded."""
    try:
        return resource.convert(resource.decode(raw))
    except msgspec.DecodeError as fault:
        meta = _identity(resource, raw)
        if meta is not None:
            _skip(resource, f"{meta.namespace or ''}/{meta.name}", fault)
        return None


def _identity(resource: Resource, raw: msgspec.Raw) -> Identity | None:
    try:
        return decode_identity(raw).metadata
    except msgspec.DecodeError as fault:
        _skip(resource, "(no name)", fault)
        return None


def _skip(resource: Resource, name: str, fault: msgspec.DecodeError) -> None:
    log.warning(f"leaving out {name} of the {resource.kind}: {fault}")


def api_error(body: bytes | msgspec.Raw, code: int, *, in_stream: bool = False) -> ApiError:
    """The API's own words for a refusal; `code` is for a body that tells none."""
    try:
        status = decode_status(body)
    except msgspec.DecodeError:
        words = " ".join(bytes(body).decode(errors="replace").split())[:SHOWN]
        return ApiError(code, f"the API answered with status {code}: {words}".rstrip(": "), in_stream=in_stream)
    return ApiError(status.code or code, status.message or f"status {code}", in_stream=in_stream)

"""Changes that a case makes to a cluster while the servers run: one directive each, and what it does to the API.

A change of Pods is what a kubelet would do: there is none, so the case says which addresses Pods get and when they are
ready. Knows the API by one interface; no servers, no DNS.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import yaml

from conformance.kubernetes.objects import Object
from conformance.wire.blocks import Block
from conformance.wire.compare import own_address

OWN_ADDRESS = "OWN_ADDRESS"
"""Stands in objects for an address of this machine: that of the server, behind the Service it belongs to."""

POD_TIME = 20.0
"""Seconds within which the controllers must have made a Pod that a case waits for."""


class ChangeError(Exception):
    """A change that could not be made."""


class Objects(Protocol):
    """What changes need of an API."""

    async def apply(self, objects: Iterable[Object]) -> None:
        """Creates objects, or changes them to what is written."""

    async def patch(self, kind: str, namespace: str, name: str, body: Object, part: str = "") -> None:
        """A JSON merge patch (RFC 7386) of an object, or of its `part`, `status`."""

    async def delete(self, kind: str, namespace: str, name: str, at_once: bool = True) -> None:
        """Deletes an object; a running Pod stays, terminating, unless `at_once`. One that is not there is no error."""

    async def bind(self, namespace: str, pod: str) -> None:
        """Puts a Pod on the Node that every cluster here has, as the scheduler would."""

    async def pods(self, namespace: str = "") -> list[Object]:
        """The Pods of a namespace, by default of all that the case has."""

    async def outage(self, kind: str) -> None:
        """`disconnect`, `connect`, `restart` or `expire`, see `Outage`."""


@dataclass(frozen=True)
class Change(ABC):
    """One step that changes objects; `place` is FILE:LINE where it is written."""

    place: str = field(default="", kw_only=True, compare=False)

    @abstractmethod
    async def perform(self, api: Objects) -> None:
        """Makes the change. Raises `ChangeError`."""


@dataclass(frozen=True)
class Apply(Change):
    """Objects created or changed."""

    objects: tuple[Object, ...]

    async def perform(self, api: Objects) -> None:
        await api.apply(self.objects)


@dataclass(frozen=True)
class Delete(Change):
    """One object deleted at once."""

    kind: str
    namespace: str
    name: str

    async def perform(self, api: Objects) -> None:
        await api.delete(self.kind, self.namespace, self.name)


@dataclass(frozen=True)
class Patch(Change):
    """One object patched; `name` may be the address of a Pod."""

    kind: str
    namespace: str
    name: str
    body: Object

    async def perform(self, api: Objects) -> None:
        namespace, name = self.namespace, self.name
        if self.kind == "Pod" and not namespace:
            namespace, name = await _pod_at(api, name)
        await api.patch(self.kind, namespace, name, self.body)


@dataclass(frozen=True)
class Start(Change):
    """The Pods of a label that have no address yet get these, in the order of their names, and become ready.

    Waits for each until the controllers made it. An address may be two, one of each family, with a comma.
    """

    namespace: str
    label: str
    addresses: tuple[str, ...]

    async def perform(self, api: Objects) -> None:
        for address in self.addresses:
            name = await self._waiting(api)
            await api.bind(self.namespace, name)
            await api.patch("Pod", self.namespace, name, _status(address.split(","), ready=True), "status")

    async def _waiting(self, api: Objects) -> str:
        """The name of the first Pod without an address."""
        deadline = asyncio.get_running_loop().time() + POD_TIME
        while True:
            names = [name_of(pod)[1] for pod in await api.pods(self.namespace) if self._waits(pod)]
            if names:
                return min(names)
            if asyncio.get_running_loop().time() >= deadline:
                raise ChangeError(f"no Pod {self.label} without an address in {self.namespace} after {POD_TIME:.0f} s")
            await asyncio.sleep(0.02)

    def _waits(self, pod: Object) -> bool:
        name, _, value = self.label.partition("=")
        labels = pod["metadata"].get("labels") or {}
        return labels.get(name) == value and not addresses_of(pod) and "deletionTimestamp" not in pod["metadata"]


@dataclass(frozen=True)
class Ready(Change):
    """The Pods with these addresses become ready, or no longer are."""

    addresses: tuple[str, ...]
    ready: bool

    async def perform(self, api: Objects) -> None:
        for address in self.addresses:
            namespace, name = await _pod_at(api, address)
            await api.patch("Pod", namespace, name, _condition(self.ready), "status")


@dataclass(frozen=True)
class Remove(Change):
    """The Pods with these addresses are told to end, or are gone (`at_once`)."""

    addresses: tuple[str, ...]
    at_once: bool

    async def perform(self, api: Objects) -> None:
        for address in self.addresses:
            await api.delete("Pod", *await _pod_at(api, address), at_once=self.at_once)


@dataclass(frozen=True)
class Outage(Change):
    """What befalls the connection between the servers and the API.

    `disconnect` cuts it and refuses new ones, `connect` ends that; the case itself still reaches the API. `restart`
    ends the API server and starts it again: it no longer knows what happened before (410 Gone). `expire` (fake API
    alone): every watch ends with 410 Gone, as when the server has forgotten the version it started from.
    """

    kind: str

    async def perform(self, api: Objects) -> None:
        await api.outage(self.kind)


def name_of(object: Object) -> tuple[str, str]:
    """Namespace and name."""
    return object["metadata"].get("namespace", ""), object["metadata"]["name"]


def addresses_of(pod: Object) -> list[str]:
    """All addresses of a Pod."""
    return [entry["ip"] for entry in (pod.get("status") or {}).get("podIPs") or ()]


async def _pod_at(api: Objects, address: str) -> tuple[str, str]:
    """Namespace and name of the Pod with an address."""
    for pod in await api.pods():
        if address in addresses_of(pod):
            return name_of(pod)
    raise ChangeError(f"no Pod has the address {address}")


def _condition(ready: bool) -> Object:
    return {"status": {"conditions": [{"type": "Ready", "status": str(ready)}]}}


def _status(addresses: Sequence[str], ready: bool) -> Object:
    given = {"phase": "Running", "podIP": addresses[0], "podIPs": [{"ip": address} for address in addresses]}
    return {"status": {**given, **_condition(ready)["status"]}}


# -- directives --


def read_objects(text: str) -> tuple[Object, ...]:
    """The documents of a YAML text, in order. Raises `YAMLError`, and `ValueError` for one that is no mapping."""
    documents = [each for each in yaml.safe_load_all(text.replace(OWN_ADDRESS, own_address())) if each]
    for document in documents:
        if not isinstance(document, dict):
            raise ValueError(f"not an object of Kubernetes: {document!r}")
    return tuple(documents)


def _place(text: str) -> tuple[str, str]:
    namespace, _, name = text.rpartition("/")
    return namespace, name


def _delete(block: Block) -> Change:
    kind, place = block.rest.split()
    return Delete(kind, *_place(place))


def _patch(block: Block) -> Change:
    kind, place = block.rest.split()
    (body,) = read_objects(block.text)
    return Patch(kind, *_place(place), body)


def _scale(block: Block) -> Change:
    kind, place, number = block.rest.split()
    return Patch(kind, *_place(place), {"spec": {"replicas": int(number)}})


def _start(block: Block) -> Change:
    namespace, label, *addresses = block.rest.split()
    return Start(namespace, label, tuple(addresses))


CHANGES: dict[str, Callable[[Block], Change]] = {
    "apply": lambda block: Apply(read_objects(block.text)),
    "delete": _delete,
    "patch": _patch,
    "scale": _scale,
    "start": _start,
    "ready": lambda block: Ready(tuple(block.rest.split()), True),
    "unready": lambda block: Ready(tuple(block.rest.split()), False),
    "terminate": lambda block: Remove(tuple(block.rest.split()), False),
    "gone": lambda block: Remove(tuple(block.rest.split()), True),
    "disconnect": lambda block: Outage(block.directive),
    "connect": lambda block: Outage(block.directive),
    "restart": lambda block: Outage(block.directive),
    "expire": lambda block: Outage(block.directive),
}
"""The directives that change objects, and how each is read."""

"""The names below a zone: which exist, and what they hold.

Duty: find the objects a name asks for, with what `namespaces`, `pods` and `ignore empty_service` say about them, and
name the data looked at.  It does not know records, zones or queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydns.dns.types import Type
from pydns.k8s.objects import Kind, Port
from pydns.k8s.store import Change, Key, Store
from pydns.plugins.kubernetes.consent import Tag, Tags
from pydns.plugins.kubernetes.options import KubernetesOptions
from pydns.plugins.kubernetes.qname import PODS, Name
from pydns.plugins.kubernetes.records import Item, address_rdata
from pydns.plugins.kubernetes.services import ServiceItems

_POD_PORTS = (Port("", 0, ""),)


class Found(NamedTuple):
    """What a name holds; a name that ``exists`` may hold nothing.

    ``tags`` are the data looked at, ``service`` is the Service whose ``items`` these are, if there is one and the name
    has no label that may be anything; whether its endpoint slices were looked at is in ``of_endpoints``.
    """

    exists: bool
    tags: tuple[Tag, ...] = ()
    items: Sequence[Item] = ()
    service: Key | None = None
    of_endpoints: bool = False

    @property
    def is_alias(self) -> bool:
        """Whether names are among what it holds, to be asked further."""
        return Type.CNAME in [item.type for item in self.items]


NOWHERE = Found(False)
EMPTY_NON_TERMINAL = Found(True)


class Tree:
    """The names of the objects in ``store``."""

    def __init__(self, store: Store, options: KubernetesOptions, tags: Tags) -> None:
        self._store = store
        self._exposed = frozenset(options.namespaces)
        self._pods = options.pods
        self._pod_names = options.endpoint_pod_names
        self._ignores_empty = options.ignores_empty
        self._tags = tags
        self._services: dict[Key, ServiceItems] = {}
        store.on_change(self._forget)

    def exposes(self, namespace: str) -> bool:
        """Whether a namespace exists and is not hidden by `namespaces`."""
        return (not self._exposed or namespace in self._exposed) and self._store.namespace_exists(namespace)

    def find(self, name: Name | None) -> Found:
        """What is at a name that `qname.parse` took apart."""
        if name is None:
            return NOWHERE
        if not name.kind:
            return EMPTY_NON_TERMINAL
        tags = (self._tags.namespace(name.namespace),)
        if not self.exposes(name.namespace):
            return Found(False, tags)
        if name.kind == PODS:
            return self._find_pod(name, tags)
        return self._find_service(name, tags) if name.service else Found(True, tags)

    def _find_service(self, name: Name, tags: tuple[Tag, ...]) -> Found:
        key = name.namespace, name.service
        service = self._service(key)
        of_endpoints = self._ignores_empty or (service is not None and service.depends_on_slices(name))
        tags = (*tags, self._tags.service(*key), *((self._tags.endpoints(*key),) if of_endpoints else ()))
        if service is None:
            return Found(False, tags)
        items = service.select(name)
        exists = bool(items) or bool(name.zone and service.is_headless)
        return Found(exists, tags, items, None if name.zone else key, of_endpoints)

    def _service(self, key: Key) -> ServiceItems | None:
        """The items of a Service, made when they are first asked for."""
        known = self._services.get(key)
        if known is not None:
            return known
        service = self._store.service(*key)
        if service is None:
            return None
        items = ServiceItems(service, self._store.slices(*key), self._pod_names)
        if self._ignores_empty and not (items.is_headless or items.is_external or items.has_endpoints):
            return None
        self._services[key] = items
        return items

    def _find_pod(self, name: Name, tags: tuple[Tag, ...]) -> Found:
        if self._pods == "disabled":
            return Found(False, tags)
        if not name.service:
            return Found(True, tags)
        address = pod_address(name.service)
        if self._pods == "verified":
            tags = (*tags, self._tags.pod(address))
            if all(pod.namespace != name.namespace for pod in self._store.pods_by_ip(address)):
                return Found(False, tags)
        found = address_rdata(address)
        if found is None:
            return Found(False, tags)
        return Found(True, tags, (Item(*found, _POD_PORTS, f"{name.service}.{name.namespace}.{PODS}"),))

    def _forget(self, change: Change) -> None:
        if change.kind in (Kind.SERVICE, Kind.SLICE):
            self._services.pop((change.namespace, change.name), None)


def pod_address(label: str) -> str:
    """The address that a Pod's label stands for: IPv4 with exactly three single dashes, else IPv6."""
    is_ipv4 = label.count("-") == 3 and "--" not in label
    return label.replace("-", "." if is_ipv4 else ":")

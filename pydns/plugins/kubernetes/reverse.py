"""PTR records: from an address to the Service or the endpoints that have it.

It does not know queries.
"""

from __future__ import annotations

from pydns.k8s.store import Store
from pydns.plugins.kubernetes.consent import Tag, Tags
from pydns.plugins.kubernetes.qname import SERVICES
from pydns.plugins.kubernetes.records import absolute, endpoint_name
from pydns.plugins.kubernetes.tree import Tree


class Reverse:
    """The names of addresses, all below ``zone``.  ``filtered`` says that namespaces must be exposed (the option
    ``namespaces``; CoreDNS does not look at them otherwise)."""

    def __init__(self, store: Store, tree: Tree, tags: Tags, zone: str, *, filtered: bool, pod_names: bool) -> None:
        self._store = store
        self._tree = tree
        self._tags = tags
        self._zone = zone
        self._filtered = filtered
        self._pod_names = pod_names

    def names(self, address: str) -> tuple[list[str], list[Tag]]:
        """The names at an address, and the data looked at: one Service by ClusterIP, else every endpoint."""
        tags = [self._tags.address(address)]
        for service in self._store.services_by_ip(address):
            if self._is_exposed(service.namespace, tags):
                return [self._name(service.namespace, service.name)], tags
        return [
            self._name(part.namespace, part.service, endpoint_name(endpoint, self._pod_names))
            for part, endpoint in self._store.endpoints_by_ip(address)
            if part.service and self._is_exposed(part.namespace, tags)
        ], tags

    def _is_exposed(self, namespace: str, tags: list[Tag]) -> bool:
        if not self._filtered:
            return True
        tags.append(self._tags.namespace(namespace))
        return self._tree.exposes(namespace)

    def _name(self, namespace: str, service: str, *endpoint: str) -> str:
        return absolute(".".join([*endpoint, service, namespace, SERVICES]), self._zone)

"""Which of the cluster's data a reply was made of, and which data a change touches.

A tag is one piece of data: a Service, its endpoint slices, the existence of a namespace, what is known of an address,
the Pods at an address.  Most Services have a ClusterIP, and are what they are while their endpoints come and go.  It
does not know replies, nor who remembers them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import inf

from pydns.dns.replay import FOREVER, Replay
from pydns.k8s.objects import Endpoint, EndpointSlice, Kind, Namespace, Pod, Service
from pydns.k8s.store import Change

Tag = tuple[Hashable, ...]


def consent(*tags: Tag) -> Replay:
    """Consent until one of these data changes."""
    return Replay(inf, tags)


def joined(first: Replay | None, second: Replay | None) -> Replay | None:
    """The consent of a reply made of two parts: none where one of them has none, or each a lease of its own."""
    if first is None or second is None:
        return None
    lease = second.lease if first.lease is FOREVER else first.lease
    if second.lease not in (lease, FOREVER):
        return None
    return Replay(
        min(first.until, second.until),
        tuple(dict.fromkeys(first.tags + second.tags)),
        max(first.variants, second.variants),
        first.counters + second.counters,
        lease=lease,
    )


class Tags:
    """The tags of one plugin, unlike those of every other."""

    def __init__(self) -> None:
        self._plugin = object()

    def service(self, namespace: str, name: str) -> Tag:
        """A Service without its endpoint slices, also when there is none."""
        return self._plugin, "service", namespace, name

    def endpoints(self, namespace: str, service: str) -> Tag:
        """The endpoint slices of a Service, also when there are none."""
        return self._plugin, "endpoints", namespace, service

    def namespace(self, name: str) -> Tag:
        """Whether a namespace exists."""
        return self._plugin, "namespace", name

    def address(self, address: str) -> Tag:
        """Which Services have this ClusterIP, and which endpoints this address."""
        return self._plugin, "address", address

    def pod(self, address: str) -> Tag:
        """Which Pods have this address."""
        return self._plugin, "pod", address

    def of(self, change: Change) -> list[Tag]:
        """What a change of the store touches."""
        match change.old or change.new:
            case Namespace():
                return [self.namespace(change.name)]
            case Pod():
                return [self.pod(pod.ip) for pod in (change.old, change.new) if isinstance(pod, Pod)]
        tag = self.endpoints if change.kind is Kind.SLICE else self.service
        return [tag(change.namespace, change.name), *map(self.address, _changed_addresses(change))]


def _changed_addresses(change: Change) -> Iterable[str]:
    """The addresses that are no longer, or not yet, what they were."""
    if change.old is None or change.new is None:
        return _addresses(change.new or change.old)
    old, new = _by_address(change.old), _by_address(change.new)
    return [address for address in old.keys() | new.keys() if old.get(address) != new.get(address)]


def _addresses(item: object) -> Iterable[str]:
    """The addresses of a slice, a Service's ClusterIPs; some may be there twice."""
    if isinstance(item, EndpointSlice):
        return [endpoint.address for endpoint in item.endpoints]
    return item.cluster_ips if isinstance(item, Service) else ()


def _by_address(item: object) -> dict[str, list[Endpoint]]:
    """The endpoints at each address of a slice; none at those of a Service."""
    found: dict[str, list[Endpoint]] = {address: [] for address in _addresses(item)}
    if isinstance(item, EndpointSlice):
        for endpoint in item.endpoints:
            found[endpoint.address].append(endpoint)
    return found

"""Which of the cluster's data a reply was made of, and which data a change touches.

A tag is one piece of data: a Service, its endpoint slices, the existence of a namespace, what is known of an address,
the Pods at an address.  Most Services have a ClusterIP, and are what they are while their endpoints come and go.  It
does not know replies, nor who remembers them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import inf

from pydns.dns.replay import FOREVER, Replay
from pydns.k8s.objects import Endpoint, EndpointSlice, Kind, Namespace, Pod, Service
from pydns.k8s.store import Change

Tag = tuple[Hashable, ...]


def consent(*tags: Tag) -> Replay:
    """Consent until one of these data changes."""
    return Replay(inf, tags)


def joined(first: Replay | None, second: Replay | None) -> Replay | None:
    """The consent of a reply made of two parts, for its own question alone; none where a part has none, or each has a
    lease of its own."""
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
        any_order=first.any_order or second.any_order,
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
    """The addresses that are no longer, or not yet, what they were; some may be there twice."""
    match change.old, change.new:
        case EndpointSlice(endpoints=old), EndpointSlice(endpoints=new):
            return _unlike(old, new)
        case Service(cluster_ips=before), Service(cluster_ips=after):
            return set(before) ^ set(after)
    return _addresses(change.new or change.old)


def _addresses(item: object) -> Iterable[str]:
    """The addresses of a slice, a Service's ClusterIPs."""
    if isinstance(item, EndpointSlice):
        return [endpoint.address for endpoint in item.endpoints]
    return item.cluster_ips if isinstance(item, Service) else ()


def _unlike(old: Sequence[Endpoint], new: Sequence[Endpoint]) -> Iterable[str]:
    """The addresses with other endpoints, or in another order, than before; mostly all but a few are as they were."""
    start, end = 0, min(len(old), len(new))
    while start < end and old[start] == new[start]:
        start += 1
    end -= start
    alike = 0
    while alike < end and old[-1 - alike] == new[-1 - alike]:
        alike += 1
    before = _by_address(old[start : len(old) - alike])
    after = _by_address(new[start : len(new) - alike])
    return [address for address in before.keys() | after.keys() if before.get(address) != after.get(address)]


def _by_address(endpoints: Iterable[Endpoint]) -> dict[str, list[Endpoint]]:
    found: dict[str, list[Endpoint]] = {}
    for endpoint in endpoints:
        found.setdefault(endpoint.address, []).append(endpoint)
    return found

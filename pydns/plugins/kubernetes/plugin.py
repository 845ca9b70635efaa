"""Answers for a cluster's zones from the objects of the Kubernetes API.

## Description

*kubernetes* is the cluster's own DNS: it follows Services, EndpointSlices and Namespaces (and Pods, where asked to) and
answers as the Kubernetes DNS specification 1.1.0 says, and as CoreDNS does where the specification is silent.

* `SERVICE.NAMESPACE.svc.ZONE`: the ClusterIPs of a Service, the ready endpoints of a headless one, a CNAME and what it
  leads to for an ExternalName.
* `_PORT._PROTOCOL.SERVICE.NAMESPACE.svc.ZONE`: SRV records for a named port.
* `ENDPOINT.SERVICE.NAMESPACE.svc.ZONE`: one endpoint, by its hostname (a StatefulSet's Pod) or by its address with
  dashes.
* `10-244-0-7.NAMESPACE.pod.ZONE`: a Pod, where `pods` says so.
* PTR records of ClusterIPs and endpoints, for the reverse zones that are listed.
* `dns-version.ZONE` (TXT), and SOA and NS records at the zone's apex.

Without `endpoint` and `kubeconfig` the plugin talks to the API of the cluster that it runs in.  On the command line,
`--kubeconfig FILE` names another API, and `--manifests PATH` reads the objects [from files](../manifests.md); what the
Corefile says about the API is then not used.

The start waits until all objects are known, at most `startup_timeout`.  Until they are, names that are not known get
SERVFAIL instead of NXDOMAIN, and *ready* says so, and so it does until a watch of each kind has begun.  When the API
goes away later, answers are given from what is known; the log tells each minute for how long, and
`coredns_kubernetes_api_up` is 0.  A right that the role lacks is told in a line that names verb, resource and the rule
to add, once a minute.

## Metadata

With *metadata*: `kubernetes/kind`, `kubernetes/namespace`, `kubernetes/service`, `kubernetes/endpoint`,
`kubernetes/port-name`, `kubernetes/protocol`, with `zonal` `kubernetes/zone`, or `kubernetes/parse-error`; and with
`pods verified` `kubernetes/client-namespace`, `kubernetes/client-pod-name` and `kubernetes/client-label/LABEL`.

## Metrics

`coredns_kubernetes_dns_programming_duration_seconds{service_kind}`,
`coredns_kubernetes_rest_client_request_duration_seconds{verb,host}`,
`coredns_kubernetes_rest_client_rate_limiter_duration_seconds{verb,host}` and
`coredns_kubernetes_rest_client_requests_total{code,method,host}` as CoreDNS has them, and of pydns's own

* `coredns_kubernetes_api_up{zone}` - 1 while the API answers all that is asked of it; alert when it is 0 for 5 minutes.
* `coredns_kubernetes_synced{zone}` - 1 once all objects are known and followed, as *ready* has it.

## Examples

What kubeadm writes:

```corefile
.:53 {
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    forward . /etc/resolv.conf
}
```

A server outside the cluster that shows two namespaces:

```corefile
cluster.local:53 {
    kubernetes {
        kubeconfig /etc/dns/kubeconfig
        namespaces shop billing
    }
}
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Self

from pydns.corefile.line import Line
from pydns.dns.message import Message
from pydns.dns.name import is_below, is_reverse, longest_zone
from pydns.dns.packed import Packed
from pydns.dns.plain import Shape
from pydns.dns.replay import Pattern, Replay
from pydns.dns.types import Flag, Rcode, Type
from pydns.errand import Passes
from pydns.k8s.feed import FedSource, Feeder
from pydns.k8s.source import Source, SourceError
from pydns.k8s.store import Change
from pydns.net import interface_addresses
from pydns.plugin import Block, Plugin
from pydns.plugins.kubernetes.answers import OWN_RULES, Answers
from pydns.plugins.kubernetes.consent import Tags, joined
from pydns.plugins.kubernetes.memo import Known
from pydns.plugins.kubernetes.metadata import client_facts, name_facts
from pydns.plugins.kubernetes.metrics import Measures
from pydns.plugins.kubernetes.octets import Denials, of_address
from pydns.plugins.kubernetes.options import KubernetesOptions
from pydns.plugins.kubernetes.records import Asked, Outcome
from pydns.plugins.kubernetes.sources import make_source
from pydns.query import Failure, Query

LOG_EVERY = 0.5
"""Seconds between two lines that say that the start still waits."""
TRANSFERS = (Type.AXFR, Type.IXFR)


class Kubernetes(Passes, Plugin):
    """``source`` is where the objects come from, by default what command line and Corefile say."""

    name = "kubernetes"
    options: ClassVar[type[KubernetesOptions]] = KubernetesOptions
    replay_safe = True

    def __init__(self, block: Block, conf: KubernetesOptions, source: Source | None = None) -> None:
        super().__init__(block, conf)
        self.conf = conf
        self.zones = conf.zones or block.zones
        self.primary = next((zone for zone in self.zones if not is_reverse(zone)), "")
        self._measures = Measures(self.process.metrics, self.primary)
        self.source = source or make_source(self.process, conf, self._measures)
        self.store = self.source.store
        self._tags = Tags()
        self.answers = Answers(self.store, conf, self._tags, self.zones, self.primary)
        self._denials = Denials()
        self._patterns = {zone: self._pattern(zone) for zone in self.zones}
        self.store.on_change(self._publish)
        self._feeder: Feeder | None = None

    def _pattern(self, zone: str) -> Pattern | None:
        """Consent to treat names in ``zone`` alike, unless some of them belong to another zone or are passed on."""
        passed = self.conf.fallthrough.zones if self.conf.fallthrough else ()
        if any(is_below(other, zone) for other in (*self.zones, *passed) if other != zone):
            return None
        return Pattern(zone, partial(self.answers.part, zone), self)

    @classmethod
    def setup(cls, block: Block, lines: Sequence[Line]) -> Self:
        plugin = super().setup(block, lines)
        if not plugin.primary or (lines[0].args and not plugin.conf.zones):
            raise lines[0].error("non-reverse zone name must be used")
        return plugin

    async def start(self) -> None:
        """Follow the objects, and wait at most ``startup_timeout`` seconds until all are known."""
        self.answers.apex.local = self._local_addresses()
        try:
            await self.source.start()
        except SourceError as error:
            raise ValueError(str(error)) from None
        await self._wait()
        self.answers.renewals.start()

    async def _wait(self) -> None:
        left = self.conf.startup_timeout
        while not await self.source.wait_synced(min(left, LOG_EVERY)):
            left -= LOG_EVERY
            if left <= 0:
                self.log.warning("starting server with unsynced Kubernetes API")
                return
            self.log.info("waiting for Kubernetes API before starting server")

    def _local_addresses(self) -> tuple[str, ...]:
        """This machine's addresses; none where *bind* chooses among them, as in CoreDNS."""
        if self.block.settings.addresses:
            return ()
        try:
            found = interface_addresses()
        except OSError:
            return ()
        return tuple(one.address.partition("%")[0] for one in found if not one.is_loopback)

    async def serving(self) -> None:
        self.process.metrics.before_exposition(self._measure)

    def _measure(self) -> None:
        self._measures.synced(self.is_ready())

    async def stop(self) -> None:
        self.process.metrics.forget(self._measure)
        self.answers.renewals.stop()
        if self._feeder is not None:
            await self._feeder.stop()
        await self.source.stop()

    def is_ready(self) -> bool:
        """Whether all objects are known, and changes of them will be."""
        return self.source.followed

    def snapshot(self) -> Iterator[bytes]:
        """See `pydns.workforce.Feeds`."""
        return self._feed().snapshot()

    def follow(self, tell: Callable[[bytes], None]) -> None:
        """See `pydns.workforce.Feeds`."""
        self._feed().follow(tell)

    def _feed(self) -> Feeder:
        self._feeder = self._feeder or Feeder(self.source)
        return self._feeder

    def take(self, piece: bytes) -> None:
        """See `pydns.workforce.Feeds`."""
        assert isinstance(self.source, FedSource)
        self.source.take(piece)
        self.answers.apex.renew_lease(self.process.clock())  # it may bring another serial, and no change

    def _publish(self, change: Change) -> None:
        try:
            self.answers.apex.renew_lease(self.process.clock())
        finally:
            if self.process.changes.heard:
                self.process.changes.publish(self._tags.of(change))

    def ahead(self, name: str, shape: Shape) -> bool:
        """Also some that it would pass on are kept back: their names end in the same letters."""
        return not name.endswith(self.zones)

    async def serve(self, query: Query) -> Message:
        known = self.answers.known(query.question)
        if known is not None:
            return self._again(query, known)
        zone = longest_zone(query.name, self.zones)
        if zone is None:
            return await self.next(query)
        if query.qtype in TRANSFERS:
            raise Failure(Rcode.REFUSED)
        asked = Asked(query.name, zone, query.qname, query.qname[-len(zone) :], query.qtype)
        outcome = await self.answers.to(asked, query)
        if outcome.answer:
            known = self.answers.known(query.question)
            return self._positive(query, zone, outcome, known.packed(query.question) if known else None)
        if not outcome.exists and self.conf.fallthrough and self.conf.fallthrough.through(query.name):
            reply = await self.next(query)
            return reply.with_replay(joined(reply.replay, outcome.replay))
        return self._negative(query, asked, outcome)

    def _again(self, query: Query, known: Known) -> Message:
        """What the rest of `serve` makes of a question whose name exists, in less time."""
        known.asked = True
        outcome = known.outcome
        if outcome.answer:
            return self._positive(query, known.zone, outcome, known.packed(query.question))
        return self._no_data(query, known.zone, known.zone, outcome.replay)

    def _negative(self, query: Query, asked: Asked, outcome: Outcome) -> Message:
        """NODATA or NXDOMAIN with the SOA record; SERVFAIL while nobody can know that the name does not exist."""
        if outcome.exists:
            return self._no_data(query, asked.zone, asked.origin, outcome.replay)
        if not self.store.synced:
            return query.reply(Rcode.SERVFAIL, flags=Flag.AA, authority=self.answers.apex.soa(asked.origin))
        return self._no_data(query, asked.zone, asked.origin, outcome.replay, Rcode.NXDOMAIN)

    def _positive(self, query: Query, zone: str, outcome: Outcome, packed: Packed | None) -> Message:
        _, replay, answer, additional, truncated = outcome
        flags = Flag.AA | Flag.TC if truncated else Flag.AA
        if len(answer) == 1 and not additional:
            packed = of_address(query.question, answer)
            if packed is not None and replay is not None:
                replay = replay.with_pattern(self._patterns[zone])
        return query.reply(flags=flags, answer=answer, additional=additional, replay=replay, packed=packed)

    def _no_data(
        self, query: Query, zone: str, origin: str, replay: Replay | None, rcode: int = Rcode.NOERROR
    ) -> Message:
        """A reply with the SOA record of ``zone`` alone, which the client spelt as ``origin``."""
        apex = self.answers.apex
        soa = apex.soa(origin)
        lasting = replay and replay.with_lease(apex.lease)
        if lasting is not None and query.qtype not in OWN_RULES:
            lasting = lasting.with_pattern(self._patterns[zone])
        packed = self._denials.packed(query.question, soa)
        return query.reply(rcode, flags=Flag.AA, authority=soa, replay=lasting, packed=packed)

    def metadata(self, query: Query) -> dict[str, Callable[[], str]]:
        """What the name asks for and, with ``pods verified``, who asks."""
        facts = client_facts(self.store, query.client[0]) if self.conf.pods == "verified" else {}
        zone = longest_zone(query.name, self.zones)
        return facts if zone is None else facts | name_facts(query.name, zone, zonal=self.conf.zonal)

"""Counts queries and replies, and shows every metric of the process at `/metrics`.

Names, labels and buckets are CoreDNS's, so that its dashboards and alerts work unchanged.  Blocks with the same address
share one listener.  Only the blocks that have *prometheus* are counted; a query that no block took is counted under
the zone `dropped`.

Replies that are sent again without asking the plugins (see `docs/architecture.md`) are counted in all families, with a
duration of 0: they take about a microsecond each, and are not timed one by one.  So in a busy cluster quantiles of
`coredns_dns_request_duration_seconds` lie in its first bucket.  The mean of the queries that took their way through the
plugins is

    rate(coredns_dns_request_duration_seconds_sum)
      / (rate(coredns_dns_requests_total) - rate(coredns_packet_cache_hits_total))

each summed over its labels; for other servers look at `coredns_proxy_request_duration_seconds` of *forward*.

## Examples

```corefile
. {
    prometheus localhost:9253
    whoami
}
```

## Metrics

* `coredns_build_info{version, revision, goversion}` - 1; `goversion` is the version of Python.
* `coredns_panics_total` - bugs that ended a query.
* `coredns_plugin_enabled{server, zone, view, name}` - 1 for each plugin in the chain of a block's first zone.
* `coredns_dns_requests_total{server, zone, view, proto, family, type}` - queries; `family` is 1 for IPv4, 2 for IPv6,
  rare types are `other`.
* `coredns_dns_request_duration_seconds{server, zone, view}` - time to answer.
* `coredns_dns_request_size_bytes{server, zone, view, proto}` - sizes of queries.
* `coredns_dns_do_requests_total{server, zone, view}` - queries with the DO bit.
* `coredns_dns_response_size_bytes{server, zone, view, proto}` - sizes of replies before compression.
* `coredns_packet_cache_hits_total{server, proto}` - queries answered without the plugins, of whatever block; they are
  among those of all other families.  There is none where `PYDNS_PACKET_CACHE=0` turns the packet cache off.
* `coredns_shed_dropped_total{server, reason}` - queries dropped because too many were in flight.
* `coredns_dns_responses_total{server, zone, view, rcode, plugin}` - replies; `plugin` is the one behind *prometheus*
  when a reply was made, empty when only a response code came.
* `process_*`: CPU time, memory, open files and start time as in CoreDNS; `python_*`: garbage collection and version.

`zone` is the longest zone of the block that the name is in, `server` the listener (`dns://:53`).

## Differences from CoreDNS

`tls` is not served by this version yet.  `runtime_metrics` has no effect: `python_gc_*` is always there.

Dashboard panels of `go_*`, `process_network_receive_bytes_total`, `process_network_transmit_bytes_total` and
`process_virtual_memory_max_bytes` stay empty: there are no such metrics.
"""

import platform
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from prometheus_client import Gauge

import pydns
from pydns.address import Address
from pydns.corefile.options import NotServed, Options, argument, ignored, option
from pydns.corefile.types import listen_address
from pydns.dns.message import Message, uncompressed_size
from pydns.dns.name import is_below, longest_zone
from pydns.dns.types import Rcode, Type, rcode_name
from pydns.errand import Errand, Passes
from pydns.metrics import CONTENT_TYPE, Metrics
from pydns.plugin import Block, Plugin
from pydns.query import Dropped, Failure, Query

PATH = "/metrics"
_ROOT = (".",)
DROPPED = "dropped"
"""The zone label of queries that no block took; without a final dot it can be no zone."""

MAX_WAITING = 256
"""Pairs of sizes that one series counts before it tells the families."""

TIME_BUCKETS = tuple(0.00025 * 2**n for n in range(16))
SIZE_BUCKETS = (0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16e3, 32e3, 48e3, 64e3)
TYPES = {
    int(member): member.name
    for member in (
        Type.AAAA, Type.A, Type.CNAME, Type.DNSKEY, Type.DS, Type.MX, Type.NSEC3, Type.NSEC, Type.NS, Type.PTR,
        Type.RRSIG, Type.SOA, Type.SRV, Type.TXT, Type.HTTPS, Type.SVCB, Type.IXFR, Type.AXFR, Type.ANY,
    )
}  # fmt: skip
"""The query types that are counted under their own name."""


@dataclass
class PrometheusOptions(Options):
    address: Address = argument(listen_address, default=Address("localhost", 9153), help="where to serve `/metrics`")
    tls: NotServed | None = option(NotServed)
    runtime_metrics: None = ignored(help="what the runtime tells is always there")


class _Enabled:
    """How many running configurations have each plugin; during a reload there are two."""

    def __init__(self) -> None:
        self._holders: Counter[tuple[str, ...]] = Counter()

    def add(self, metrics: Metrics, labels: tuple[str, ...]) -> None:
        self._holders[labels] += 1
        _plugin_enabled(metrics).labels(*labels).set(1)

    def remove(self, metrics: Metrics, labels: tuple[str, ...]) -> None:
        self._holders[labels] -= 1
        if not self._holders[labels]:
            _plugin_enabled(metrics).remove(*labels)


def _plugin_enabled(metrics: Metrics) -> Gauge:
    return metrics.gauge(
        "plugin_enabled",
        "A metric that indicates whether a plugin is enabled on per server and zone basis.",
        ("server", "zone", "view", "name"),
    )


class _Families:
    """The metric families of queries and replies."""

    def __init__(self, metrics: Metrics) -> None:
        block = ("server", "zone", "view")
        protocol = (*block, "proto")
        self.requests = metrics.counter(
            "dns_requests_total",
            "Counter of DNS requests made per zone, protocol and family.",
            (*protocol, "family", "type"),
        )
        self.durations = metrics.histogram(
            "dns_request_duration_seconds",
            "Histogram of the time (in seconds) each request took per zone.",
            block,
            TIME_BUCKETS,
        )
        self.request_sizes = metrics.histogram(
            "dns_request_size_bytes", "Size of the requests in bytes per zone and protocol.", protocol, SIZE_BUCKETS
        )
        self.do_requests = metrics.counter(
            "dns_do_requests_total", "Counter of DNS requests with DO bit set per zone.", block
        )
        self.response_sizes = metrics.histogram(
            "dns_response_size_bytes", "Size of the returned response in bytes.", protocol, SIZE_BUCKETS
        )
        self.responses = metrics.counter(
            "dns_responses_total", "Counter of response status codes.", (*block, "rcode", "plugin")
        )


class _Labels(NamedTuple):
    """All label values of one query and its reply."""

    server: str
    zone: str
    view: str
    proto: str
    family: str
    type: str
    do: bool
    rcode: str
    plugin: str


class _Series:
    """What queries with the same labels add to.

    Most are of a few sizes, so these are counted first; `show` tells the families.
    """

    def __init__(self, families: _Families, labels: _Labels) -> None:
        block = (labels.server, labels.zone, labels.view)
        protocol = (*block, labels.proto)
        self._counters = [
            families.requests.labels(*protocol, labels.family, labels.type),
            families.responses.labels(*block, labels.rcode, labels.plugin),
        ]
        if labels.do:
            self._counters.append(families.do_requests.labels(*block))
        self._durations = families.durations.labels(*block)
        self._request_sizes = families.request_sizes.labels(*protocol)
        self._response_sizes = families.response_sizes.labels(*protocol)
        self._waiting: dict[tuple[int, int], int] = {}
        """How many queries and replies of what sizes the families do not know of yet."""

    def add(self, request_size: int, response_size: int, seconds: float) -> None:
        """Count a query and its reply."""
        self._durations.observe(seconds)
        sizes = request_size, response_size
        try:
            self._waiting[sizes] += 1
        except KeyError:
            if len(self._waiting) >= MAX_WAITING:
                self.show()
            self._waiting[sizes] = 1

    def repeat(self, request_size: int, response_size: int, times: int) -> None:
        """Count a reply that was sent ``times`` times again."""
        self._durations.observe(0.0, times)
        self._count(request_size, response_size, times)

    def show(self) -> None:
        """Bring the families up to date, but for the durations, which always are."""
        for (request_size, response_size), times in self._waiting.items():
            self._count(request_size, response_size, times)
        self._waiting.clear()

    def _count(self, request_size: int, response_size: int, times: int) -> None:
        for counter in self._counters:
            counter.inc(times)
        self._request_sizes.observe(request_size, times)
        self._response_sizes.observe(response_size, times)


class Prometheus(Passes, Plugin):
    name = "prometheus"
    options = PrometheusOptions
    replay_safe = True

    def __init__(self, block: Block, conf: PrometheusOptions) -> None:
        super().__init__(block, conf)
        self._address = str(conf.address)
        self._zones = block.zones
        self._families = _Families(self.process.metrics)
        self._series: dict[tuple[object, ...], _Series] = {}
        self._short: dict[tuple[object, ...], _Series] = {}
        """The series of plain replies, by what they differ in."""
        self._behind = ""
        self._enabled: list[tuple[str, ...]] = []

    async def start(self) -> None:
        await self.process.http.add(self._address, PATH, self._show)
        chain = [plugin.name for plugin in self.block.plugins.values() if plugin.is_link()]
        self._behind = next(iter(chain[chain.index(self.name) + 1 :]), "")
        self._say_what_runs(chain)

    def _say_what_runs(self, chain: list[str]) -> None:
        metrics = self.process.metrics
        metrics.counter("panics_total", "A metrics that counts the number of panics.")
        metrics.gauge(
            "build_info",
            "A metric with a constant '1' value labeled by version, revision, and goversion.",
            ("version", "revision", "goversion"),
        ).labels(pydns.__version__, "", f"python{platform.python_version()}").set(1)
        key = self.block.keys[0]
        for host in self.block.settings.addresses or ("",):
            server = f"{key.transport}://{Address(host, key.port)}"
            self._enabled += [(server, key.zone, "", name) for name in chain]
        for labels in self._enabled:
            self.process.shared(_Enabled).add(metrics, labels)

    async def stop(self) -> None:
        for labels in self._enabled:
            self.process.shared(_Enabled).remove(self.process.metrics, labels)
        await self.process.http.remove(self._address, PATH, self._show)
        if self._series:
            self._bring_up_to_date()
            self.process.metrics.forget(self._bring_up_to_date)
        self._series.clear()
        self._short.clear()

    def _bring_up_to_date(self) -> None:
        for series in self._series.values():
            series.show()

    async def _show(self) -> tuple[int, str, bytes]:
        await self.process.workers.collect()
        return 200, CONTENT_TYPE, self.process.metrics.exposition()

    def treats_alike(self, zone: str) -> bool:
        """Whether all names below ``zone`` are counted under one zone: their replies have one size each length."""
        return not any(is_below(other, zone) for other in self._zones if other != zone)

    async def serve(self, query: Query) -> Message:
        clock = self.process.clock
        started = clock() if query.errand is None else query.errand.received
        try:
            reply = await self.next(query)
        except Failure as failure:
            self._of(query, failure.rcode, "").add(query.size, 0, clock() - started)
            raise
        except Dropped:
            self._of(query, Rcode.NOERROR, "").add(query.size, 0, clock() - started)
            raise
        size = uncompressed_size(reply)
        series = self._of(query, reply.rcode, self._behind)
        series.add(query.size, size, clock() - started)
        query.counters.append(partial(series.repeat, query.size, size))
        return reply

    def back(self, errand: Errand) -> None:
        server, zone, family, (qtype, do) = errand.home.label, errand.zone, errand.asker.family, errand.shape.kind
        series = self._short.get((server, zone, family, qtype, do))
        if series is None:
            facts = server, zone, "", "udp", family, TYPES[qtype], do, Rcode.NOERROR, self._behind
            series = self._short[server, zone, family, qtype, do] = self._series_of(*facts)
        series.add(len(errand.data), errand.reply_size, errand.now - errand.received)

    def refused(self, query: Query, reply: Message, size: int) -> None:
        """See `pydns.plugin.Counts`."""
        self._labelled(query, DROPPED, reply.rcode, "").add(query.size, size, 0.0)

    def _of(self, query: Query, rcode: int, plugin: str) -> _Series:
        zone = "." if self._zones == _ROOT else longest_zone(query.name, self._zones) or "."
        return self._labelled(query, zone, rcode, plugin)

    def _labelled(self, query: Query, zone: str, rcode: int, plugin: str) -> _Series:
        qtype = TYPES.get(query.qtype, "other")
        facts = query.server.label, zone, query.view, query.transport, query.family, qtype, query.do, rcode, plugin
        return self._series.get(facts) or self._series_of(*facts)

    def _series_of(
        self, server: str, zone: str, view: str, transport: str, family: int, qtype: str, do: bool, rcode: int,
        plugin: str,
    ) -> _Series:  # fmt: skip
        """The series of these labels; made when they are seen first."""
        facts = server, zone, view, transport, family, qtype, do, rcode, plugin
        series = self._series.get(facts)
        if series is None:
            number = "1" if family == 4 else "2"
            labels = _Labels(server, zone, view, transport, number, qtype, do, rcode_name(rcode), plugin)
            if not self._series:
                self.process.metrics.before_exposition(self._bring_up_to_date)
            series = self._series[facts] = _Series(self._families, labels)
        return series

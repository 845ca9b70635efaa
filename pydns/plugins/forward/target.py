"""An upstream as *forward* sees it: its sockets, its health, its counters.

It does not know which queries come to it, nor when it is tried.
"""

from __future__ import annotations

from pydns.address import Address
from pydns.dns.message import Message, Question, pack
from pydns.dns.types import Flag, Type, rcode_name
from pydns.metrics import Metrics, Series
from pydns.plugin import Process
from pydns.plugins.forward.options import ForwardOptions
from pydns.upstream.exchange import Upstream
from pydns.upstream.health import Health
from pydns.upstream.settings import Settings

DURATIONS = tuple(0.00025 * 2**n for n in range(16))


class Counters:
    """The metric families of *forward*; ``proxy`` ones have CoreDNS's label ``proxy_name``."""

    def __init__(self, metrics: Metrics) -> None:
        self.broken = metrics.counter(
            "forward_healthcheck_broken_total", "Counter of the number of complete failures of the healthchecks."
        )
        self.rejected = metrics.counter(
            "forward_max_concurrent_rejects_total",
            "Counter of the number of queries rejected because the concurrent queries were at maximum.",
        )
        self.durations = metrics.histogram(
            "proxy_request_duration_seconds",
            "Histogram of the time each request took.",
            ("proxy_name", "to", "rcode"),
            DURATIONS,
        )
        self.failures = metrics.counter(
            "proxy_healthcheck_failures_total",
            "Counter of the number of failed healthchecks.",
            ("proxy_name", "to"),
        )
        self.reused = metrics.counter(
            "proxy_conn_cache_hits_total",
            "Counter of connection cache hits per upstream and protocol.",
            ("proxy_name", "to", "proto"),
        )
        self.opened = metrics.counter(
            "proxy_conn_cache_misses_total",
            "Counter of connection cache misses per upstream and protocol.",
            ("proxy_name", "to", "proto"),
        )


class Target:
    """An upstream with its health and its counters."""

    def __init__(self, address: Address, conf: ForwardOptions, process: Process, counters: Counters) -> None:
        to = str(address)
        source = "" if conf.source_address is None else str(conf.source_address)
        settings = Settings(conf.read_timeout, conf.expire, conf.max_age, conf.max_idle_conns, source)
        self.upstream = Upstream(address, settings, process.random, self._dialled)
        self._question = Question(conf.health_check.domain, Type.NS)
        self._probe = pack(Message(flags=Flag.RD * conf.health_check.recursive, question=self._question))
        self._probe_transport = "tcp" if conf.force_tcp else "udp"
        failed = counters.failures.labels("forward", to).inc
        self.health = Health(self.probe, conf.health_check.interval, failed, process.sleep)
        self._max_fails = conf.max_fails
        self._durations = counters.durations
        self._series: dict[int, Series] = {}
        self._to = to
        self._sockets = {
            (proto, reused): family.labels("forward", to, proto)
            for proto in ("udp", "tcp")
            for reused, family in ((True, counters.reused), (False, counters.opened))
        }

    @property
    def is_down(self) -> bool:
        return bool(self._max_fails) and self.health.fails > self._max_fails

    async def probe(self) -> None:
        await self.upstream.probe(self._probe, self._question, self._probe_transport)

    def failed(self) -> None:
        """Note that a query failed."""
        if self._max_fails:
            self.health.check()

    def took(self, seconds: float, rcode: int) -> None:
        """Note a reply."""
        series = self._series.get(rcode)
        if series is None:
            series = self._series[rcode] = self._durations.labels("forward", self._to, rcode_name(rcode))
        series.observe(seconds)

    def _dialled(self, transport: str, reused: bool, times: int = 1) -> None:
        self._sockets[transport, reused].inc(times)

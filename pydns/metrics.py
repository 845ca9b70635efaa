"""Metric families under CoreDNS's names, so that a dashboard made for CoreDNS works unchanged.

One ``Metrics`` lives as long as the process, also over reloads.  A family is made on first use; whoever needs it names
it with its help text and labels, and asking again gives the same one.

Counters and histograms are our own: prometheus-client's lock themselves for threads that there are none of, at three
times the cost, and its histograms cannot take a value several times at once, which replayed answers need.
"""

import os
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeVar

from prometheus_client import CollectorRegistry, Gauge, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.utils import floatToGoString

PREFIX = "coredns_"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The content type of `Metrics.exposition`."""

Family = TypeVar("Family", bound="Counter | Gauge | Histogram")


class Count:
    """What one set of label values has come to."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def inc(self, times: float = 1) -> None:
        """Count ``times`` more."""
        self.value += times


class Counter:
    """A counter family; without labels it is incremented itself."""

    def __init__(self, name: str, help: str, labels: Sequence[str]) -> None:
        self.name = name
        self.help = help
        self.label_names = tuple(labels)
        self._counts: dict[tuple[str, ...], Count] = {}
        if not labels:
            self.labels()

    def labels(self, *values: str) -> Count:
        """The count of these label values, in the order of the labels' names."""
        count = self._counts.get(values)
        if count is None:
            count = self._counts[values] = Count()
        return count

    def inc(self, times: float = 1) -> None:
        """Count ``times`` more in a family without labels."""
        self.labels().inc(times)

    def rows(self) -> Iterator[tuple[tuple[str, ...], list[float]]]:
        """Label values, and the count in a list of its own."""
        for values, count in self._counts.items():
            yield values, [count.value]

    def collect(self) -> Iterator[CounterMetricFamily]:
        """What prometheus-client's registry asks for."""
        family = CounterMetricFamily(self.name, self.help, labels=self.label_names)
        for values, count in self._counts.items():
            family.add_metric(values, count.value)
        yield family


class Series:
    """The observations of one set of label values."""

    __slots__ = ("_bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        """Count ``value``, ``times`` times."""
        self.counts[bisect_left(self._bounds, value)] += times
        self.sum += value * times

    def add(self, counts: Sequence[int], total: float) -> None:
        """Count what was observed elsewhere: how many in each bucket, and the sum of their values."""
        self.counts = [mine + others for mine, others in zip(self.counts, counts, strict=True)]
        self.sum += total


class Histogram:
    """A histogram family; without labels it is observed itself."""

    def __init__(self, name: str, help: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        self.name = name
        self.help = help
        self.label_names = tuple(labels)
        self.bounds = tuple(buckets)
        self._series: dict[tuple[str, ...], Series] = {}
        if not labels:
            self.labels()

    def labels(self, *values: str) -> Series:
        """The series of these label values, in the order of the labels' names."""
        series = self._series.get(values)
        if series is None:
            series = self._series[values] = Series(self.bounds)
        return series

    def observe(self, value: float, times: int = 1) -> None:
        """Count ``value``, ``times`` times, in a family without labels."""
        self.labels().observe(value, times)

    def rows(self) -> Iterator[tuple[tuple[str, ...], list[float]]]:
        """Label values, and the counts of the buckets with the sum of the values behind them."""
        for values, series in self._series.items():
            yield values, [*series.counts, series.sum]

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """What prometheus-client's registry asks for."""
        family = HistogramMetricFamily(self.name, self.help, labels=self.label_names)
        bounds = [*map(floatToGoString, self.bounds), "+Inf"]
        for values, series in self._series.items():
            family.add_metric(values, list(zip(bounds, accumulate(series.counts), strict=True)), series.sum)
        yield family


class Sum:
    """Shows a gauge with the values of other processes added: ``others``, by whoever told them and by label values."""

    def __init__(self, gauge: Gauge, help: str, labels: Sequence[str]) -> None:
        self.help = help
        self.label_names = tuple(labels)
        self.others: dict[Hashable, dict[tuple[str, ...], float]] = {}
        self._gauge = gauge

    def own(self) -> dict[tuple[str, ...], float]:
        """This process's values."""
        (family,) = self._gauge.collect()
        return {tuple(sample.labels.values()): sample.value for sample in family.samples}

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """What prometheus-client's registry asks for."""
        (family,) = self._gauge.collect()
        shown = GaugeMetricFamily(family.name, self.help, labels=self.label_names)
        parts = [self.own(), *self.others.values()]
        for values in dict.fromkeys(values for part in parts for values in part):
            shown.add_metric(values, sum(part.get(values, 0.0) for part in parts))
        yield shown


class Metrics:
    """A registry of metric families, each named without the ``coredns_`` prefix, and of the process's own."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # CoreDNS has no _created series
        self.registry = CollectorRegistry()
        self._families: dict[str, Counter | Gauge | Histogram] = {}
        self._before: list[Callable[[], None]] = []
        self.sums: dict[str, Sum] = {}
        """The gauges that add up over several processes, by name."""
        self.workers: set[int] = set()
        """IDs of the processes whose memory, CPU time and files count as this one's."""
        self.registry.register(_Processes(self.workers))
        for collector in (PlatformCollector, GCCollector):
            collector(registry=self.registry)

    def counter(self, name: str, help: str, labels: Sequence[str] = ()) -> Counter:
        """A counter; ``name`` ends in ``_total``."""
        return self._known(name, Counter) or self._add(name, Counter(PREFIX + name, help, labels))

    def gauge(self, name: str, help: str, labels: Sequence[str] = (), *, adds_up: bool = False) -> Gauge:
        """A gauge; of several processes that serve together the sum is shown where it ``adds_up``."""
        gauge = self._known(name, Gauge)
        if gauge is None and adds_up:
            gauge = self._families[name] = Gauge(PREFIX + name, help, labels, registry=None)
            self.sums[name] = Sum(gauge, help, labels)
            self.registry.register(self.sums[name])
        return gauge or self._add(name, Gauge(PREFIX + name, help, labels, registry=None))

    def histogram(self, name: str, help: str, labels: Sequence[str], buckets: Sequence[float]) -> Histogram:
        """A histogram; ``buckets`` are upper bounds in rising order, ``+Inf`` is added."""
        return self._known(name, Histogram) or self._add(name, Histogram(PREFIX + name, help, labels, buckets))

    def _known(self, name: str, kind: type[Family]) -> Family | None:
        family = self._families.get(name)
        if family is not None and not isinstance(family, kind):
            raise TypeError(f"metric {name} is no {kind.__name__}")
        return family

    def _add(self, name: str, family: Family) -> Family:
        self._families[name] = family
        self.registry.register(family)
        return family

    def before_exposition(self, callback: Callable[[], None]) -> None:
        """Have ``callback`` bring its counters up to date each time before they are read."""
        self._before.append(callback)

    def forget(self, callback: Callable[[], None]) -> None:
        """Take back a `before_exposition`, if there was one."""
        if callback in self._before:
            self._before.remove(callback)

    def counted(self) -> list[Counter | Histogram]:
        """All counters and histograms, up to date."""
        self._bring_up_to_date()
        return [family for family in self._families.values() if not isinstance(family, Gauge)]

    def exposition(self) -> bytes:
        """All families in the Prometheus text format."""
        self._bring_up_to_date()
        return generate_latest(self.registry)

    def _bring_up_to_date(self) -> None:
        for callback in self._before:
            callback()


class _Processes:
    """``process_*`` of this process, with memory, files and CPU time of others added, also of those that have ended."""

    def __init__(self, others: Collection[int]) -> None:
        self._others = others

    def collect(self) -> Iterator[Metric]:
        """What prometheus-client's registry asks for."""
        families = {family.name: family for family in _of_process("self")}
        for number in self._others:
            for family in _of_process(number):
                if family.name in _ADDED:
                    _add_value(families[family.name], family.samples[0].value)
        if "process_cpu_seconds" in families:
            ended = os.times()
            _add_value(families["process_cpu_seconds"], ended.children_user + ended.children_system)
        yield from families.values()


_ADDED = ("process_virtual_memory_bytes", "process_resident_memory_bytes", "process_cpu_seconds", "process_open_fds")


def _of_process(number: int | str) -> Iterable[Metric]:
    return ProcessCollector(pid=lambda: number, registry=None).collect()


def _add_value(family: Metric, value: float) -> None:
    family.samples = [sample._replace(value=sample.value + value) for sample in family.samples]

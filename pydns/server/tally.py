"""What worker processes count, added up in their parent.

Rules:

1. A worker tells what it has counted since the last time, so that what a worker has told is kept when it ends.
2. Gauges that add up (`Metrics.gauge`) are told as they are; the parent shows the sum over the workers that run.
   Other gauges say the same in every process: the parent shows its own.

It knows the families' kinds and names, not what they mean.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from msgspec import Struct

from pydns.metrics import PREFIX, Histogram, Metrics

Labels = tuple[str, ...]
Rows = list[tuple[Labels, list[float]]]


class Portion(Struct):
    """A family and its rows: of a counter or gauge one value each; of a histogram its buckets', then the sum."""

    kind: str
    name: str
    help: str
    labels: Labels
    rows: Rows
    buckets: tuple[float, ...] = ()


class Teller:
    """Takes portions from the metrics of a worker."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._told: dict[tuple[str, Labels], list[float]] = {}

    def portions(self) -> list[Portion]:
        """What is new since the last call."""
        return [portion for portion in (*self._counted(), *self._gauges()) if portion.rows]

    def _gauges(self) -> Iterator[Portion]:
        for gauge in self._metrics.adding_up():
            for family in gauge.collect():
                samples = family.samples
                labels = tuple(samples[0].labels) if samples else ()
                rows: Rows = [(tuple(sample.labels.values()), [sample.value]) for sample in samples]
                yield Portion("gauge", family.name.removeprefix(PREFIX), family.documentation, labels, rows)

    def _counted(self) -> Iterator[Portion]:
        for family in self._metrics.counted():
            portion = Portion(
                "histogram" if isinstance(family, Histogram) else "counter",
                family.name.removeprefix(PREFIX),
                family.help,
                family.label_names,
                [],
                family.bounds if isinstance(family, Histogram) else (),
            )
            portion.rows = list(self._new(portion.name, family.rows()))
            yield portion

    def _new(self, name: str, now: Iterator[tuple[Labels, list[float]]]) -> Iterator[tuple[Labels, list[float]]]:
        for labels, values in now:
            before = self._told.get((name, labels))
            if before != values:
                self._told[name, labels] = values
                yield labels, [a - b for a, b in zip(values, before, strict=True)] if before else values


class Adder:
    """Adds portions to the metrics of the parent; ``source`` is whoever told them."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._gauges: dict[Hashable, list[Portion]] = {}

    def add(self, source: Hashable, portions: list[Portion]) -> None:
        """Count what ``source`` has counted."""
        for portion in portions:
            if portion.kind != "gauge":
                self._count(portion)
        self._set(source, [portion for portion in portions if portion.kind == "gauge"])

    def forget(self, source: Hashable) -> None:
        """Take the gauges of ``source`` out of the sums; what it counted stays."""
        self._set(source, [])

    def _count(self, portion: Portion) -> None:
        name, help, labels = portion.name, portion.help, portion.labels
        if portion.kind == "counter":
            counter = self._metrics.counter(name, help, labels)
            for values, (value,) in portion.rows:
                counter.labels(*values).inc(value)
        else:
            histogram = self._metrics.histogram(name, help, labels, portion.buckets)
            for values, (*counts, total) in portion.rows:
                histogram.labels(*values).add([int(count) for count in counts], total)

    def _set(self, source: Hashable, gauges: list[Portion]) -> None:
        before = self._gauges.pop(source, [])
        if gauges:
            self._gauges[source] = gauges
        for portion in (*before, *gauges):
            gauge = self._metrics.gauge(portion.name, portion.help, portion.labels, adds_up=True)
            for labels, _ in portion.rows:
                (gauge.labels(*labels) if labels else gauge).set(self._sum(portion.name, labels))

    def _sum(self, name: str, labels: Labels) -> float:
        portions = (portion for told in self._gauges.values() for portion in told if portion.name == name)
        return sum(value for portion in portions for of, (value,) in portion.rows if of == labels)

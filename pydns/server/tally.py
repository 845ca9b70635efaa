"""What worker processes count, added up in their parent.

Rules:

1. A worker tells what it has counted since the last time, so that what a worker has told is kept when it ends.
2. Gauges that add up (`Metrics.gauge`) are told as they are; the parent shows the sum over the processes that run.
   Other gauges say the same in every process: the parent shows its own.

It knows the families' kinds and names, not what they mean.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Literal

from msgspec import Struct

from pydns.metrics import PREFIX, Histogram, Metrics

Labels = tuple[str, ...]
Rows = list[tuple[Labels, list[float]]]


class Portion(Struct):
    """A family and its rows: of a counter or gauge one value each; of a histogram its buckets', then the sum."""

    kind: Literal["counter", "histogram", "gauge"]
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
        for name, shown in self._metrics.sums.items():
            rows = [(labels, [value]) for labels, value in shown.own().items()]
            yield Portion("gauge", name, shown.help, shown.label_names, rows)

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

    def add(self, source: Hashable, portions: list[Portion]) -> None:
        """Count what ``source`` has counted."""
        self.forget(source)
        for portion in portions:
            match portion.kind:
                case "counter":
                    self._add_counter(portion)
                case "histogram":
                    self._add_histogram(portion)
                case "gauge":
                    self._add_gauge(source, portion)

    def forget(self, source: Hashable) -> None:
        """Take the gauges of ``source`` out of the sums; what it counted stays."""
        for shown in self._metrics.sums.values():
            shown.others.pop(source, None)

    def _add_counter(self, portion: Portion) -> None:
        counter = self._metrics.counter(portion.name, portion.help, portion.labels)
        for values, (value,) in portion.rows:
            counter.labels(*values).inc(value)

    def _add_histogram(self, portion: Portion) -> None:
        histogram = self._metrics.histogram(portion.name, portion.help, portion.labels, portion.buckets)
        for values, (*counts, total) in portion.rows:
            histogram.labels(*values).add([int(count) for count in counts], total)

    def _add_gauge(self, source: Hashable, portion: Portion) -> None:
        self._metrics.gauge(portion.name, portion.help, portion.labels, adds_up=True)
        self._metrics.sums[portion.name].others[source] = {values: value for values, (value,) in portion.rows}

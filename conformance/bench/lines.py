"""Every line of the benchmark: its name, the size of the cluster, how it is measured, and its bounds.

A line is found here, how its figures are made in the file that its way comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.bench import burst, growth, questions
from conformance.bench.burst import Burst
from conformance.bench.changes import Changes, service_created, slice_changed
from conformance.bench.contestants import (
    CACHED,
    ECHO,
    FORWARD,
    OURS,
    OURS_BARE,
    OURS_TWICE,
    PEERS,
    REFERENCE,
    REFERENCE_TWO,
)
from conformance.bench.finding import COREDNS, PER_CPU, RATE, TWO_CORES, Bound
from conformance.bench.growth import Growth
from conformance.bench.load import AFTER_LOAD, Load
from conformance.bench.pace import QUANTILES, Latency
from conformance.bench.questions import Ask
from conformance.bench.setting import Way
from conformance.bench.start import MEMORY, START, Start

SMALL, USUAL, LARGE, HUGE = 100, 1000, 10_000, 50_000
"""Services of 10 endpoints each."""

FEW = 2
"""Rounds of a line that is there for comparison, without a bound."""

SIZES = (SMALL, USUAL, LARGE, HUGE)


@dataclass(frozen=True)
class Line:
    """`services` is the least size of the cluster; lines run in this order. `quick`: in a quick run, too.

    `subject` is the only server that it is for, where it is not for any.
    """

    name: str
    services: int
    way: Way
    bounds: Sequence[Bound] = ()
    quick: bool = False
    subject: str = ""


def faster(ratio: float) -> list[Bound]:
    """Queries per CPU-second beside CoreDNS; one process serves more q/s than CoreDNS on two cores."""
    return [Bound(PER_CPU, ratio), Bound(RATE, 1, TWO_CORES)]


def beside(name: str, ratio: float) -> Bound:
    """Queries per CPU-second beside another server."""
    return Bound(PER_CPU, ratio, name)


def below(what: str, ratio: float) -> Bound:
    """At most `ratio` of CoreDNS's."""
    return Bound(what, ratio, at_most=True)


def within(what: str, value: float, beside: str = COREDNS) -> Bound:
    """At most this, whatever CoreDNS's."""
    return Bound(what, value, beside, at_most=True, absolute=True)


def bare(ask: Ask) -> Load:
    """The server under test makes each reply anew, as CoreDNS does with kubeadm's Corefile."""
    return Load(ask, (REFERENCE,), OURS_BARE, rounds=FEW)


def cached(ask: Ask) -> Load:
    """Both servers remember the cluster's answers."""
    return Load(ask, (REFERENCE,), corefile=CACHED, rounds=FEW)


LATENCY = [below(what, 1) for what in QUANTILES]
CHANGE = [below("p50", 1.5), below("p90", 1.5)]
FORWARDERS = (REFERENCE, REFERENCE_TWO, *PEERS)

LINES = (
    Line("memory, no Services", 0, Start(0)),
    Line("mix, 100 Services", SMALL, Load(questions.mix, (REFERENCE,), grows=True)),
    Line("start, 100 Services", SMALL, Start(SMALL)),
    Line("one ClusterIP name", USUAL, Load(questions.one_name, (REFERENCE, REFERENCE_TWO, ECHO)),
         [*faster(5), beside(ECHO.name, 0.3)], quick=True),
    Line("900 ClusterIP names, A and AAAA", USUAL, Load(questions.cluster_ips), faster(4), quick=True),
    Line("headless, 10 endpoints, shuffled", USUAL, Load(questions.headless), faster(5), quick=True),
    Line("search expansion, NXDOMAIN", USUAL, Load(questions.search_misses), faster(5), quick=True),
    Line("NXDOMAIN, every name new", USUAL, Load(questions.new_misses, once=True), faster(2), quick=True),
    Line("mix", USUAL, Load(questions.mix, grows=True), faster(4), quick=True),
    Line("mix over TCP, 50 connections", USUAL, Load(questions.mix, transport="tcp"), faster(3)),
    Line("one ClusterIP name, no packet cache", USUAL, bare(questions.one_name), subject="pydns"),
    Line("mix, no packet cache", USUAL, bare(questions.mix), subject="pydns"),
    Line("one ClusterIP name, cluster.local in the cache plugin", USUAL, cached(questions.one_name)),
    Line("mix, cluster.local in the cache plugin", USUAL, cached(questions.mix)),
    Line("multisocket 2, the mix", USUAL, Load(questions.mix, (OURS, REFERENCE_TWO), OURS_TWICE),
         [Bound(RATE, 1, TWO_CORES)]),
    Line("forwarded, in the cache", USUAL, Load(questions.forwarded, FORWARDERS, corefile=FORWARD,
                                                needs=("dnsperf", "cc")), [*faster(2), beside("unbound", 0.4)]),
    Line("forwarded, every name new", USUAL, Load(questions.forwarded_new, FORWARDERS, corefile=FORWARD, once=True,
                                                  needs=("dnsperf", "cc")), [*faster(1.2), beside("unbound", 0.7)]),
    Line("mix, 3,000 q/s open loop", USUAL, Latency(3000), LATENCY),
    Line("mix, 10,000 q/s open loop", USUAL, Latency(10_000), LATENCY),
    Line("start, 1,000 Services", USUAL, Start(USUAL), [below(MEMORY, 1.2)]),
    Line("Service created → answered", USUAL, Changes(service_created), CHANGE),
    Line("slice changed → answered", USUAL, Changes(slice_changed), CHANGE),
    Line("mix, 100 EndpointSlices a second change", USUAL, Load(questions.mix, changes=100), faster(3.5)),
    Line("1,000 slices changed at once", USUAL, Burst(), [within(burst.DURING, 10)]),
    Line("mix, 10,000 Services", LARGE, Load(questions.mix, memory=True, grows=True),
         [*faster(4), below(AFTER_LOAD, 0.8), within(AFTER_LOAD, 150)]),
    Line("start, 10,000 Services", LARGE, Start(LARGE),
         [below(START, 3), below(MEMORY, 0.8), within(MEMORY, 150)]),
    Line("mix, 50,000 Services", HUGE, Load(questions.mix, (REFERENCE,), grows=True)),
    Line("start, 50,000 Services", HUGE, Start(HUGE, rounds=3)),
    Line("growth, 100 to 50,000 Services", HUGE, Growth(SIZES), [
        Bound(growth.SPEED_LEFT, 0.8, "", absolute=True),
        within(growth.MEMORY_BEND, 1.3), within(growth.CPU_BEND, 1.3),
        below(growth.START_SLOPE, 1), within(growth.START_BEND, 1.3)]),
)  # fmt: skip

"""What the clients of the benchmark ask, each question with the answer that is right. Pure; knows no servers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from conformance.bench.objects import ENDPOINTS, HEADLESS_EVERY, PORTS, cluster_ip, is_headless, name_of, namespace_of

ZONE = "cluster.local."

SEARCH = ("{namespace}.svc.cluster.local.", "svc.cluster.local.", "cluster.local.")
"""The search list of a Pod (kubelet, dnsPolicy ClusterFirst)."""

MOST_NAMES = 900
NEW_NAMES = 400_000
"""In a file of names that are asked once: more than any server answers in a round."""

FORWARDED = 1000
"""Names outside the cluster that are asked again and again."""

MIX = {"Service A and AAAA": 40, "search expansion": 30, "headless A and SRV": 20, "PTR": 10}
"""Shares of the mix in percent."""

MIX_LENGTH = 20_000


class Asked(NamedTuple):
    """A question, the rcode of the right reply, and how many records its answer section has."""

    name: str
    qtype: str
    rcode: str = "NOERROR"
    answers: int = 1


Ask = Callable[[int, int], list[Asked]]
"""What is asked, from the number of Services and the turn: every turn of names that are asked once has its own."""


def one_name(services: int, turn: int = 0) -> list[Asked]:
    """One ClusterIP name, A."""
    return [Asked(_full(_some(services, False)[0]), "A")]


def cluster_ips(services: int, turn: int = 0) -> list[Asked]:
    """ClusterIP names, A and AAAA (no records: the cluster has IPv4)."""
    names = [_full(number) for number in _some(services, False)]
    return [asked for name in names for asked in (Asked(name, "A"), Asked(name, "AAAA", answers=0))]


def headless(services: int, turn: int = 0) -> list[Asked]:
    """Headless names, A: all endpoints, shuffled."""
    return [Asked(_full(number), "A", answers=ENDPOINTS) for number in _some(services, True)]


def search_misses(services: int, turn: int = 0) -> list[Asked]:
    """What a Pod's search list makes of outside names, A and AAAA: names that do not exist, asked again and again."""
    outside = [f"api-{number}.example.com" for number in range(30)]
    suffixes = [suffix.format(namespace=f"ns-{number}") for number in range(5) for suffix in SEARCH]
    names = [f"{name}.{suffix}" for name in outside for suffix in suffixes]
    return [Asked(name, qtype, "NXDOMAIN", 0) for name in names for qtype in ("A", "AAAA")]


def new_misses(services: int, turn: int = 0) -> list[Asked]:
    """Names that do not exist and are asked once; others for each `turn`."""
    return [
        Asked(f"nx{turn}-{number:x}.{namespace_of(number)}.svc.{ZONE}", "A", "NXDOMAIN", 0)
        for number in range(NEW_NAMES)
    ]


def mix(services: int, turn: int = 0) -> list[Asked]:
    """40 % Service A and AAAA, 30 % search expansion, 20 % headless A and SRV, 10 % PTR; the same in every run."""
    chance = random.Random(7)
    parts = (cluster_ips(services), search_misses(services), _headless_and_srv(services), _pointers(services))
    return [chance.choice(part) for part in chance.choices(parts, weights=list(MIX.values()), k=MIX_LENGTH)]


def forwarded(services: int, turn: int = 0) -> list[Asked]:
    """Names outside the cluster, A, asked again and again."""
    return [Asked(f"host-{number}.example.com.", "A") for number in range(FORWARDED)]


def forwarded_new(services: int, turn: int = 0) -> list[Asked]:
    """Names outside the cluster that are asked once; others for each `turn`."""
    return [Asked(f"h{turn}-{number:x}.example.com.", "A") for number in range(NEW_NAMES)]


def synced(services: int) -> list[Asked]:
    """What a server that knows the whole cluster answers rightly: the last Service and slice, and what all have."""
    asked = [Asked(f"kubernetes.default.svc.{ZONE}", "A")]
    if services:
        last = (services - 1) // HEADLESS_EVERY * HEADLESS_EVERY
        asked += [Asked(_full(last), "A", answers=ENDPOINTS), Asked(_full(services - 1), "A")]
    return asked


def rcodes(asked: Sequence[Asked], count: int) -> Mapping[str, int]:
    """How often each rcode is right when the questions are asked in turn, `count` in all."""
    whole, rest = divmod(count, len(asked))
    all_of_them, some = (Counter(question.rcode for question in part) for part in (asked, asked[:rest]))
    return Counter({rcode: whole * number for rcode, number in all_of_them.items()}) + some


def lines(asked: Sequence[Asked]) -> str:
    """The questions as dnsperf reads them."""
    return "".join(f"{question.name} {question.qtype}\n" for question in asked)


def _some(services: int, headless: bool) -> list[int]:
    """Services of one sort, spread over the whole cluster, `MOST_NAMES` at most."""
    numbers = [number for number in range(services) if is_headless(number) is headless]
    return numbers[:: max(1, len(numbers) // MOST_NAMES)][:MOST_NAMES]


def _full(number: int) -> str:
    return f"{name_of(number)}.{namespace_of(number)}.svc.{ZONE}"


def _headless_and_srv(services: int) -> list[Asked]:
    srv = [Asked(asked.name, "SRV", answers=ENDPOINTS * len(PORTS)) for asked in headless(services)]
    return [*headless(services), *srv]


def _pointers(services: int) -> list[Asked]:
    """Reverse names of cluster IPs."""
    addresses = [cluster_ip(number) for number in _some(services, False)[:300]]
    return [Asked(".".join(reversed(address.split("."))) + ".in-addr.arpa.", "PTR") for address in addresses]

"""Cases whose objects are made and not written: too many for a file, or as old as the moment they are asked about.

Knows the format of cases; how they run is the runner's business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

from conformance.kubernetes.objects import Object
from conformance.plan import Plan
from conformance.results import Outcome
from conformance.setting import Setting
from conformance.table.case import Case, Wait
from conformance.table.case_file import parse_cases
from conformance.table.changes import Apply
from conformance.table.runner import CaseJob

SERVICES = 10_000
"""How many Services the end-to-end suite of many records makes."""

NAMESPACES = 5
"""Over how many namespaces they are spread."""

SAMPLED = SERVICES // 20
"""How many of them are asked for: 5 %."""


@dataclass(frozen=True)
class Generated:
    """A job whose case is made when it runs; `tags` are those of its questions."""

    name: str
    about: str
    tags: tuple[str, ...]
    make: Callable[[], Case]
    limit: float = 120.0

    async def run(self, setting: Setting, outcome: Outcome) -> None:
        """Makes the case and runs it as any other."""
        await CaseJob(self.make()).run(setting, outcome)


def jobs(plan: Plan) -> list[Generated]:
    """All generated cases; none for a server that has a configuration of its own."""
    if plan.outside:
        return []
    return [
        Generated("e2e/scale", "10,000 Services made while the servers run, 5 % of them asked for", ("K30",), many),
        Generated(
            "ci/programming", "How long changes of headless Services took to become records", ("C22",), programming
        ),
    ]


# --- many Services ---------------------------------------------------------------------------------------------

_MANY = """
negative cluster.local. 5 SOA ns.dns.cluster.local. hostmaster.cluster.local. 0 7200 1800 86400 5
negative in-addr.arpa. 5 SOA ns.dns.in-addr.arpa. hostmaster.in-addr.arpa. 0 7200 1800 86400 5
corefile
    .:{PORT} {
        kubernetes cluster.local in-addr.arpa {
            {API}
        }
    }
"""


def many() -> Case:
    """Namespaces to start with, then all Services at once; once the last of them is there, a sample of all.

    Every tenth is also asked for over TCP, for its IPv6 address, which is none, and for the name of its address.
    """
    sample = [SERVICES - 1, *Random(SERVICES).sample(range(SERVICES - 1), SAMPLED - 1)]
    questions = "".join(_questions(number, thorough=place % 10 == 0) for place, number in enumerate(sample))
    (case,) = parse_cases(_MANY + questions, "e2e/scale")
    services = Apply(tuple(map(_service, range(SERVICES))))
    first, *others = case.steps
    steps = (services, first, Wait(0), *others)  # the others are not watched while the change goes on
    return replace(case, objects=tuple(map(_namespace, range(NAMESPACES))), steps=steps)


def _questions(number: int, thorough: bool) -> str:
    name, address = f"{_name(number)}.{_space(number)}.svc.cluster.local.", _address(number)
    reverse = ".".join([*reversed(address.split(".")), "in-addr.arpa."])
    plain = f"? {name} A [K30] => NOERROR\n    answer {name} 5 A {address}\n"
    return plain if not thorough else (
        f"{plain}{plain.replace(' A [', ' A +tcp [')}"
        f"? {name} AAAA [K30] => NODATA\n"
        f"? {reverse} PTR [K30] => NOERROR\n    answer {reverse} 5 PTR {name}\n"
    )  # fmt: skip


def _name(number: int) -> str:
    return f"svc-{number}"


def _space(number: int) -> str:
    return f"scale-{number % NAMESPACES}"


def _address(number: int) -> str:
    return f"10.{100 + number // 62_500}.{number // 250 % 250}.{number % 250 + 1}"


def _namespace(number: int) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _space(number)}}


def _service(number: int) -> Object:
    address = _address(number)
    port = {"name": "http", "port": 80, "protocol": "TCP"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _name(number), "namespace": _space(number)},
        "spec": {"type": "ClusterIP", "clusterIP": address, "clusterIPs": [address], "ports": [port]},
    }


# --- the time that changes took ---------------------------------------------------------------------------------

_PROGRAMMING = """
origin timed.svc.cluster.local.
negative cluster.local. 5 SOA ns.dns.cluster.local. hostmaster.cluster.local. 0 7200 1800 86400 5

objects
    {apiVersion: v1, kind: Namespace, metadata: {name: timed}}
    ---
    apiVersion: v1
    kind: Service
    metadata: {name: headless, namespace: timed}
    spec: {type: ClusterIP, clusterIP: None, clusterIPs: [None], ports: [{name: http, port: 80, protocol: TCP}]}
    ---
    apiVersion: v1
    kind: Service
    metadata: {name: virtual, namespace: timed}
    spec: {type: ClusterIP, clusterIP: 10.96.6.1, clusterIPs: [10.96.6.1], ports: [{port: 80, protocol: TCP}]}

corefile
    .:{PORT} {
        kubernetes cluster.local {
            {API}
        }
        prometheus 127.0.0.1:{PORT2}
    }

# created, and changed; then slices that must not count: their time is missing or none, their Service is another
? headless A [C22] => NXDOMAIN
apply
    SLICE headless 10.244.8.1 OLDER
? headless A [C22] => NOERROR
    answer headless 5 A 10.244.8.1
apply
    SLICE headless 10.244.8.2 OLD
? headless A [C22] => NOERROR
    answer headless 5 A 10.244.8.2
apply
    SLICE nobody 10.244.8.3 OLD
    ---
    SLICE virtual 10.244.8.4 OLD
    ---
    SLICE headless-untimed 10.244.8.5
    ---
    SLICE headless-badly-timed 10.244.8.6 yesterday
? headless A [C22] => NOERROR
    answer headless 5 A 10.244.8.2
    answer headless 5 A 10.244.8.5
    answer headless 5 A 10.244.8.6
get 2 /metrics => 200 [C22]
    has coredns_kubernetes_dns_programming_duration_seconds_bucket{service_kind="headless_with_selector",le="65.536"} 0
    has coredns_kubernetes_dns_programming_duration_seconds_bucket{service_kind="headless_with_selector",le="131.072"} 1
    has coredns_kubernetes_dns_programming_duration_seconds_bucket{service_kind="headless_with_selector",le="262.144"} 2
    has coredns_kubernetes_dns_programming_duration_seconds_count{service_kind="headless_with_selector"} 2
"""

AGES = {"OLDER": 132, "OLD": 66}
"""Seconds since the change that a slice tells of; each is just above a bucket's bound."""


def programming() -> Case:
    """Slices that say when what they tell of had changed: 132 and 66 seconds before the case is made."""
    lines = [_slice(line) if line.strip().startswith("SLICE ") else line for line in _PROGRAMMING.splitlines()]
    (case,) = parse_cases("\n".join(lines), "ci/programming")
    return case


def _slice(line: str) -> str:
    """An EndpointSlice from its Service, or a name that begins with it, its address and the age of its change."""
    name, address, *age = line.split()[1:]
    times = [_ago(AGES[word]) if word in AGES else word for word in age]
    notes = f", annotations: {{endpoints.kubernetes.io/last-change-trigger-time: '{times[0]}'}}" if times else ""
    labels = f"labels: {{kubernetes.io/service-name: {name.partition('-')[0]}}}"
    return (
        "    {apiVersion: discovery.k8s.io/v1, kind: EndpointSlice,"
        f" metadata: {{name: {name}-1, namespace: timed, {labels}{notes}}}, addressType: IPv4,"
        f" endpoints: [{{addresses: [{address}], conditions: {{ready: true}}}}],"
        " ports: [{name: http, port: 80, protocol: TCP}]}"
    )


def _ago(seconds: int) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")

"""What a query costs, counted in bytecodes: a guard against a hot path that grows, on machines where time says little.

Only this package's own code is counted, so that neither asyncio nor the client of the test takes part.  A budget is
what CPython 3.11 needs, rounded up; later versions need less.  On 3.11 a path that needs a tenth less than its budget
fails as well: write the new figure down, so that what was gained stays.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import pydns
from pydns import build
from pydns.corefile.parser import parse
from pydns.dns.types import Rcode
from pydns.http import HttpListeners
from pydns.k8s.objects import Kind
from pydns.k8s.store import Store
from pydns.k8s.stream import read_event
from pydns.k8s.wire import RESOURCES
from pydns.metrics import Metrics
from pydns.plugin import Process
from pydns.plugins.kubernetes.plugin import Kubernetes
from pydns.registry import ORDER
from tests.server.parts import Running, UdpClient, packet

PACKAGE = str(Path(pydns.__file__).parent)
QUERIES = 64
WARM_UPS = 3
"""Times that all is asked before: the chain answers, then it does so for the last time, then it need not."""
TOLERANCE = 0.1

COREFILE = """\
.:0 {{
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {{
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }}
    prometheus 127.0.0.1:0
    forward . 127.0.0.1:{upstream}
    cache 30 {{
        disable success cluster.local
        disable denial cluster.local
    }}
    loadbalance
}}
"""
"""kubeadm's, without what watches processes."""

MANIFEST = """\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.1.1, clusterIPs: [10.96.1.1], ports: [{name: http, port: 80, protocol: TCP}]}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec: {clusterIP: None, clusterIPs: [None], ports: [{name: sql, port: 5432, protocol: TCP}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: db-1, namespace: shop, labels: {kubernetes.io/service-name: db}}
addressType: IPv4
endpoints:
- {addresses: [10.244.0.1], hostname: db-0}
- {addresses: [10.244.0.2], hostname: db-1}
- {addresses: [10.244.0.3], hostname: db-2}
ports: [{name: sql, port: 5432, protocol: TCP}]
"""
MANIFEST += "".join(
    f"""\
---
apiVersion: v1
kind: Service
metadata: {{name: new{dash}{number}, namespace: shop}}
spec: {{clusterIP: 10.96.2.{number}, clusterIPs: [10.96.2.{number}], ports: [{{port: 80}}]}}
"""
    for dash in "-x"
    for number in range(QUERIES)
)

# A name with a dash is asked once: what warms up has an x there.
WEB = "web.shop.svc.cluster.local. A"
HEADLESS = "db.shop.svc.cluster.local. A"
NEW = [f"new-{number}.shop.svc.cluster.local. A" for number in range(QUERIES)]
ABSENT = [f"absent-{number}.shop.svc.cluster.local. A" for number in range(QUERIES)]
OUTSIDE = "example.org. A"
NEW_OUTSIDE = [f"host-{number}.example.org. A" for number in range(QUERIES)]

BUDGETS: dict[str, tuple[Sequence[str], Rcode, bool, int]] = {
    "the same name again": ([WEB] * QUERIES, Rcode.NOERROR, True, 110),
    "a headless name again": ([HEADLESS] * QUERIES, Rcode.NOERROR, True, 145),
    "a name that does not exist, each another": (ABSENT, Rcode.NXDOMAIN, True, 730),
    "a Service, each another": (NEW, Rcode.NOERROR, True, 1090),
    "a Service by the chain": ([WEB] * QUERIES, Rcode.NOERROR, False, 2000),
    "a headless Service by the chain": ([HEADLESS] * QUERIES, Rcode.NOERROR, False, 2400),
    "a forwarded name, each another": (NEW_OUTSIDE, Rcode.NOERROR, True, 1760),
    "a forwarded name again": ([OUTSIDE] * QUERIES, Rcode.NOERROR, True, 110),
}
"""The questions, the rcode of every reply, whether there is a packet cache, and the bytecodes that a query may take."""


SLICE: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "shop", "labels": {"kubernetes.io/service-name": "web"}},
    "addressType": "IPv4",
    "endpoints": [
        {"addresses": [f"10.244.0.{number}"], "targetRef": {"name": f"web-{number}"}} for number in range(10)
    ],
    "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
}
SLICE_BUDGET = 1300
"""Bytecodes for an endpoint slice of the first list, from the JSON of its event until it is served."""

EVENT_BUDGETS = {
    "nothing that DNS needs": ({"kind": "EndpointSlice"}, 780),
    "one address of ten": ({"endpoints": [{"addresses": ["10.244.0.99"]}, *SLICE["endpoints"][1:]]}, 1450),
    "all addresses": ({"endpoints": [{"addresses": [f"10.244.0.{number}"]} for number in range(100, 110)]}, 1950),
}
"""What is new in an endpoint slice of a Service that is known, and the bytecodes for the event that tells of it."""


class Bytecodes:
    """Counts the bytecodes of the package that the thread runs."""

    def __init__(self) -> None:
        self.count = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_lines = False
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.count += event == "opcode"
        return self._step


@pytest.fixture(scope="module")
def upstream() -> Iterator[int]:
    """The port of an upstream with an address for each name, in a thread of its own, whose bytecodes nobody counts."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=_echo, args=(sock,))
        thread.start()
        yield sock.getsockname()[1]
        sock.sendto(b"", sock.getsockname())
        thread.join()


def _echo(sock: socket.socket) -> None:
    """Answer everything with one address until an empty datagram comes."""
    head, record = bytes.fromhex("8180 0001 0001 0000 0000"), bytes.fromhex("c00c 0001 0001 0000012c 0004 c0000201")
    while data := (received := sock.recvfrom(4096))[0]:
        sock.sendto(data[:2] + head + data[12:] + record, received[1])


@asynccontextmanager
async def serving(
    upstream: int, folder: Path, *, remember: bool, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[int]:
    """A server with the Corefile above; its port."""
    monkeypatch.setenv(build.PACKET_CACHE, "1" if remember else "0")
    manifest = folder / "cluster.yaml"
    manifest.write_text(MANIFEST)
    process = Process(metrics=Metrics(), http=HttpListeners(), manifests=(manifest,))
    instance = build.build(parse(COREFILE.format(upstream=upstream), environ={}, plugins=ORDER), process)
    await instance.start()
    try:
        (listener,) = instance.listeners.values()
        async with Running(listener) as running:
            yield running.port
    finally:
        await instance.stop()


async def ask_all(port: int, packets: Sequence[bytes], rcode: Rcode) -> None:
    """Send all, then read all the replies."""
    loop = asyncio.get_running_loop()
    with UdpClient("127.0.0.1", port) as client:
        for octets in packets:
            client.sock.send(octets)
        for _ in packets:
            reply = await loop.sock_recv(client.sock, 4096)
            assert reply[3] & 15 == rcode


def check(used: float, budget: float) -> None:
    """Judge the bytecodes of one piece of work by their budget."""
    assert used <= budget, "the hot path has grown"
    if sys.version_info[:2] == (3, 11):
        assert used >= budget * (1 - TOLERANCE), "the hot path has shrunk: lower the budget"


@pytest.mark.parametrize(("questions", "rcode", "remember", "budget"), BUDGETS.values(), ids=BUDGETS)
async def test_a_query_costs_no_more_than_its_budget(
    questions: Sequence[str], rcode: Rcode, remember: bool, budget: int,
    upstream: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    packets = [packet(question, ident=number) for number, question in enumerate(questions)]
    bytecodes = Bytecodes()
    async with serving(upstream, tmp_path, remember=remember, monkeypatch=monkeypatch) as port:
        for _ in range(WARM_UPS):
            await ask_all(port, [packet(question.replace("-", "x")) for question in questions], rcode)
        with bytecodes.counting():
            await ask_all(port, packets, rcode)
    check(bytecodes.count / len(packets), budget)


def test_an_object_of_the_first_list_costs_no_more_than_its_budget() -> None:
    event = json.dumps({"type": "ADDED", "object": SLICE})
    lines = [event.replace("web", f"web{number}").replace("10.244.0", f"10.244.{number}") for number in range(QUERIES)]
    store = followed_store()
    bytecodes = Bytecodes()
    with bytecodes.counting():
        events = [read_event(RESOURCES[Kind.SLICE], line.encode()) for line in lines]
        store.replace(Kind.SLICE, {one.key: one.item for one in events if one and one.item})
    assert len(store.slices("shop", "web7")) == 1
    check(bytecodes.count / len(lines), SLICE_BUDGET)


def followed_store() -> Store:
    """An empty store that a server with the Corefile above follows."""
    process = Process(metrics=Metrics(), http=HttpListeners())
    instance = build.build(parse(COREFILE.format(upstream=53), environ={}, plugins=ORDER), process)
    (plugin,) = [plugin for plugin in instance.plugins if isinstance(plugin, Kubernetes)]
    return plugin.store


@pytest.mark.parametrize(("new", "budget"), EVENT_BUDGETS.values(), ids=EVENT_BUDGETS)
def test_an_event_costs_no_more_than_its_budget(new: dict[str, Any], budget: int) -> None:
    store = followed_store()
    bytecodes = Bytecodes()
    for item in (SLICE, SLICE | new):
        line = json.dumps({"type": "MODIFIED", "object": item}).encode()
        bytecodes.count = 0
        with bytecodes.counting():
            event = read_event(RESOURCES[Kind.SLICE], line)
            assert event is not None and event.item is not None
            store.put(event.item)
    check(bytecodes.count, budget)

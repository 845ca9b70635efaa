"""The network of a node with Pods, within this process's own namespace: an address each, and a Service in front.

Pods have a network namespace and a routed pair of interfaces, as CNI's `ptp` makes them. The Service is what kube-proxy
makes of it in its iptables mode: DNAT to one of the ready endpoints by chance, for each new flow; a refusal where there
is none; UDP flows to endpoints that serve no more are forgotten (pkg/proxy/iptables, pkg/proxy/conntrack).

Knows no DNS.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.servers.namespaces import do
from conformance.servers.processes import tied

PACKAGES = {"iptables": "iptables", "conntrack": "conntrack", "ip": "iproute2", "nsenter": "util-linux"}
"""The programs that are used, and the Debian package of each."""

GATEWAY = "10.244.1.1"
"""The node's address in the Pods' network."""

POD = "10.244.1.{}"
PORT = 53
START_TIME = 5.0
"""Seconds a namespace has to be there."""


def missing() -> list[str]:
    """The Debian packages that are not installed."""
    return sorted({package for program, package in PACKAGES.items() if shutil.which(program) is None})


@dataclass(frozen=True)
class PodNetwork:
    """A Pod's network, which lives as long as its first process, however often its containers are started anew."""

    address: str
    first: subprocess.Popen[bytes]

    def inside(self, words: Sequence[str]) -> list[str]:
        """A command line whose program runs in it."""
        return ["nsenter", f"--net=/proc/{self.first.pid}/ns/net", "--", *words]

    def close(self) -> None:
        """Ends it, its interfaces with it."""
        self.first.kill()
        self.first.wait()


def prepare() -> None:
    """Makes this process's own namespace a node's. Raises `OSError`."""
    do("ip", "address", "add", f"{GATEWAY}/32", "dev", "lo")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def open_pod(number: int) -> PodNetwork:
    """A Pod's network; its address ends in the number. Raises `OSError`."""
    first = subprocess.Popen(tied(["unshare", "--net", "sleep", "infinity"]), stdin=subprocess.DEVNULL)
    pod = PodNetwork(POD.format(number), first)
    try:
        _wait_for_namespace(first.pid)
        _connect(pod, f"pod{number}")
    except OSError:
        pod.close()
        raise
    return pod


def _wait_for_namespace(pid: int) -> None:
    ours = os.readlink("/proc/self/ns/net")
    deadline = time.monotonic() + START_TIME
    while os.readlink(f"/proc/{pid}/ns/net") == ours:
        if time.monotonic() > deadline:
            raise OSError(f"a Pod's network namespace is not there after {START_TIME:g} s")
        time.sleep(0.005)


def _connect(pod: PodNetwork, name: str) -> None:
    do("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(pod.first.pid))
    inside = [
        "link set lo up",
        "link set eth0 up",
        f"address add {pod.address}/32 dev eth0",
        f"route add {GATEWAY} dev eth0",
        f"route add default via {GATEWAY} src {pod.address}",
    ]
    do(*pod.inside(["ip", "-batch", "-"]), text="\n".join(inside))
    do("ip", "link", "set", name, "up")
    do("ip", "route", "add", f"{pod.address}/32", "dev", name, "src", GATEWAY)


class Service:
    """Port 53 of some ClusterIPs over UDP and TCP. Methods raise `OSError`."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._serving: frozenset[str] = frozenset()
        self.update((), ())

    def update(self, ready: Iterable[str], serving: Iterable[str]) -> None:
        """New flows go to what is ready; flows of UDP to what serves no more are forgotten."""
        chosen = sorted(ready)
        do("iptables-restore", text=rules(self._addresses, chosen))
        now = frozenset(serving)
        for gone in sorted(self._serving - now):
            self._forget(gone)
        self._serving = now

    def _forget(self, endpoint: str) -> None:
        """conntrack says with status 1 that there was nothing to forget."""
        words = ["conntrack", "-D", "-p", "udp", "--reply-src", endpoint, "--reply-port-src", str(PORT)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode and "0 flow entries" not in done.stderr:
            raise OSError(f"conntrack: {done.stderr.strip()}")


def rules(addresses: Sequence[str], ready: Sequence[str]) -> str:
    """The tables for iptables-restore: each of the endpoints takes an equal share of the new flows."""
    nat, filtered = ["*nat", ":DNS - [0:0]"], ["*filter"]
    for address in addresses:
        for protocol in ("udp", "tcp"):
            match = f"-d {address}/32 -p {protocol} --dport {PORT}"
            nat += [f"-A {chain} {match} -j DNS" for chain in ("PREROUTING", "OUTPUT")]
            filtered += [f"-A {chain} {match} -j REJECT" for chain in ("FORWARD", "OUTPUT") if not ready]
    for left, endpoint in zip(range(len(ready), 0, -1), ready, strict=True):
        share = f"-m statistic --mode random --probability {1 / left:.10f} " if left > 1 else ""
        nat += [
            f"-A DNS {share}-p {protocol} -j DNAT --to-destination {endpoint}:{PORT}" for protocol in ("udp", "tcp")
        ]
    return "\n".join([*nat, "COMMIT", *filtered, "COMMIT", ""])

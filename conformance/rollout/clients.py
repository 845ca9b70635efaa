"""Pods that look names up all the time: C libraries with the options people give them, and questions without retries.

Each has kubelet's resolv.conf for its dnsConfig. The right answers are those of `clients/world`, written there before
any server is asked.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.clients.kubelet import DnsConfig, Node, Pod, pod_dns
from conformance.clients.pod import CACHES, CLUSTER_DNS, NSSWITCH
from conformance.clients.recipes import build
from conformance.clients.world import NAMESPACE, OUTSIDE, SERVICES
from conformance.rollout.network import open_pod
from conformance.servers.processes import tied
from conformance.servers.subjects import variables
from conformance.tally import LookUp, said

SECOND_DNS = "10.96.0.11"
"""Another Service in front of the same replicas, for Pods with two name servers."""

THREADS, PAUSE = 4, 400
"""Of each program: ten look-ups a second, with the milliseconds each thread waits after one."""

PLAIN = "plain"
"""The program `conformance.rollout.plain`, which is no recipe."""

PLAIN_PAUSE = 10
"""Milliseconds between two plain questions."""

WITHIN = {
    "web": SERVICES["web.shop"],
    "db.stock": SERVICES["db.stock"],
    "dual.shop.svc": SERVICES["dual.shop"],
    "two.peers": SERVICES["two.peers.shop"],
    "dns-backend.stock.svc.cluster.local.": SERVICES["dns-backend.stock"],
    "nosuch": (),
    "mark.ok.test": tuple(map(str, OUTSIDE["ok"][1:])),
}
"""What a Pod in namespace shop looks up, and all addresses it must find; beyond the cluster, too."""

WHOLE = {
    "web.shop.svc.cluster.local.": SERVICES["web.shop"],
    "peers.shop.svc.cluster.local.": SERVICES["peers.shop"],
    "nosuch.shop.svc.cluster.local.": (),
    "mark.ok.test.": (str(OUTSIDE["ok"][1]),),
}
"""What is asked for plainly, and the A records."""

TWO = (SECOND_DNS,)


@dataclass(frozen=True)
class Client:
    """A Pod: the program it runs, by the name of its recipe or `PLAIN`, its name servers and options."""

    name: str
    program: str
    nameservers: Sequence[str] = ()
    options: Sequence[str] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it sends no query again."""
        return self.program == PLAIN

    @property
    def answers(self) -> Mapping[str, frozenset[str]]:
        """What it looks up and must find."""
        names = WHOLE if self.is_plain else WITHIN
        return {name: frozenset(found) for name, found in names.items()}

    @property
    def threads(self) -> int:
        """How many of its threads look names up."""
        return 1 if self.is_plain else THREADS

    def resolv_conf(self) -> str:
        """As kubelet writes it for dnsPolicy ClusterFirst and this dnsConfig."""
        options = tuple((name, value or None) for name, _, value in (each.partition(":") for each in self.options))
        config = DnsConfig(nameservers=tuple(self.nameservers), options=options)
        return pod_dns(Pod(NAMESPACE, config=config), Node(cluster_dns=(CLUSTER_DNS,))).conf.text

    def words(self) -> list[str]:
        """The command line of its program. Raises `Skipped` where it cannot be built."""
        if self.is_plain:
            transport = (
                ["tcp", CLUSTER_DNS, str(PLAIN_PAUSE * 4)] if self.options else ["udp", CLUSTER_DNS, str(PLAIN_PAUSE)]
            )
            return [sys.executable, "-m", "conformance.rollout.plain", *transport, *self.answers]
        return [str(build(self.program)), str(THREADS), str(PAUSE), *self.answers]


CLIENTS = (
    Client("plain questions, UDP", PLAIN),
    Client("plain questions, TCP", PLAIN, options=("use-vc",)),
    Client("glibc", "steady-glibc"),
    Client("glibc, single-request, edns0, trust-ad", "steady-glibc", options=("single-request", "edns0", "trust-ad")),
    Client("glibc, use-vc", "steady-glibc", options=("use-vc",)),
    Client("glibc, two servers, rotate", "steady-glibc", TWO, ("rotate", "timeout:2", "attempts:3")),
    Client("glibc, ndots 1, one attempt", "steady-glibc", options=("ndots:1", "timeout:1", "attempts:1")),
    Client("musl 1.2.3", "steady-musl"),
    Client("musl 1.2.3, two servers", "steady-musl", TWO),
    Client("musl 1.2.5", "steady-musl-1.2.5"),
    Client("musl 1.2.5, ndots 3, one attempt", "steady-musl-1.2.5", options=("ndots:3", "timeout:2", "attempts:1")),
)
"""Two C libraries, three versions; those with one attempt count a lost datagram as a lost look-up."""


@contextmanager
def asking(folder: Path, clients: Sequence[Client] = CLIENTS) -> Iterator[None]:
    """All clients in their Pods until the block ends; what they print is in the folder. Raises `OSError`, `Skipped`."""
    commands = [client.words() for client in clients]
    with ExitStack() as stack:
        for number, (client, words) in enumerate(zip(clients, commands, strict=True)):
            network = open_pod(100 + number)
            stack.callback(network.close)
            own = _etc(folder / str(number), client)
            with _log(folder, number).open("wb") as output:
                process = subprocess.Popen(
                    tied(network.inside(["unshare", "--mount", "sh", "-ec", own, "pod", *words])),
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=variables({}),
                )  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def _etc(folder: Path, client: Client) -> str:
    """Writes a Pod's files of /etc; the shell's words that mount them and become the program."""
    folder.mkdir()
    files = {"resolv.conf": client.resolv_conf(), "nsswitch.conf": NSSWITCH, "hosts": "127.0.0.1\tlocalhost\n"}
    lines = []
    for name, text in files.items():
        (folder / name).write_text(text)
        lines.append(f"mount --bind {shlex.quote(str(folder / name))} /etc/{name}")
    lines += [f"if [ -d {cache} ]; then mount -t tmpfs none {cache}; fi" for cache in CACHES]
    return "\n".join([*lines, 'exec "$@"'])


def _log(folder: Path, number: int) -> Path:
    return folder / f"{number}.log"


def look_ups(folder: Path, clients: Sequence[Client] = CLIENTS) -> Iterator[LookUp]:
    """All that the clients found until now. Raises `OSError` with what a program says that is no look-up."""
    for number, client in enumerate(clients):
        for line in _log(folder, number).read_text().splitlines(keepends=True):
            words = line.split()
            if len(words) == 5 and words[0].isdigit():
                yield said(client.name, words)
            elif line.endswith("\n"):
                raise OSError(f"{client.name}: {line.strip()}")

"""Who is measured: the server under test, CoreDNS, and others; how each is configured and started.

A server has one core, the first, from its start on; `cores` says otherwise. Knows no loads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.bench import asking, machine
from conformance.bench.finding import COREDNS, PER_CPU, RATE, TWO_CORES
from conformance.bench.processes import BenchError, Process, running
from conformance.bench.programs import compiled
from conformance.bench.questions import Asked
from conformance.servers import subjects
from conformance.servers.ports import free_port
from conformance.servers.processes import path_of

CLUSTER = """\
.:{port} {{
    {more}
    errors
    health 127.0.0.1:{health}
    ready 127.0.0.1:{ready}
    kubernetes cluster.local in-addr.arpa ip6.arpa {{
        {api}
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }}
    prometheus 127.0.0.1:{metrics}
    cache 30 {{
        disable success cluster.local
        disable denial cluster.local
    }}
    reload
    loadbalance
}}
"""
"""kubeadm's Corefile without what needs a network: forward and loop, and the lameduck time."""

CACHED = CLUSTER.replace(
    """cache 30 {{
        disable success cluster.local
        disable denial cluster.local
    }}""",
    "cache 30",
)
"""The same with the cluster's own names in the *cache* plugin, as kubeadm's Corefile of before had it."""

FORWARD = """\
.:{port} {{
    {more}
    cache 30
    forward . 127.0.0.1:{upstream}
}}
"""
"""The plainest forwarder with a cache."""

UNBOUND = """\
server:
    directory: ""
    chroot: ""
    username: ""
    pidfile: ""
    use-syslog: no
    do-daemonize: no
    interface: 127.0.0.1@{port}
    access-control: 127.0.0.0/8 allow
    do-ip6: no
    num-threads: 1
    module-config: "iterator"
    qname-minimisation: no
    do-not-query-localhost: no
    num-queries-per-thread: 4096
    outgoing-range: 8192
    edns-buffer-size: 1232
remote-control:
    control-enable: no
forward-zone:
    name: "."
    forward-addr: 127.0.0.1@{upstream}
"""

DNSMASQ = """\
port={port}
listen-address=127.0.0.1
bind-interfaces
no-resolv
no-hosts
no-daemon
user=
pid-file=
cache-size=10000
dns-forward-max=10000
server=127.0.0.1#{upstream}
"""


@dataclass(frozen=True)
class Place:
    """Where servers find what they need: the Corefile line of the API, the port of an upstream, a folder for files."""

    folder: Path
    api: str
    upstream: int = 0


@dataclass(frozen=True)
class Contestant:
    """`whats` are the figures that are given beside it. One that is `optional` may be missing, or not start."""

    name: str
    program: str
    whats: tuple[str, ...] = (PER_CPU,)
    needs: tuple[str, ...] = ()
    cores: Callable[[], Sequence[int]] = machine.server_core
    more: str = ""
    optional: bool = True
    answers: bool = True
    environment: tuple[tuple[str, str], ...] = ()


PACKET_CACHE = "PYDNS_PACKET_CACHE"
"""An environment variable of pydns: with 0, it remembers no whole replies."""

SUBJECT = "subject"
"""In place of a program: the server that the command line names."""

OURS = Contestant(SUBJECT, SUBJECT, (RATE, PER_CPU), optional=False)
OURS_FREE = Contestant(SUBJECT, SUBJECT, cores=machine.cores, optional=False)
OURS_BARE = Contestant(
    f"{SUBJECT}, each reply made anew", SUBJECT, (RATE, PER_CPU), optional=False, environment=((PACKET_CACHE, "0"),)
)
OURS_TWICE = Contestant(f"{SUBJECT}, multisocket 2", SUBJECT, cores=machine.two_cores, more="multisocket 2")
REFERENCE = Contestant(COREDNS, "coredns", (PER_CPU, RATE), optional=False)
REFERENCE_FREE = Contestant(COREDNS, "coredns", cores=machine.cores, optional=False)
REFERENCE_TWO = Contestant(TWO_CORES, "coredns", (RATE, PER_CPU), cores=machine.two_cores, optional=False)
ECHO = Contestant("C echo", "echo", needs=("cc",), answers=False)
ECHOED = Asked("echo.", "A", answers=0)
"""What an echo answers rightly."""

PEERS = tuple(Contestant(name, name, needs=(name,)) for name in ("unbound", "dnsmasq"))


@dataclass(frozen=True)
class Server:
    """A contestant that runs and answers at a port of this machine."""

    contestant: Contestant
    port: int
    process: Process


@asynccontextmanager
async def started(
    contestant: Contestant, program: str, corefile: str, place: Place, ready: Sequence[Asked] = ()
) -> AsyncIterator[Server]:
    """Runs a contestant until the block ends; with `ready`, the block starts when these answers are right.

    Raises `BenchError` with the contestant's name.
    """
    port = free_port()
    folder = place.folder / f"{contestant.name.replace(' ', '-').replace(',', '')}-{port}"
    folder.mkdir()
    try:
        words = await _command(contestant, program, corefile, place, folder, port)
        async with running(words, contestant.cores(), folder / "log", dict(contestant.environment)) as process:
            first = ready if contestant.answers else [ECHOED]
            await asyncio.to_thread(asking.until_right, port, first, process.check)
            yield Server(contestant, port, process)
    except (BenchError, FileNotFoundError) as error:
        raise BenchError(f"{contestant.name}: {error}") from error


async def _command(
    contestant: Contestant, program: str, corefile: str, place: Place, folder: Path, port: int
) -> list[str]:
    """The command line, once the configuration is written."""
    if contestant.program == "echo":
        return [await compiled("echo", place.folder), str(port)]
    own = {"unbound": UNBOUND, "dnsmasq": DNSMASQ}.get(contestant.program)
    path = folder / ("config" if own else "Corefile")
    pages = {name: free_port() for name in ("health", "ready", "metrics")}
    path.write_text((own or corefile).format(
        port=port, api=place.api, upstream=place.upstream, more=contestant.more, **pages
    ))  # fmt: skip
    if contestant.program == "unbound":
        return [path_of("unbound") or "unbound", "-d", "-c", str(path)]
    if contestant.program == "dnsmasq":
        return [path_of("dnsmasq") or "dnsmasq", "-C", str(path), "-k"]
    name = program if contestant.program == SUBJECT else contestant.program
    return [*subjects.command(name), "-conf", str(path)]


@asynccontextmanager
async def upstream(place: Place) -> AsyncIterator[int]:
    """The C program that answers what servers forward, on the generator's core; gives its port."""
    port = free_port()
    words = [await compiled("echo", place.folder), str(port), "answer"]
    async with running(words, machine.generator_core(), place.folder / f"upstream-{port}.log"):
        await asyncio.to_thread(asking.until_right, port, [Asked("ready.example.com.", "A")])
        yield port

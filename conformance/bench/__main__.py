"""`python -m conformance.bench`: a subject and real CoreDNS under the same load in turns, as ratios."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from conformance.bench import load, objects
from conformance.kubernetes import fake_api
from conformance.servers import subjects
from conformance.servers.ports import free_port

COREFILE = """\
.:{port} {{
    errors
    health 127.0.0.1:{health}
    ready 127.0.0.1:{ready}
    kubernetes cluster.local in-addr.arpa ip6.arpa {{
        endpoint {api}
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }}
    prometheus 127.0.0.1:{metrics}
    cache 30 {{
        disable success cluster.local
        disable denial cluster.local
    }}
    loadbalance
}}
"""
"""kubeadm's Corefile without what needs a network (forward, loop) and without reload."""

REFERENCE = "coredns"


@dataclass
class Server:
    """A running server and its runs by load."""

    subject: str
    pid: int
    port: int
    idle_bytes: int = 0
    runs: dict[str, list[load.Run]] = field(default_factory=dict)

    def per_cpu_second(self, name: str) -> float:
        return median(run.per_cpu_second for run in self.runs[name])

    def per_second(self, name: str) -> float:
        return median(run.per_second for run in self.runs[name])


@asynccontextmanager
async def serve(subject: str, api: str, folder: Path) -> AsyncIterator[Server]:
    """A server with the benchmark's Corefile, on core 0 where there is more than one."""
    ports = [free_port() for _ in range(4)]
    corefile = folder / f"{subject}.corefile"
    keys = dict(zip(("port", "health", "ready", "metrics"), ports, strict=True))
    corefile.write_text(COREFILE.format(api=api, **keys))
    async with subjects.start(subject, corefile, ports[0]) as running:
        server = Server(subject, running.pid, ports[0])
        if (os.cpu_count() or 1) > 1:
            for thread in Path(f"/proc/{server.pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {0})
        yield server


async def measure(options: argparse.Namespace) -> list[Server]:
    """All loads on both servers, alternating, `rounds` times."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        api = fake_api.FakeApi()
        api.apply(objects.cluster(options.services, options.endpoints))
        url = await stack.enter_async_context(fake_api.serve(api))
        servers = [await stack.enter_async_context(serve(name, url, folder)) for name in (options.subject, REFERENCE)]
        await asyncio.sleep(1)  # both are synced and idle now
        for server in servers:
            server.idle_bytes = load.resident_bytes(server.pid)
        for name, questions in objects.LOADS.items():
            if options.load and not any(word in name for word in options.load):
                continue
            path = folder / "questions"
            path.write_text("\n".join(questions(options.services)) + "\n")
            await alternate(name, servers, path, options)
        return servers


async def alternate(name: str, servers: list[Server], questions: Path, options: argparse.Namespace) -> None:
    """One load: a warm-up each, then A B A B …"""
    core = 1 if (os.cpu_count() or 1) > 1 else None
    for number in range(options.rounds + 1):
        for server in servers:
            seconds = options.seconds if number else 1
            run = await load.run(server.pid, server.port, questions, seconds, core)
            if number:
                server.runs.setdefault(name, []).append(run)
            label = f"round {number}" if number else "warm-up"
            figures = f"{run.per_second:,.0f} q/s, {run.per_cpu_second:,.0f} per CPU-second, {run.lost} lost"
            print(f"  {name}: {server.subject} {label}: {figures}, {run.rcodes}", file=sys.stderr)


def table(servers: list[Server]) -> str:
    """The medians side by side; the ratio is subject : CoreDNS."""
    subject, reference = servers
    ours = subject.subject
    rows = [
        f"| load | {ours}, queries per CPU-second | CoreDNS | ratio | q/s, {ours} | q/s, CoreDNS |",
        "|---|---|---|---|---|---|",
    ]
    for name in subject.runs:
        figure, theirs = subject.per_cpu_second(name), reference.per_cpu_second(name)
        rates = f"{subject.per_second(name):,.0f} | {reference.per_second(name):,.0f}"
        rows.append(f"| {name} | {figure:,.0f} | {theirs:,.0f} | {figure / theirs:.2f} | {rates} |")
    memory = [load_bytes / 1e6 for load_bytes in (subject.idle_bytes, reference.idle_bytes)]
    rows.append(f"\nResident memory, just started: {memory[0]:.0f} MB, CoreDNS {memory[1]:.0f} MB, "
                f"ratio {memory[0] / memory[1]:.2f}")  # fmt: skip
    return "\n".join(rows)


def as_json(servers: list[Server], options: argparse.Namespace) -> str:
    """Every run, for those who want more than medians."""
    found = {
        server.subject: {
            "idle_bytes": server.idle_bytes,
            "runs": {name: [vars(run) for run in runs] for name, runs in server.runs.items()},
        }
        for server in servers
    }
    return json.dumps({"schema": 1, "services": options.services, "endpoints": options.endpoints, "servers": found})


def main() -> None:
    """Parse the words, measure, print the table."""
    parser = argparse.ArgumentParser(prog="python -m conformance.bench", description=__doc__)
    parser.add_argument("--subject", default="pydns", help="the server beside CoreDNS (default: pydns)")
    parser.add_argument("--services", type=int, default=1000, metavar="N", help="Services in the cluster (1000)")
    parser.add_argument("--endpoints", type=int, default=10, metavar="N", help="endpoints of each (10)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="counted runs of each load and server (5)")
    parser.add_argument("--seconds", type=float, default=5, metavar="S", help="length of a run (5)")
    parser.add_argument(
        "--load", action="append", metavar="TEXT", help="only loads whose name contains TEXT; repeatable"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run to FILE")
    options = parser.parse_args()
    try:
        servers = asyncio.run(measure(options))
    except (load.LoadError, FileNotFoundError, subjects.StartError) as error:
        sys.exit(f"bench: {error}")
    print(table(servers))
    if options.json:
        options.json.write_text(as_json(servers, options))


if __name__ == "__main__":
    main()

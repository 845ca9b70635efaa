"""The world of the clients' jobs for a server that runs already: its objects, and a server of the zones outside.

    python -m conformance.clients.setup objects | kubectl apply -f -
    python -m conformance.clients.setup zones 192.0.2.7:5300

The server must forward all that is not the cluster's to the second one while the jobs run.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

import yaml

from conformance.clients.world import load_world
from conformance.ending import INTERRUPTED, run
from conformance.kubernetes.objects import Object
from conformance.servers.script import Script
from conformance.servers.upstream import Upstream, serve

WRONG_USE = 2

HOW = """\
To judge a server that runs already with real resolvers, give it their objects and zones:
  python -m conformance.clients.setup objects | kubectl apply -f -
  python -m conformance.clients.setup zones ADDRESS:PORT      # serves them until Ctrl-C
and let its Corefile say `forward . ADDRESS:PORT` meanwhile; conformance/README.md has more."""


def given() -> list[Object]:
    """The objects, less those that every cluster has."""
    return [each for each in load_world().objects if "default" not in (_name(each), each["metadata"].get("namespace"))]


def _name(object: Object) -> str:
    return str(object["metadata"]["name"])


def world_outside() -> Upstream:
    """A server of the zones outside; all other names do not exist."""
    (rules,) = load_world().upstreams.values()
    return Upstream(Script(rules))


async def zones(host: str, port: int) -> None:
    """Serves the zones until it is cancelled. Raises `OSError` for an address that cannot be used."""
    async with serve(world_outside(), host, port):
        print(f"the zones outside are served at {host} port {port}", file=sys.stderr, flush=True)
        await asyncio.Event().wait()


def address(text: str) -> tuple[str, int]:
    """ADDRESS:PORT; raises `ArgumentTypeError`."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no ADDRESS:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m conformance.clients.setup",
        description="What a server that runs already must serve, to be judged with real resolvers.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("objects", help="print the Kubernetes objects as YAML, for kubectl apply -f -")
    listening = commands.add_parser("zones", help="serve the zones outside over UDP and TCP, until Ctrl-C")
    listening.add_argument("address", type=address, metavar="ADDRESS:PORT", help="one of this machine's addresses")
    return parser


def main(words: Sequence[str]) -> int:
    """Does what the command line says; the exit status."""
    options = _arguments().parse_args(words)
    if options.command == "objects":
        print(yaml.safe_dump_all(given(), sort_keys=False), end="")
        return 0
    try:
        run(zones(*options.address))
    except OSError as error:
        print(f"{options.address[0]} port {options.address[1]}: {error.strerror}", file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

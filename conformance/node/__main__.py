"""`python -m conformance.node`: pydns in CoreDNS's place on a real Kubernetes node, while clients keep asking.

A node (containerd, kubelet, kube-proxy, control plane) comes up in namespaces of its own, with real CoreDNS as kubeadm
installs it. Pods of every dnsPolicy look names up with glibc and musl, each with its right answers written beforehand,
through: a rolling restart and kill -9 of CoreDNS's replicas, swap in, a ConfigMap edit, one that does not parse, a
rolling restart and kill -9 of the new replicas, swap out. Nothing may be wrong, and nothing lost but after kill -9, and
then no more than with CoreDNS. The machine's network, files and settings stay as they are. Needs root;
about three minutes.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from conformance.ending import INTERRUPTED, heed_signals
from conformance.kubernetes.client import ClusterError
from conformance.node import contents, machine
from conformance.node.components import Node, Say
from conformance.node.machine import NodeError
from conformance.node.report import Result, document, terminal
from conformance.node.script import Script
from conformance.node.space import Space
from conformance.options import report_file
from conformance.servers.namespaces import enter_network
from conformance.servers.scratch import run_folder
from conformance.tally import count, problems
from conformance.tools.build import binary


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.node", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--keep", action="store_true", help="leave the node up at the end, also after a failure, until Ctrl-C")
    add("--json", type=report_file, metavar="FILE", help="write the phases and their counts to FILE")
    return parser


def main(words: Sequence[str]) -> int:
    """Runs the script and prints the table; 1 where a requirement is not met or there is no node, 130 for Ctrl-C."""
    options = arguments().parse_args(words)
    try:
        machine.check()
        with run_folder() as folder:
            return judged(folder, options)
    except (NodeError, ClusterError, OSError) as error:
        print(f"node: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def judged(folder: Path, options: argparse.Namespace) -> int:
    """The exit status of a run on a node that is gone afterwards; all that it found is said before the node goes."""
    say = progress()
    images = [contents.parts(folder), contents.coredns(folder), contents.subject(say)]
    with closing(Space(folder)) as space:
        enter_network(space.first)
        status = told(Node(folder, space, say), images, say, options.json)
        if options.keep:
            stay(space, folder)
        return status


def told(node: Node, images: Sequence[contents.Image], say: Say, file: Path | None) -> int:
    """Goes through the script, prints what it found or why it came to no end, and writes the JSON."""
    try:
        result = run(node, images, say)
    except (NodeError, ClusterError) as error:
        print(f"node: {error}", file=sys.stderr, flush=True)
        return 1
    print(terminal(result), flush=True)
    if file:
        file.write_text(json.dumps(document(result), indent=2) + "\n")
    return int(bool(result.faults))


def run(node: Node, images: Sequence[contents.Image], say: Say) -> Result:
    """Starts the parts of a node and goes through the script on it."""
    began = time.monotonic()
    node.start(images)
    script = Script(node, say, images[-1].name)
    script.run()
    look_ups, answers = script.look_ups(), {}
    for client, _ in script.threads():
        answers[client] = next(each.answers for each in script.clients if client.startswith(f"{each.name}/"))
    counts = count(script.phases, look_ups, answers)
    faults = [*script.faults, *problems(script.phases, counts)]
    return Result(script.phases, counts, script.remarks, faults, time.monotonic() - began)


def progress() -> Say:
    """Prints lines with the seconds since now."""
    began = time.monotonic()
    return lambda line: print(f"{time.monotonic() - began:6.1f} s  {line}", file=sys.stderr, flush=True)


def stay(space: Space, folder: Path) -> None:
    """Says how to look around, and waits for Ctrl-C."""
    kubectl = f"nsenter -t {space.first} -n {binary('kubectl')} --kubeconfig {folder}/kubeconfig"
    print(f"the node stays until Ctrl-C:\n  {kubectl} get pods -A\n  logs: {folder}", file=sys.stderr, flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    heed_signals()
    sys.exit(main(sys.argv[1:]))

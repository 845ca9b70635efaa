"""A Kubernetes API on loopback to try things with: `python -m conformance.cluster`."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from conformance.kubernetes.client import ClusterError
from conformance.kubernetes.cluster import Cluster, Etcd


@contextmanager
def running(controllers: bool) -> Iterator[Cluster]:
    """A cluster of its own, gone with all its objects when the block ends."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-cluster-")))
        etcd = Etcd(folder / "etcd")
        stack.callback(etcd.stop)
        cluster = Cluster(folder / "cluster", etcd, "cluster", controllers)
        stack.callback(cluster.stop)
        yield cluster


def main(words: Sequence[str]) -> int:
    """Runs a cluster until Ctrl-C or SIGTERM; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m conformance.cluster", description=main.__doc__)
    parser.add_argument("--controllers", action="store_true",
                        help="with kube-controller-manager, which makes Pods and EndpointSlices")  # fmt: skip
    controllers = parser.parse_args(words).controllers
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with running(controllers) as cluster:
            print(f"export KUBECONFIG={cluster.kubeconfig}", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        pass
    except (FileNotFoundError, ClusterError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

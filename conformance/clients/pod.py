"""The first process of a Pod sandbox: sets its namespaces up, hands its DNS sockets out, runs programs in them.

    unshare --net --mount --uts --pid --fork --kill-child -- python -m conformance.clients.pod FD FOLDER

FD is a Unix socket. What goes out first are the listening sockets, a datagram and a stream one for each of `ADDRESSES`;
then each line that comes in is a request, each line that goes out what became of it (`Request`, `Ran`). A new request
ends the program of the one before. When the socket is closed, this process ends, and with the first process of their
PID namespace the kernel ends all others.
Everything is done within the namespaces: the machine's own files, addresses and host name stay as they are.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

CLUSTER_DNS = "10.96.0.10"
"""The address kubelet gives as the cluster DNS."""

NODE_DNS = "192.0.2.53"
"""The address in the node's own resolv.conf."""

ADDRESSES = (CLUSTER_DNS, NODE_DNS)

POD_ADDRESSES = ("10.244.1.17", "fd00:10:244:1::17")
"""The Pod's own, of both families: AI_ADDRCONFIG counts any that is not a loopback address, so A and AAAA are asked."""

HOST_NAME = "client"

HOSTS = f"""\
# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
{POD_ADDRESSES[0]}\t{HOST_NAME}
{POD_ADDRESSES[1]}\t{HOST_NAME}
"""
"""/etc/hosts as kubelet writes it (pkg/kubelet/kubelet_pods.go, `managedHostsFileContent`)."""

NSSWITCH = "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"

CACHES = ("/run/nscd", "/run/unscd")
"""Folders with the sockets of the machine's name caches, which the C library would ask first."""

OUTPUT = 1 << 16
"""How many characters of a program's output are kept."""


@dataclass(frozen=True)
class Request:
    """A program to run with this resolv.conf; killed after `limit` seconds. `number` is told with what became of it."""

    number: int
    argv: list[str]
    conf: str
    limit: float


@dataclass(frozen=True)
class Ran:
    """What became of a program; `status` is negative when it was ended by a signal, as in `subprocess`."""

    number: int
    status: int
    output: str
    errors: str
    milliseconds: float


def listen() -> list[socket.socket]:
    """The DNS sockets: datagram, stream for each address in turn."""
    sockets = []
    for address in ADDRESSES:
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            sock = socket.socket(socket.AF_INET, kind)
            sock.bind((address, 53))
            if kind == socket.SOCK_STREAM:
                sock.listen()
            sockets.append(sock)
    return sockets


def set_up(folder: Path) -> None:
    """Addresses, host name and the files of /etc; raises `OSError`."""
    lines = ["link set lo up", *(f"address add {address}/32 dev lo" for address in (*ADDRESSES, POD_ADDRESSES[0]))]
    lines += [f"address add {POD_ADDRESSES[1]}/128 dev lo nodad"] if Path("/proc/net/if_inet6").exists() else []
    _do(["ip", "-batch", "-"], "\n".join(lines))
    socket.sethostname(HOST_NAME)
    for name, text in {"resolv.conf": "", "hosts": HOSTS, "nsswitch.conf": NSSWITCH}.items():
        (folder / name).write_text(text)
        _do(["mount", "--bind", str(folder / name), f"/etc/{name}"])
    for cache in CACHES:
        if Path(cache).is_dir():
            _do(["mount", "-t", "tmpfs", "none", cache])


def _do(argv: list[str], text: str = "") -> None:
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{argv[0]}: {(done.stderr.strip() or f'status {done.returncode}').splitlines()[0]}")


class Runner:
    """Runs one program at a time."""

    def __init__(self, control: socket.socket, folder: Path) -> None:
        self._control = control
        self._folder = folder
        self._running: tuple[subprocess.Popen[str], threading.Thread] | None = None

    def take(self, request: Request) -> None:
        """Starts a program; ends the one before if it still runs."""
        if self._running:
            process, waiting = self._running
            process.kill()
            waiting.join()
        (self._folder / "resolv.conf").write_text(request.conf)
        started = time.monotonic()
        try:
            process = subprocess.Popen(
                request.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=self._environment(), cwd=self._folder, text=True, errors="replace",
            )  # fmt: skip
        except OSError as error:
            self._tell(Ran(request.number, 127, "", str(error), 0))
            return
        waiting = threading.Thread(target=self._wait, args=(request, process, started))
        self._running = process, waiting
        waiting.start()

    def _environment(self) -> dict[str, str]:
        """Nothing of the machine's that a resolver would heed, such as LOCALDOMAIN, RES_OPTIONS or ~/.digrc."""
        return {"PATH": os.environ.get("PATH", ""), "HOME": str(self._folder), "LANG": "C"}

    def _wait(self, request: Request, process: subprocess.Popen[str], started: float) -> None:
        try:
            output, errors = process.communicate(timeout=request.limit)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
        milliseconds = (time.monotonic() - started) * 1000
        self._tell(Ran(request.number, process.returncode, output[:OUTPUT], errors[:OUTPUT], milliseconds))

    def _tell(self, ran: Ran) -> None:
        self._control.sendall(json.dumps(asdict(ran)).encode() + b"\n")


def main(number: int, folder: Path) -> None:
    """Serves requests until the socket is closed, then removes the folder; the end does not wait for a program."""
    control = socket.socket(fileno=number)
    set_up(folder)
    sockets = listen()
    socket.send_fds(control, [b"\n"], [sock.fileno() for sock in sockets])
    runner = Runner(control, folder)
    for line in control.makefile():
        runner.take(Request(**json.loads(line)))
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), Path(sys.argv[2]))
    except OSError as reason:
        sys.exit(str(reason))

"""python -m conformance.image.proof: what is in the image, and that it serves port 53 with what deploy/base grants it.

Each container runs by runc with the image's own files, in network and mount namespaces of the proof's own.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.ending import INTERRUPTED, heed_signals, run
from conformance.image.build import Image, image
from conformance.image.container import Container, pod_container, run_container, runtime_config, state
from conformance.image.programs import ImageError, need
from conformance.servers.namespaces import enter_own
from conformance.servers.scratch import run_folder
from conformance.wire.client import ask
from conformance.wire.question import parse_question

PORT = 53
PYTHON = "opt/pydns/bin/python3"
COREFILE = ".:53 {\n    errors\n    whoami\n}\n"
FIRST_PORTS = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
"""From which port on nobody needs a capability; a network namespace has its own."""

START_TIME = 20.0
"""Seconds a container has until it answers, or ends."""

UNWANTED = ("**/bin/gcc*", "**/bin/cc", "**/bin/ld", "**/bin/make", "**/bin/pip*", "**/*-packages/pip",
            "**/*-packages/setuptools", "run/secrets/*", "etc/pip.conf")  # fmt: skip
"""What a program needs in order to be built, and what the build was told of its machine."""

BIND, NOTHING = "0000000000000400", "0000000000000000"
"""Sets of capabilities: bit 10 is NET_BIND_SERVICE (capabilities(7))."""


@dataclass(frozen=True)
class Case:
    """One way to run the image, and what must become of it: it answers, or it says this and ends."""

    name: str
    change: Callable[[dict[str, Any]], None] = lambda security: None
    file_capability: bool = True
    first_port: int = 1024
    says: str = ""


CASES = (
    Case("as in deploy/base: no privileges are gained, one is added"),
    Case("allowPrivilegeEscalation: true", lambda security: security.update(allowPrivilegeEscalation=True)),
    Case("copied without file capabilities", file_capability=False, says="permission denied"),
    Case("copied without file capabilities, on a runtime that opens all ports", file_capability=False, first_port=0),
    Case(
        "no capability added: the kernel refuses the file (as CoreDNS's)",
        lambda security: security.update(capabilities={"drop": ["ALL"]}),
        says="operation not permitted",
    ),
)


def content(found: Image) -> list[str]:
    """What is wrong with the files and the config; nothing when all is right."""
    config = found.config
    unwanted = (path for pattern in UNWANTED for path in sorted(found.rootfs.glob(pattern)))
    wrong = [f"{path.relative_to(found.rootfs)} is in the image" for path in unwanted]
    if config["User"] != "65532:65532":
        wrong.append(f"it runs as {config['User']}, not 65532:65532")
    if config["Entrypoint"] != ["/opt/pydns/bin/pydns"]:
        wrong.append(f"its entry point is {config['Entrypoint']}")
    capable = [str(path.relative_to(found.rootfs)) for path in _capable(found.rootfs)]
    if capable != [PYTHON]:
        wrong.append(f"file capabilities have {capable}, not {PYTHON} alone")
    return wrong


def _capable(rootfs: Path) -> Iterator[Path]:
    for path in rootfs.rglob("*"):
        if path.is_file() and not path.is_symlink() and "security.capability" in os.listxattr(path):
            yield path


async def proven(case: Case, found: Image, folder: Path) -> list[str]:
    """Runs one case; what is wrong."""
    FIRST_PORTS.write_text(str(case.first_port))
    container = copy.deepcopy(pod_container())
    case.change(container["securityContext"])
    (folder / "coredns").mkdir(parents=True)
    (folder / "coredns/Corefile").write_text(COREFILE)
    files = {"/etc/coredns": folder / "coredns"}
    if not case.file_capability:
        files[f"/{PYTHON}"] = Path(shutil.copyfile(found.rootfs / PYTHON, folder / "python3"))
        files[f"/{PYTHON}"].chmod(0o755)
    with run_container(
        f"image-proof-{os.getpid()}", runtime_config(found, container, files), folder / "container"
    ) as running:
        return await _refused(running, case.says) if case.says else await _serving(running, rights(case))


def rights(case: Case) -> dict[str, str]:
    """What /proc/PID/status must say of the server."""
    security = copy.deepcopy(pod_container()["securityContext"])
    case.change(security)
    held = BIND if case.file_capability else NOTHING
    sets = {"CapBnd": BIND, "CapPrm": held, "CapEff": held, "CapInh": NOTHING, "CapAmb": NOTHING}
    return {"Uid": "65532", "Gid": "65532", "NoNewPrivs": str(int(not security["allowPrivilegeEscalation"])), **sets}


async def _serving(running: Container, expected: Mapping[str, str]) -> list[str]:
    """Faults of one that must answer, over UDP and TCP, and have the rights it was given and no more."""
    for transport in ("", " +tcp"):
        if not await _answered(running, transport):
            return [f"no reply{transport}; it says: {running.said[-500:]}"]
    process = Path(f"/proc/{state(running)['pid']}")
    lines = (line.partition(":") for line in (process / "status").read_text().splitlines())
    status = {key: {*value.split()} for key, _, value in lines}
    wrong = [f"{key} is {status[key]}, not {value}" for key, value in expected.items() if status[key] != {value}]
    if not any(_is_read_only_root(line) for line in (process / "mountinfo").read_text().splitlines()):
        wrong.append("its root file system can be written")
    return wrong


def _is_read_only_root(line: str) -> bool:
    """Of a line of /proc/PID/mountinfo: the fifth word is the place, the sixth has the options (proc(5))."""
    words = line.split()
    return words[4] == "/" and "ro" in words[5].split(",")


async def _answered(running: Container, transport: str) -> bool:
    question = parse_question(f"proof. A +timeout=1{transport}", ".")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + START_TIME
    while running.process.poll() is None and loop.time() < deadline:
        if await ask(question, PORT):
            return True
        await asyncio.sleep(0.05)
    return False


async def _refused(running: Container, says: str) -> list[str]:
    try:
        await asyncio.to_thread(running.process.wait, START_TIME)
    except subprocess.TimeoutExpired:
        return [f"it did not end; it says: {running.said[-500:]}"]
    return [] if says in running.said else [f"it does not say {says!r} but: {running.said[-500:]}"]


async def prove(found: Image, folder: Path) -> int:
    """Everything, a line each; how many lines are wrong."""
    faults = _told(f"content: user, entry point, one file capability, none of {', '.join(UNWANTED)}", content(found))
    for number, case in enumerate(CASES):
        expected = f"says {case.says!r} and ends" if case.says else "answers at port 53, UDP and TCP"
        faults += _told(f"{case.name}: {expected}", await proven(case, found, folder / str(number)))
    return faults


def _told(line: str, wrong: Sequence[str]) -> int:
    print(f"{'WRONG' if wrong else 'right'}  {line}", *(f"       {each}" for each in wrong), sep="\n", flush=True)
    return int(bool(wrong))


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    return argparse.ArgumentParser(
        prog="python -m conformance.image.proof",
        description="Runs the image as deploy/base says, by runc: user, capabilities, read-only root, port 53; and "
        "where its file capability was lost, or none is granted. Builds the image first. Needs root.",
    )


def main(words: Sequence[str]) -> int:
    """Status 1 when something is wrong or missing on this machine; 130 when it was interrupted."""
    arguments().parse_args(words)
    try:
        need("runc", "ip")
        found = image(lambda line: print(line, flush=True))
        enter_own()
        with run_folder() as folder:
            faults = run(prove(found, folder))
    except (ImageError, OSError) as error:
        print(f"image: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    lines = len(CASES) + 1
    print(f"{lines - faults} of {lines} right; {found.compressed / 1e6:.1f} MB compressed: {found.archive}")
    return int(faults > 0)


if __name__ == "__main__":
    heed_signals()
    sys.exit(main(sys.argv[1:]))

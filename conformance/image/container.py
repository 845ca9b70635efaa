"""A container of the image by runc, from what deploy/base says of it: user, capabilities, file system, arguments.

It is what containerd makes of a Pod's securityContext (pkg/cri/server, container_create_linux.go), less seccomp and
limits: bounding, permitted and effective capabilities, no inheritable and no ambient ones; no_new_privs where
allowPrivilegeEscalation is false. It shares the network namespace of who runs it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from conformance.image.build import ROOT, Image
from conformance.servers.processes import tied

DEPLOYMENT = ROOT / "deploy/base/deployment.yaml"

MOUNTS = (
    ("/proc", "proc", "proc", ("nosuid", "noexec", "nodev")),
    ("/dev", "tmpfs", "tmpfs", ("nosuid", "strictatime", "mode=755", "size=65536k")),
    ("/dev/shm", "tmpfs", "shm", ("nosuid", "noexec", "nodev", "mode=1777", "size=65536k")),
    ("/sys", "sysfs", "sysfs", ("nosuid", "noexec", "nodev", "ro")),
)
"""Target, type, source and options of what every container has."""

RUN = """
told=
trap told=yes TERM
runc "$1" run --bundle="$2" "$3" &
running=$!
while kill -0 "$running" 2>/dev/null; do
    [ -z "$told" ] || runc "$1" kill "$3" KILL 2>/dev/null
    sleep 0.05
done
"""
"""A shell's program: a container that is killed by SIGTERM, which runc passes on to a server that may not heed it yet.

It needs nobody else: runc removes the container and its cgroups when its process has ended.
"""


def pod_container() -> Any:
    """The container of deploy/base's Deployment."""
    (container,) = yaml.safe_load(DEPLOYMENT.read_text())["spec"]["template"]["spec"]["containers"]
    return container


def capabilities(security: Mapping[str, Any]) -> list[str]:
    """What a container keeps: what is added, since `drop` has ALL. Raises `ValueError` where it has not."""
    listed = security["capabilities"]
    if listed.get("drop") != ["ALL"]:
        raise ValueError("the container drops not ALL capabilities")
    return [f"CAP_{name}" for name in listed.get("add", ())]


def runtime_config(image: Image, container: Mapping[str, Any], files: Mapping[str, Path]) -> dict[str, Any]:
    """What runc is told (runtime-spec, config.md). `files` are bound into the container, read-only, by their place."""
    security, config = container["securityContext"], image.config
    kept = capabilities(security)
    binds = [{"destination": place, "type": "bind", "source": str(path), "options": ["rbind", "ro"]}
             for place, path in files.items()]  # fmt: skip
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": security["runAsUser"], "gid": security["runAsGroup"]},
            "args": [*config["Entrypoint"], *container["args"]],
            "env": config["Env"],
            "cwd": "/",
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), kept),
            "noNewPrivileges": not security["allowPrivilegeEscalation"],
        },
        "root": {"path": str(image.rootfs), "readonly": security["readOnlyRootFilesystem"]},
        "hostname": "pydns",
        "mounts": [*_mounts(), *binds],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]},
    }


def _mounts() -> list[dict[str, Any]]:
    return [{"destination": place, "type": kind, "source": source, "options": list(options)}
            for place, kind, source, options in MOUNTS]  # fmt: skip


@dataclass(frozen=True)
class Container:
    """A container that was started."""

    name: str
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> Path:
        """All that it and runc print."""
        return self.folder / "log"

    @property
    def said(self) -> str:
        """What it printed until now."""
        return self.log.read_text(errors="replace")


@contextmanager
def run_container(name: str, config: Mapping[str, Any], folder: Path) -> Iterator[Container]:
    """Runs a container until the block ends; everything of it is in `folder`."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    words = tied(["sh", "-c", RUN, "run", _root(folder), str(folder), name])
    with (folder / "log").open("wb") as output:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield Container(name, folder, process)
    finally:
        process.terminate()
        process.wait()


def state(container: Container) -> Any:
    """What runc says of it: `pid`, `status` …"""
    words = ["runc", _root(container.folder), "state", container.name]
    return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)


def _root(folder: Path) -> str:
    """The option that says where runc keeps what it knows."""
    return f"--root={folder / 'state'}"

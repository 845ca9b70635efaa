"""Builds real CoreDNS, etcd and Kubernetes components through the Go module proxy into a cache folder.

    python -m conformance.tools.build [PROGRAM…]

The cache is `$PYDNS_CONFORMANCE_CACHE`, by default `~/.cache/pydns-conformance` (XDG_CACHE_HOME is looked at). Each
program lies in a folder named after the hash of its go.sum, so a new version is built beside the old one. A program that
is there already is used with `PYDNS_CONFORMANCE_COREDNS=FILE` (likewise `…_ETCD`, `…_KUBE_APISERVER`).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from conformance.ending import INTERRUPTED, heed_signals
from conformance.servers.processes import tied

HERE = Path(__file__).parent
OLD = 86400.0
"""Seconds: no build takes a day."""

KUBERNETES_VERSION = "1.37.2"
KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kubectl", "kubelet", "kube-proxy", "kube-scheduler")


@dataclass(frozen=True)
class Tool:
    """A program: the folder of its Go module here, and the package to build."""

    module: str
    package: str
    ldflags: str = "-s -w"


def _kubernetes(name: str) -> Tool:
    major, minor, _ = KUBERNETES_VERSION.split(".")
    version = {"gitVersion": f"v{KUBERNETES_VERSION}", "gitMajor": major, "gitMinor": minor}
    flags = " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in version.items())
    return Tool("kubernetes", f"k8s.io/kubernetes/cmd/{name}", f"-s -w {flags}")


TOOLS = {
    "coredns": Tool("coredns", "github.com/coredns/coredns"),
    "etcd": Tool("etcd", "go.etcd.io/etcd/server/v3"),
    **{name: _kubernetes(name) for name in KUBERNETES},
}


def cache_folder() -> Path:
    """Where programs are kept, outside the repository."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "pydns-conformance"
    return Path(os.environ.get("PYDNS_CONFORMANCE_CACHE") or default).expanduser()


def variable(name: str) -> str:
    """The environment variable that names a program to use in place of a built one."""
    return f"PYDNS_CONFORMANCE_{name.upper().replace('-', '_')}"


def location(name: str) -> Path:
    """Where a program lies, or will lie once it is built. Raises `FileNotFoundError` where it is named and not there."""
    if given := os.environ.get(variable(name)):
        if not there(Path(given)):
            raise FileNotFoundError(f"{variable(name)} names {given}, and there is no such file")
        return Path(given).absolute()
    digest = hashlib.sha256((HERE / TOOLS[name].module / "go.sum").read_bytes()).hexdigest()[:12]
    return cache_folder() / f"{TOOLS[name].module}-{digest}" / name


def binary(name: str) -> Path:
    """A program that has been built; raises `FileNotFoundError` that says how to build it."""
    path = location(name)
    if not there(path):
        raise FileNotFoundError(
            f"{name} is not built; build it with: python -m conformance.tools.build {name}{_unreadable()}"
        )
    return path


def built(*names: str) -> bool:
    """Whether all these programs are there, and may be read."""
    return all(there(location(name)) for name in names)


def there(path: Path) -> bool:
    """Whether a path exists and its folders may be looked into, as another user's may not."""
    return os.path.exists(path)


def _unreadable() -> str:
    """A remark where the cache folder is another user's."""
    try:
        cache_folder().stat()
    except PermissionError:
        return f" ({cache_folder()} may not be read: PYDNS_CONFORMANCE_CACHE names another folder)"
    except OSError:
        pass
    return ""


def build(name: str) -> Path:
    """Builds a program unless it is there; a build that fails leaves nothing behind."""
    path = location(name)
    if there(path):
        print(f"{name}: {path}", flush=True)
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"{name}: building, the first time takes minutes …", flush=True)
    started = time.monotonic()
    remove_old(path.parent, f".{name}.*")
    unfinished = path.with_name(f".{name}.{os.getpid()}")
    try:
        subprocess.run(tied(_command(TOOLS[name], unfinished)), check=True, env=_environment())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    print(f"{name}: built in {time.monotonic() - started:.0f} s: {path}", flush=True)
    return path


def remove_old(folder: Path, pattern: str) -> None:
    """Removes what builds that were killed left behind; what is young may be at work."""
    for path in folder.glob(pattern):
        if time.time() - path.lstat().st_mtime > OLD:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _command(tool: Tool, output: Path) -> list[str]:
    go = ["go", "build", "-C", str(HERE / tool.module), "-mod=readonly", "-trimpath", "-buildvcs=false"]
    return [*go, f"-ldflags={tool.ldflags}", "-o", str(output.absolute()), tool.package]


def _environment() -> dict[str, str]:
    """The user's, without flags and workspaces that could change what is built."""
    return {**os.environ, "GOFLAGS": "", "GOWORK": "off", "CGO_ENABLED": "0", "GOTOOLCHAIN": "auto"}


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.tools.build",
        description="Builds real CoreDNS, etcd and Kubernetes components with Go; what is there is not built again.",
        epilog=f"They are kept in {cache_folder()} (PYDNS_CONFORMANCE_CACHE names another folder).",
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"{', '.join(TOOLS)} (default: all)")
    return parser


def main(names: list[str]) -> int:
    """Builds the named programs, all of them without names. Exit status 1 when something is missing or wrong."""
    names = arguments().parse_args(names).programs
    unknown = sorted(set(names) - set(TOOLS))
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(TOOLS)}", file=sys.stderr)
        return 1
    wanted = names or list(TOOLS)
    if not built(*wanted) and shutil.which("go") is None:
        print("Go is missing: install Go 1.26 or newer to build the reference servers.", file=sys.stderr)
        return 1
    try:
        for name in wanted:
            build(name)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"the build failed: {error}{_unreadable()}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    heed_signals()
    sys.exit(main(sys.argv[1:]))

"""Compiles the programs of programs/ into the suite's cache folder, each once for its sources and its compiler.

python -m conformance.clients.recipes [PROGRAM…]     # all of them, and what this machine lacks for the others
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.servers.processes import run
from conformance.setting import Skipped
from conformance.tools.build import cache_folder, remove_old, there

PROGRAMS = Path(__file__).parent / "programs"
UNFINISHED = ".clients-"
"""What the names of folders begin with in which something is made."""

BUILD_TIME = 600
"""Seconds a compiler has; the C compiler that brings musl with it compiles that first."""

ZIG = "0.17.1"
ZIG_HASHES = (
    "sha256:ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54",
    "sha256:b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e",
)
"""The package `ziglang` for Linux on x86_64 and aarch64: its C compiler builds against the musl it brings, 1.2.5."""

C_FLAGS = ("-O1", "-s", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True)
class Recipe:
    """How one program is compiled: its source, what names the compiler's version, and its command line.

    `command` is given the source and the file to write; `check` raises `Skipped` where the compiler is the wrong one.
    """

    source: str
    version: tuple[str, ...]
    command: Callable[[Path, Path], list[str]]
    check: Callable[[], None] = lambda: None
    environment: Mapping[str, str] = field(default_factory=dict)


def _glibc(source: Path, output: Path) -> list[str]:
    return ["gcc", *C_FLAGS, "-o", str(output), str(source), "-lresolv"]


def _musl(source: Path, output: Path) -> list[str]:
    return ["musl-gcc", "-static", *C_FLAGS, "-o", str(output), str(source)]


def _zig(source: Path, output: Path) -> list[str]:
    target = f"{platform.machine()}-linux-musl"
    return [str(zig()), "cc", "-target", target, *C_FLAGS, "-o", str(output), str(source)]


def _go(source: Path, output: Path) -> list[str]:
    return ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", str(output), str(source)]


def _java(source: Path, output: Path) -> list[str]:
    return ["javac", "-d", str(output), str(source)]


def check_glibc() -> None:
    """The C library of this machine is glibc, which Java, Node and Python's `socket` use, too."""
    name, version = platform.libc_ver()
    if name != "glibc":
        raise Skipped(f"the C library of this machine is {name or 'another one'} {version}, not glibc")


def _check_musl() -> None:
    version = musl_version()
    if version != "1.2.3":
        raise Skipped(f"the musl of musl-gcc here is {version}, not 1.2.3 (Debian 12's musl-tools)")


def musl_version() -> str:
    """The version of the installed musl, as its loader tells it."""
    for loader in Path("/lib").glob("ld-musl-*.so.1"):
        said = subprocess.run([loader], capture_output=True, text=True, check=False).stderr.split()
        return said[said.index("Version") + 1]
    return "not there"


RECIPES = {
    "glibc": Recipe("lookup.c", ("gcc", "--version"), _glibc, check_glibc),
    "musl-1.2.3": Recipe("lookup.c", ("musl-gcc", "--version"), _musl, _check_musl),
    "musl-1.2.5": Recipe("lookup.c", ("echo", ZIG), _zig),
    "go": Recipe("lookup.go", ("go", "version"), _go, environment={"CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"}),
    "java": Recipe("Lookup.java", ("javac", "-version"), _java, check_glibc),
    "steady-glibc": Recipe("steady.c", ("gcc", "--version"), _glibc, check_glibc),
    "steady-musl": Recipe("steady.c", ("musl-gcc", "--version"), _musl),
    "steady-musl-1.2.5": Recipe("steady.c", ("echo", ZIG), _zig),
}


def location(name: str) -> Path:
    """Where a program lies, or will lie once it is built; raises `Skipped` when its compiler is not there."""
    recipe = RECIPES[name]
    recipe.check()
    version = _run([*recipe.version], {})
    parts = f"{version}\0{C_FLAGS}\0{(PROGRAMS / recipe.source).read_text()}"
    return cache_folder() / f"clients-{name}-{hashlib.sha256(parts.encode()).hexdigest()[:12]}"


def build(name: str) -> Path:
    """The compiled program, or the folder of its classes; raises `Skipped` when it cannot be had on this machine."""
    path = location(name)
    if not there(path):
        _keep(path, lambda unfinished: _compile(RECIPES[name], unfinished))
    return path


def _compile(recipe: Recipe, output: Path) -> None:
    _run(recipe.command(PROGRAMS / recipe.source, output), recipe.environment)


def _keep(path: Path, make: Callable[[Path], None]) -> None:
    """Puts what `make` writes at its place when it is whole; whoever comes second finds it there.

    Raises `Skipped` where the cache folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_old(path.parent, f"{UNFINISHED}*")
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=UNFINISHED, ignore_cleanup_errors=True) as folder:
            make(Path(folder) / "made")
            if not path.exists():
                (Path(folder) / "made").replace(path)
    except OSError as error:
        raise Skipped(f"{path.name} cannot be kept in {path.parent}: {error.strerror or error}") from error


def zig() -> Path:
    """The zig program, installed into the cache folder the first time (100 MB to load); raises `Skipped`."""
    home = cache_folder() / f"ziglang-{ZIG}"
    if not there(home):
        _keep(home, _install_zig)
    return home / "ziglang" / "zig"


def _install_zig(home: Path) -> None:
    wanted = home.with_suffix(".txt")
    wanted.write_text(" ".join([f"ziglang=={ZIG}", *(f"--hash={each}" for each in ZIG_HASHES)]))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    _run([*pip, "--target", str(home), "--requirement", str(wanted)], {}, f"the installation of ziglang {ZIG}")


def _run(command: list[str], environment: Mapping[str, str], what: str = "") -> str:
    """What a compiler prints; raises `Skipped` with its last line when it is not there or fails."""
    program = what or Path(command[0]).name
    if shutil.which(command[0]) is None:
        raise Skipped(f"there is no {program}")
    own = {"TMPDIR": tempfile.gettempdir(), "ZIG_GLOBAL_CACHE_DIR": str(cache_folder() / f"zig-{ZIG}-cache")}
    variables = {**os.environ, **own, **environment}
    try:
        status, said = run(command, variables, BUILD_TIME)
    except subprocess.TimeoutExpired:
        raise Skipped(f"{program} was not done after {BUILD_TIME} s") from None
    if status:
        lines = said.strip().splitlines() or [f"status {status}"]
        raise Skipped(f"{program} fails: {lines[-1]}")
    return said


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.clients.recipes",
        description="Compiles the programs that look names up; what is there is not compiled again.",
        epilog=f"They are kept in {cache_folder()} (PYDNS_CONFORMANCE_CACHE names another folder).",
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"{', '.join(RECIPES)} (default: all)")
    return parser


def main(words: Sequence[str]) -> int:
    """Builds the named programs, all of them without names; status 1 when one cannot be built, 2 for wrong use."""
    parser = arguments()
    names = parser.parse_args(words).programs
    unknown = sorted(set(names) - set(RECIPES))
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(RECIPES)}")
    missing = 0
    for name in names or RECIPES:
        try:
            print(f"{name}: {build(name)}", flush=True)
        except Skipped as reason:
            print(f"{name}: not built: {reason}", flush=True)
            missing += 1
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

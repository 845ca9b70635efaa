"""The image that deploy/image/Dockerfile begins with, debian:bookworm-slim, made from Debian's packages.

It is debootstrap's smallest system less what the published image leaves out (debuerreotype's list for slim: manuals,
translations, documents but licences), with the same rules for packages that are added later.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from conformance.image.programs import run
from conformance.tools.build import cache_folder

SUITE = "bookworm"

LEFT_OUT = ("doc", "groff", "info", "lintian", "linda", "locale", "man")
"""Folders of /usr/share."""

KEPT = ("doc/*/copyright", "locale/locale.alias")

EMPTIED = ("dev", "var/cache/apt", "var/lib/apt/lists", "var/log")
"""Folders whose content is of the moment it was made in; a node fills /dev itself."""

OF_THE_MACHINE = ("etc/resolv.conf", "etc/hostname")

DPKG = "\n".join(
    [
        *(f"path-exclude /usr/share/{folder}/*" for folder in LEFT_OUT),
        *(f"path-include /usr/share/{pattern}" for pattern in KEPT),
        "",
    ]
)
"""For /etc/dpkg/dpkg.cfg.d, so that packages added later are stripped, too."""


def base_key() -> str:
    """What tells one base from another: how it is made, and for which processor."""
    parts = (SUITE, DPKG, *EMPTIED, *OF_THE_MACHINE, platform.machine())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def base(say: Callable[[str], None], log: Path) -> Path:
    """The base's files as a tar, made the first time, in a minute. Raises `ImageError`."""
    path = cache_folder() / f"image-base-{base_key()}.tar"
    if not path.exists():
        say(f"base: debootstrap {SUITE}, the first time takes a minute …")
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".image-base-") as folder:
            _make(Path(folder) / "rootfs", Path(folder) / "base.tar", log)
            (Path(folder) / "base.tar").replace(path)
    return path


def _make(rootfs: Path, tar: Path, log: Path) -> None:
    sources = _sources()
    run(["debootstrap", "--variant=minbase", SUITE, str(rootfs), *(sources[0].split()[1:2] if sources else ())], log)
    if sources:
        (rootfs / "etc/apt/sources.list").write_text("\n".join([*sources, ""]))
    strip(rootfs)
    run(["tar", "--create", "--numeric-owner", "--xattrs", f"--directory={rootfs}", f"--file={tar}", "."], log)


def _sources() -> list[str]:
    """Where this machine's apt has the suite and its updates from, as lines for sources.list; none on others."""
    if shutil.which("apt-get") is None:
        return []
    words = ["apt-get", "indextargets", "--format", "deb $(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages"]
    lines = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
    ours = {line for line in lines if line.split()[2].partition("-")[0] == SUITE and line.endswith(" main")}
    return sorted(ours, key=lambda line: line.split()[2])


def strip(rootfs: Path) -> None:
    """Takes out what the published slim image has not, and makes dpkg leave it out from now on."""
    share = rootfs / "usr/share"
    kept = {path for pattern in KEPT for path in share.glob(pattern)}
    for folder in LEFT_OUT:
        _empty(share / folder, kept)
    for folder in EMPTIED:
        _empty(rootfs / folder, set())
    for name in OF_THE_MACHINE:
        (rootfs / name).unlink(missing_ok=True)
    (rootfs / "etc/dpkg/dpkg.cfg.d/slim").write_text(DPKG)


def _empty(folder: Path, kept: set[Path]) -> None:
    """Removes all below a folder but what is kept and the way to it."""
    for place, folders, files in os.walk(folder, topdown=False):
        for path in {Path(place, name) for name in (*files, *folders)} - kept:
            if path.is_symlink() or not path.is_dir():
                path.unlink()
            elif not any(path.iterdir()):
                path.rmdir()

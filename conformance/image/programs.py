"""Programs of the machine that make and run images: what is missing is one clear error. Knows no image."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

PACKAGES = {"buildah": "buildah", "debootstrap": "debootstrap", "ip": "iproute2", "runc": "runc", "tar": "tar"}
"""The Debian package of each program."""

LINES = 15
"""How many of a failed program's last lines an error shows."""


class ImageError(Exception):
    """What is missing on this machine, or which step failed and with which last lines."""


def need(*programs: str) -> None:
    """Raises `ImageError` unless these programs are there and this is root, as owners of files and namespaces need."""
    if missing := [PACKAGES[each] for each in programs if shutil.which(each) is None]:
        raise ImageError(f"{', '.join(missing)} missing: apt-get install {' '.join(missing)}")
    if os.geteuid():
        raise ImageError("only root can build and run the image: its files have owners and capabilities")


def run(words: Sequence[str], log: Path | None = None) -> None:
    """Runs a step to its end; what it prints is appended to `log`. Raises `ImageError` with its last lines."""
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    said = done.stdout + done.stderr
    if log:
        with log.open("a") as output:
            output.write(said)
    if done.returncode:
        last = "\n".join(said.splitlines()[-LINES:])
        raise ImageError(f"{Path(words[0]).name} ends with status {done.returncode}:\n{last}")

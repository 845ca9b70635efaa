"""Programs of the machine that make and run images: what is missing is one clear error. Knows no image."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.servers.namespaces import enclosed, end

PACKAGES = {
    "buildah": "buildah",
    "debootstrap": "debootstrap",
    "ip": "iproute2",
    "runc": "runc",
    "setpriv": "util-linux",
    "tar": "tar",
    "unshare": "util-linux",
}
"""The Debian package of each program."""

LINES = 15
"""How many of a failed program's last lines an error shows."""


class ImageError(Exception):
    """What is missing on this machine, or which step failed and with which last lines."""


def need(*programs: str) -> None:
    """Raises `ImageError` unless these programs are there and this is root, as owners of files and namespaces need."""
    if missing := list(dict.fromkeys(PACKAGES[each] for each in programs if shutil.which(each) is None)):
        raise ImageError(f"{', '.join(missing)} missing: apt-get install {' '.join(missing)}")
    if os.geteuid():
        raise ImageError("only root can build and run the image: its files have owners and capabilities")


def run(words: Sequence[str], log: Path, temporary: Path | None = None) -> None:
    """Runs a step to its end, what it prints appended to `log`. Raises `ImageError` with its last lines.

    What it mounts and starts is gone afterwards, however it or this process ends. `temporary` is for its own files.
    """
    environment = {**os.environ, **({"TMPDIR": str(temporary)} if temporary else {})}
    with log.open("ab") as output:
        process = subprocess.Popen(
            enclosed(words), stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
            start_new_session=True,
        )  # fmt: skip
    try:
        status = process.wait()
    finally:
        end(process)
    if status:
        last = "\n".join(log.read_text(errors="replace").splitlines()[-LINES:])
        raise ImageError(f"{Path(words[0]).name} ends with status {status}:\n{last}")

"""The image of this checkout, by deploy/image/Dockerfile itself: buildah carries out its steps in a chroot.

It is kept in the suite's cache folder under the hash of all that it is made of, as an archive and unpacked, and found
there again. No registry of images is asked: what the Dockerfile begins with is made by `base`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from conformance.image.base import base, base_key
from conformance.image.index import secrets
from conformance.image.programs import need, run
from conformance.image.unpack import blob, manifest, unpack
from conformance.tools.build import OLD, cache_folder

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy/image/Dockerfile"
PARTS = (".dockerignore", "deploy/image", "pydns", "requirements.lock")
"""All of the checkout that is in the image, or says how it is made."""

NAME = "docker.io/library/pydns:dev"
"""The image's name in its archive: what deploy/base asks for."""

BASE = "docker.io/library/debian:bookworm-slim"
SCRATCH = "FROM scratch\nADD base.tar /\n"


@dataclass(frozen=True)
class Image:
    """A built image: its archive (OCI image layout in a tar, layers compressed), and its files, with capabilities."""

    archive: Path
    rootfs: Path

    @property
    def config(self) -> Any:
        """What its config says: Env, Entrypoint, User …"""
        with tarfile.open(self.archive) as archive:
            return json.loads(blob(archive, manifest(archive)["config"]["digest"]).read())["config"]

    @property
    def compressed(self) -> int:
        """Octets of its layers as they are pulled."""
        with tarfile.open(self.archive) as archive:
            return sum(layer["size"] for layer in manifest(archive)["layers"])

    @property
    def unpacked(self) -> int:
        """Octets of its files."""
        return sum(path.lstat().st_size for path in self.rootfs.rglob("*") if path.is_file() and not path.is_symlink())


def image(say: Callable[[str], None] = print) -> Image:
    """The image of this checkout, built unless it is there (2 minutes the first time). Raises `ImageError`."""
    folder = cache_folder() / f"image-{key()}"
    if not folder.exists():
        need("buildah", "debootstrap", "setpriv", "tar", "unshare")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone():
            if not folder.exists():
                _build(folder, say)
    return Image(folder / "pydns.tar", folder / "rootfs")


def key() -> str:
    """What tells one image from another: the content of all that it is made of."""
    found = hashlib.sha256(base_key().encode())
    for path in sorted(path for part in PARTS for path in _files(ROOT / part)):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{path.relative_to(ROOT)} {content}\n".encode())
    return found.hexdigest()[:12]


def _files(path: Path) -> Iterator[Path]:
    inside = (each for each in path.rglob("*") if each.is_file() and "__pycache__" not in each.parts)
    return inside if path.is_dir() else iter([path])


@contextmanager
def _alone() -> Iterator[IO[str]]:
    """Two builds at once would make the same thing twice."""
    with (cache_folder() / "image.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def _build(folder: Path, say: Callable[[str], None]) -> None:
    """A build that fails leaves its log beside the folder and nothing else."""
    remove_old(folder.parent)
    log = folder.with_suffix(".log")
    log.unlink(missing_ok=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".image-") as name:
        made = Path(name) / "made"
        made.mkdir()
        _import_base(base(say, log), Path(name), log)
        say(f"image: the steps of {DOCKERFILE.relative_to(ROOT)}; log: {log}")
        _carry_out(Path(name), log, made / "pydns.tar")
        unpack(made / "pydns.tar", made / "rootfs", log)
        made.replace(folder)
    say(f"image: built in {time.monotonic() - started:.0f} s: {folder}")


def remove_old(cache: Path) -> None:
    """Images of earlier checkouts, 400 MB each, and what killed builds left: this is the only one that lives."""
    for path in (*cache.glob(".image-*"), *cache.glob("image-*")):
        old = time.time() - path.stat().st_mtime > OLD and base_key() not in path.name
        if old or path.name.startswith("."):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _buildah(folder: Path, *words: str) -> list[str]:
    """With a store of its own, which needs no driver of the kernel."""
    return ["buildah", f"--root={folder / 'store'}", f"--runroot={folder / 'run'}", "--storage-driver=vfs", *words]


def _import_base(tar: Path, folder: Path, log: Path) -> None:
    context = folder / "base"
    context.mkdir()
    (context / "Dockerfile").write_text(SCRATCH)
    (context / "base.tar").hardlink_to(tar)
    run(_buildah(folder, "build", "--quiet", "--layers=false", f"--tag={BASE}", str(context)), log, folder)


def _carry_out(folder: Path, log: Path, archive: Path) -> None:
    """All stages, no image asked of a registry; the last one is written as an archive."""
    options = ["--isolation=chroot", "--pull-never", "--layers=false", "--no-hosts", *secrets(folder)]
    run(_buildah(folder, "build", *options, f"--tag={NAME}", f"--file={DOCKERFILE}", str(ROOT)), log, folder)
    run(_buildah(folder, "push", "--quiet", NAME, f"oci-archive:{archive}:{NAME}"), log, folder)

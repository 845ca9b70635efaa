"""From an image's archive to a folder of its files, as a container runtime unpacks them: owners, modes, capabilities.

Knows the OCI image layout (image-spec: index.json, manifests, layers) and its whiteouts; not what is in an image.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import IO, Any

from conformance.image.programs import run

WHITEOUT = ".wh."
"""An empty file of this prefix takes away what a lower layer has (image-spec, layer.md)."""

OPAQUE = ".wh..wh..opq"
"""Takes away all that lower layers have in its folder."""


def blob(archive: tarfile.TarFile, digest: str) -> IO[bytes]:
    """One of an archive's blobs."""
    found = archive.extractfile(f"blobs/{digest.replace(':', '/')}")
    assert found
    return found


def manifest(archive: tarfile.TarFile) -> Any:
    """The manifest of an archive's only image."""
    index = archive.extractfile("index.json")
    assert index
    (entry,) = json.loads(index.read())["manifests"]
    return json.loads(blob(archive, entry["digest"]).read())


def unpack(archive: Path, rootfs: Path, log: Path) -> None:
    """Puts an image's layers on each other, complaints appended to `log`. Raises `ImageError`."""
    rootfs.mkdir()
    with tarfile.open(archive) as opened, tempfile.TemporaryDirectory(dir=rootfs.parent) as folder:
        for layer in manifest(opened)["layers"]:
            path = Path(folder) / "layer.tar.gz"
            with path.open("wb") as output:
                shutil.copyfileobj(blob(opened, layer["digest"]), output)
            _take_away(path, rootfs)
            _put(path, rootfs, log)


def _take_away(layer: Path, rootfs: Path) -> None:
    with tarfile.open(layer) as opened:
        names = [Path(name) for name in opened.getnames()]
    for name in names:
        if name.name == OPAQUE:
            for each in (rootfs / name.parent).iterdir():
                _remove(each)
        elif name.name.startswith(WHITEOUT):
            _remove(rootfs / name.parent / name.name.removeprefix(WHITEOUT))


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def _put(layer: Path, rootfs: Path, log: Path) -> None:
    kept = ["--numeric-owner", "--same-owner", "--same-permissions", "--xattrs", "--xattrs-include=*"]
    run(["tar", "--extract", *kept, f"--exclude={WHITEOUT}*", f"--directory={rootfs}", f"--file={layer}"], log)

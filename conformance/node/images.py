"""Images as tar files that containerd imports: one layer, with file capabilities. No registry, no engine.

Knows no node and no server. Owners are root's, as in any image; what a file's capabilities are, only the caller says.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import struct
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""The names that images have for what `uname -m` says."""

CAPABILITY_XATTR = "security.capability"
NET_BIND_SERVICE_XATTR = struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0)
"""`cap_net_bind_service=+ep` as the extended attribute of a file (capabilities(7): version 2, the effective bit)."""


class Layer:
    """A file tree, written down as a tar file while it is described; the folders above a path come by themselves."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._tar = tarfile.open(file, "w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self._folders: set[PurePosixPath] = {PurePosixPath("/")}

    def folder(self, path: str, mode: int = 0o755) -> None:
        """An empty folder, unless it is there."""
        self._parents(PurePosixPath(path))
        if PurePosixPath(path) not in self._folders:
            self._folders.add(PurePosixPath(path))
            self._add(path, tarfile.DIRTYPE, mode)

    def text(self, path: str, content: str) -> None:
        """A file with these lines."""
        self._parents(PurePosixPath(path))
        self._add(path, tarfile.REGTYPE, 0o644, content.encode())

    def link(self, path: str, target: str) -> None:
        """A symbolic link."""
        self._parents(PurePosixPath(path))
        self._add(path, tarfile.SYMTYPE, 0o777, target=target)

    def copy(self, source: Path, path: str, capability: bytes = b"") -> None:
        """A program or library of this machine, where links lead to; `capability` is its extended attribute."""
        self._parents(PurePosixPath(path))
        self._add(path, tarfile.REGTYPE, 0o755, source.read_bytes(), capability=capability)

    def close(self) -> None:
        """Writes the end of the tar file."""
        self._tar.close()

    def _parents(self, path: PurePosixPath) -> None:
        for parent in reversed(path.parents):
            self.folder(str(parent))

    def _add(
        self, path: str, kind: bytes, mode: int, data: bytes = b"", *, target: str = "", capability: bytes = b""
    ) -> None:
        entry = tarfile.TarInfo(path.lstrip("/"))
        entry.type, entry.mode, entry.size, entry.linkname = kind, mode, len(data), target
        if capability:
            entry.pax_headers = {f"SCHILY.xattr.{CAPABILITY_XATTR}": capability.decode("latin-1")}
        self._tar.addfile(entry, io.BytesIO(data))


@dataclass(frozen=True)
class Config:
    """How an image is run."""

    entrypoint: Sequence[str]
    user: str = "0:0"
    environment: Mapping[str, str] = field(default_factory=dict)

    def document(self, layer: str) -> bytes:
        """The image's configuration, whose only layer has this SHA-256."""
        machine = platform.machine()
        config = {
            "architecture": ARCHITECTURES.get(machine, machine),
            "os": "linux",
            "config": {
                "Entrypoint": list(self.entrypoint),
                "User": self.user,
                "Env": [f"{name}={value}" for name, value in self.environment.items()],
                "WorkingDir": "/",
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer}"]},
        }
        return json.dumps(config).encode()


def archive(file: Path, name: str, layer: Path, config: Config) -> None:
    """Writes an image in the form of `docker save`, under a name with its registry and tag."""
    digest = hashlib.sha256(layer.read_bytes()).hexdigest()
    document = config.document(digest)
    described = f"{hashlib.sha256(document).hexdigest()}.json"
    manifest = [{"Config": described, "RepoTags": [name], "Layers": [f"{digest}.tar"]}]
    with tarfile.open(file, "w") as tar:
        tar.add(layer, arcname=f"{digest}.tar")
        for path, data in ((described, document), ("manifest.json", json.dumps(manifest).encode())):
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))

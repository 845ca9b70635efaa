"""Images of a node: what containerd imports, and that a file's capability is in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from conformance.node.contents import libraries
from conformance.node.images import NET_BIND_SERVICE_XATTR, Config, Layer, archive

PROGRAM = b"\x7fELF and so on"


def made(folder: Path) -> tuple[Path, Path]:
    """A layer and the image around it."""
    program = folder / "program"
    program.write_bytes(PROGRAM)
    layer = Layer(folder / "layer")
    layer.folder("/tmp", 0o1777)
    layer.text("/etc/passwd", "root:x:0:0::/:/bin/sh\n")
    layer.copy(program, "/usr/bin/server", NET_BIND_SERVICE_XATTR)
    layer.link("/usr/bin/sh", "server")
    layer.close()
    archive(folder / "image.tar", "localhost/try:1", layer.file, Config(["/usr/bin/server"], "65532:65532", {"A": "b"}))
    return layer.file, folder / "image.tar"


def test_layer_has_folders_files_links_and_their_modes(tmp_path: Path) -> None:
    layer, _ = made(tmp_path)
    with tarfile.open(layer) as tar:
        found = [(entry.name, entry.type, entry.mode, entry.uid) for entry in tar]
        assert found == [
            ("tmp", tarfile.DIRTYPE, 0o1777, 0),
            ("etc", tarfile.DIRTYPE, 0o755, 0),
            ("etc/passwd", tarfile.REGTYPE, 0o644, 0),
            ("usr", tarfile.DIRTYPE, 0o755, 0),
            ("usr/bin", tarfile.DIRTYPE, 0o755, 0),
            ("usr/bin/server", tarfile.REGTYPE, 0o755, 0),
            ("usr/bin/sh", tarfile.SYMTYPE, 0o777, 0),
        ]
        program = tar.extractfile("usr/bin/server")
        assert program is not None
        assert program.read() == PROGRAM
        assert tar.getmember("usr/bin/sh").linkname == "server"


def test_capability_is_what_setcap_writes(tmp_path: Path) -> None:
    """linux/capability.h: revision 2 with the effective bit, permitted and inheritable of each half, little endian."""
    layer, _ = made(tmp_path)
    with tarfile.open(layer) as tar:
        found = tar.getmember("usr/bin/server").pax_headers["SCHILY.xattr.security.capability"]
        others = [entry.name for entry in tar if entry.pax_headers and entry.name != "usr/bin/server"]
    assert found.encode("utf-8", "surrogateescape").hex() == "0100000200040000000000000000000000000000"
    assert others == []


def test_capability_survives_where_a_tar_file_is_unpacked(tmp_path: Path) -> None:
    if os.geteuid() or shutil.which("tar") is None:
        pytest.skip("only root sets capabilities, here by GNU tar")
    layer, _ = made(tmp_path)
    (tmp_path / "root").mkdir()
    options = ["--xattrs", "--xattrs-include=security.*", f"--directory={tmp_path / 'root'}"]
    subprocess.run(["tar", *options, "-xf", str(layer)], check=True)
    assert os.getxattr(tmp_path / "root/usr/bin/server", "security.capability") == NET_BIND_SERVICE_XATTR


def test_libraries_of_a_program_are_its_loader_and_what_that_finds(tmp_path: Path) -> None:
    found = [Path(path).name for path in libraries(Path("/bin/sh").resolve())]
    assert any(name.startswith("ld-") for name in found)
    assert any(name.startswith("libc.so") for name in found)
    (tmp_path / "text").write_text("no program")
    assert not list(libraries(tmp_path / "text"))


def test_image_names_its_parts_by_their_digests(tmp_path: Path) -> None:
    layer, image = made(tmp_path)
    digest = hashlib.sha256(layer.read_bytes()).hexdigest()
    with tarfile.open(image) as tar:
        files = {entry.name: entry for entry in tar}
        [manifest] = json.loads(read(tar, "manifest.json"))
        config = read(tar, manifest["Config"])
    assert manifest["RepoTags"] == ["localhost/try:1"]
    assert manifest["Layers"] == [f"{digest}.tar"]
    assert set(files) == {f"{digest}.tar", manifest["Config"], "manifest.json"}
    assert manifest["Config"] == f"{hashlib.sha256(config).hexdigest()}.json"
    assert json.loads(config)["rootfs"]["diff_ids"] == [f"sha256:{digest}"]
    assert json.loads(config)["config"] == {
        "Entrypoint": ["/usr/bin/server"], "User": "65532:65532", "Env": ["A=b"], "WorkingDir": "/"
    }  # fmt: skip


def read(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    assert file is not None
    return file.read()

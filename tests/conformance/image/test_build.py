"""The image's parts: what the base leaves out, what pip is told, and how layers come onto each other."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from conformance.image import build
from conformance.image.__main__ import sizes
from conformance.image.base import strip
from conformance.image.build import Image
from conformance.image.index import _settings
from conformance.image.programs import ImageError, need, run
from conformance.image.unpack import unpack

CAPABILITY = b"\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
"""security.capability: version 2, effective, bit 10 (CAP_NET_BIND_SERVICE) permitted; capabilities(7)."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")


def test_the_base_has_no_manuals_and_no_translations_but_licences(tmp_path: Path) -> None:
    stays = ("usr/share/doc/bash/copyright", "usr/share/locale/locale.alias", "usr/share/zoneinfo/UTC", "var/log")
    goes = ("usr/share/doc/bash/README", "usr/share/man/man1/bash.1", "var/log/apt/term.log", "etc/resolv.conf")
    for name in (*stays[:3], *goes, "etc/dpkg/dpkg.cfg.d/excludes"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "usr/share/doc/sh").symlink_to("bash")
    strip(tmp_path)
    assert all((tmp_path / name).exists() for name in stays)
    assert not any((tmp_path / name).exists() for name in (*goes, "usr/share/doc/sh", "usr/share/man/man1"))
    rules = (tmp_path / "etc/dpkg/dpkg.cfg.d/slim").read_text().splitlines()
    assert rules.index("path-exclude /usr/share/doc/*") < rules.index("path-include /usr/share/doc/*/copyright")


def test_pip_is_told_the_settings_of_this_machine_and_the_environment_wins() -> None:
    config = "global.cert='/etc/ca.crt'\nglobal.index-url='one'\n:env:.index-url='two'\n:env:.default-timeout='180'\n"
    assert _settings(config) == {"cert": "/etc/ca.crt", "index-url": "two", "timeout": "180"}


def test_another_source_is_another_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in build.PARTS:
        (tmp_path / part).mkdir(parents=True) if part in ("pydns", "deploy/image") else (tmp_path / part).touch()
    (tmp_path / "pydns/cli.py").write_text("one")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    before = build.key()
    (tmp_path / "pydns/__pycache__").mkdir()
    (tmp_path / "pydns/__pycache__/cli.pyc").touch()
    assert build.key() == before
    (tmp_path / "pydns/cli.py").write_text("two")
    assert build.key() != before


def _layer(*files: tuple[str, dict[str, str]]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", format=tarfile.PAX_FORMAT) as layer:
        for name, headers in files:
            member = tarfile.TarInfo(name)
            member.uid, member.mode, member.pax_headers = 65532, 0o755, headers
            layer.addfile(member)
    return content.getvalue()


def _archive(path: Path, *layers: bytes) -> Path:
    """An OCI archive of these layers."""
    with tarfile.open(path, "w") as archive:

        def add(name: str, octets: bytes) -> None:
            member = tarfile.TarInfo(name)
            member.size = len(octets)
            archive.addfile(member, io.BytesIO(octets))

        def blob(octets: bytes) -> dict[str, object]:
            digest = hashlib.sha256(octets).hexdigest()
            add(f"blobs/sha256/{digest}", octets)
            return {"digest": f"sha256:{digest}", "size": len(octets)}

        config = blob(json.dumps({"config": {"User": "65532:65532"}}).encode())
        manifest = blob(json.dumps({"config": config, "layers": [blob(each) for each in layers]}).encode())
        add("index.json", json.dumps({"manifests": [manifest]}).encode())
    return path


@as_root
def test_layers_take_away_and_keep_owners_and_capabilities(tmp_path: Path) -> None:
    header = {"SCHILY.xattr.security.capability": CAPABILITY.decode()}
    lower = _layer(("opt/python3", header), ("log/a", {}), ("log/b", {}), ("tmp/old", {}))
    upper = _layer(("log/.wh.a", {}), ("tmp/.wh..wh..opq", {}), ("tmp/new", {}))
    image = Image(_archive(tmp_path / "a.tar", lower, upper), tmp_path / "rootfs")
    unpack(image.archive, image.rootfs, tmp_path / "log")
    found = {str(path.relative_to(image.rootfs)) for path in image.rootfs.rglob("*") if path.is_file()}
    assert found == {"opt/python3", "log/b", "tmp/new"}
    assert os.getxattr(image.rootfs / "opt/python3", "security.capability") == CAPABILITY
    assert (image.rootfs / "opt/python3").stat().st_uid == 65532
    assert image.config == {"User": "65532:65532"}
    assert image.compressed == len(lower) + len(upper)


def test_a_large_image_is_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = Image(_archive(tmp_path / "a.tar", _layer(("a", {}))), tmp_path)
    assert "within 80 MB" in sizes(image)
    monkeypatch.setattr("conformance.image.__main__.LARGEST", 10)
    assert "MORE THAN" in sizes(image)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageError, match="buildah, debootstrap missing: apt-get install buildah debootstrap"):
        need("buildah", "debootstrap")


def test_a_step_that_fails_is_told_with_its_last_lines(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="sh ends with status 3:\nno such thing"):
        run(["sh", "-c", "echo no such thing >&2; exit 3"], tmp_path / "log")
    assert (tmp_path / "log").read_text() == "no such thing\n"

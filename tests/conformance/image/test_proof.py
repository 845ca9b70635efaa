"""The proof's judgement: of the image's content, of what runc is told, of the rights a server must have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from conformance.image.build import Image
from conformance.image.container import capabilities, pod_container, runtime_config
from conformance.image.proof import CASES, PYTHON, Case, _is_read_only_root, content, rights
from tests.conformance.image.test_build import CAPABILITY, as_root

CONFIG = {"Entrypoint": ["/opt/pydns/bin/pydns"], "User": "65532:65532", "Env": ["PATH=/opt/pydns/bin"]}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Image:
    """An image with one file, and a config as it must be."""
    monkeypatch.setattr(Image, "config", CONFIG)
    (tmp_path / PYTHON).parent.mkdir(parents=True)
    (tmp_path / PYTHON).touch()
    return Image(tmp_path / "a.tar", tmp_path)


@as_root
def test_content_that_is_right(made: Image) -> None:
    os.setxattr(made.rootfs / PYTHON, "security.capability", CAPABILITY)
    assert content(made) == []


@as_root
@pytest.mark.parametrize(
    "name", ["usr/bin/gcc-12", "opt/pydns/bin/pip3", "usr/lib/python3/dist-packages/pip/x", "run/secrets/ca.crt"]
)
def test_content_that_must_not_be_there(made: Image, name: str) -> None:
    os.setxattr(made.rootfs / PYTHON, "security.capability", CAPABILITY)
    (made.rootfs / name).parent.mkdir(parents=True, exist_ok=True)
    (made.rootfs / name).touch()
    (fault,) = content(made)
    assert fault.endswith("is in the image")


@as_root
def test_another_user_or_entry_point_and_a_lost_capability_are_faults(
    made: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "config", {**CONFIG, "User": "", "Entrypoint": None})
    assert content(made) == [
        "it runs as , not 65532:65532",
        "its entry point is None",
        "file capabilities have [], not opt/pydns/bin/python3 alone",
    ]


def test_runc_is_told_what_the_deployment_says(made: Image, tmp_path: Path) -> None:
    config = runtime_config(made, pod_container(), {"/etc/coredns": tmp_path})
    process = config["process"]
    assert process["args"] == ["/opt/pydns/bin/pydns", "-conf", "/etc/coredns/Corefile"]
    assert process["user"] == {"uid": 65532, "gid": 65532}
    assert process["noNewPrivileges"] is True
    kept = ["CAP_NET_BIND_SERVICE"]
    assert process["capabilities"] == {"bounding": kept, "effective": kept, "permitted": kept}
    assert config["root"] == {"path": str(made.rootfs), "readonly": True}
    assert "network" not in {each["type"] for each in config["linux"]["namespaces"]}
    assert config["mounts"][-1]["destination"] == "/etc/coredns"


def test_capabilities_are_those_added_to_none() -> None:
    assert capabilities({"capabilities": {"drop": ["ALL"]}}) == []
    with pytest.raises(ValueError, match="drops not ALL"):
        capabilities({"capabilities": {"add": ["NET_BIND_SERVICE"]}})


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (CASES[0], {"NoNewPrivs": "1", "CapPrm": "0000000000000400", "CapBnd": "0000000000000400"}),
        (CASES[1], {"NoNewPrivs": "0", "CapEff": "0000000000000400", "CapAmb": "0000000000000000"}),
        (Case("lost", file_capability=False), {"CapPrm": "0000000000000000", "CapBnd": "0000000000000400"}),
    ],
)
def test_rights_of_the_server(case: Case, expected: dict[str, Any]) -> None:
    assert rights(case).items() >= expected.items()


@pytest.mark.parametrize(
    ("line", "read_only"),
    [
        ("573 558 254:0 /a/rootfs / ro,relatime - ext4 /dev/vda rw", True),
        ("573 558 254:0 /a/rootfs / rw,relatime - ext4 /dev/vda rw", False),
        ("573 558 254:0 /a/rootfs /etc ro,relatime - ext4 /dev/vda rw", False),
    ],
)
def test_a_read_only_root_is_seen_in_mountinfo(line: str, read_only: bool) -> None:
    assert _is_read_only_root(line) is read_only

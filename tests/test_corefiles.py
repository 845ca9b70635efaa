"""Corefiles as people have them start unchanged."""

from pathlib import Path

import pytest

from pydns import build
from pydns.http import HttpListeners
from pydns.metrics import Metrics
from pydns.plugin import Process
from pydns.server.instance import Instance

FOLDER = Path(__file__).parent / "corefiles"
EXAMPLE = Path(__file__).parent.parent / "Corefile.example"
COREFILES = [EXAMPLE, *sorted(FOLDER.glob("*.corefile"))]


@pytest.mark.parametrize("path", COREFILES, ids=lambda path: path.stem)
def test_it_starts_unchanged(path: Path) -> None:
    assert built(path).listeners


def built(path: Path) -> Instance:
    process = Process(metrics=Metrics(), http=HttpListeners(), corefile=str(path))
    return build.build(build.load(str(path)), process)


@pytest.mark.parametrize(
    ("name", "served"),
    [
        ("kubeadm", [".:53"]),
        ("aks", [".:53", "partner.example.:53"]),
        ("aks_empty", [".:53"]),
        ("imports", [".:53", "example.org.:53", "test.:53"]),
        ("operator", [".:5353", "example.com.:5353"]),
        ("snippets", [".:53", "cluster.local.:53", "example.net.:53", "example.org.:53"]),
        (
            "split_reverse_zones",
            [
                ".:53",
                "10.in-addr.arpa.:53",
                "244.10.in-addr.arpa.:53",
                "96.10.in-addr.arpa.:53",
                "cluster.local.:53",
                "corp.example.:53",
            ],
        ),
        ("blocks_and_ports", [".:1053", ".:2053", "cluster.local.:53", "in-addr.arpa.:53", "ip6.arpa.:53"]),
        ("bind_addresses", [".:53", ".:53"]),
    ],
)
def test_what_it_serves(name: str, served: list[str]) -> None:
    corefile = build.load(str(FOLDER / f"{name}.corefile"))
    assert sorted(f"{key.zone}:{key.port}" for block in corefile.blocks for key in block.keys) == served


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("kubeadm", [("", 53)]),
        ("blocks_and_ports", [("", 53), ("", 1053), ("", 2053)]),
        ("bind_addresses", [("10.0.0.2", 53), ("192.168.0.2", 53), ("fd00::2", 53)]),
        ("nodelocaldns", [("10.96.0.10", 53), ("169.254.20.10", 53)]),
    ],
)
def test_where_it_listens(name: str, addresses: list[tuple[str, int]]) -> None:
    assert sorted(built(FOLDER / f"{name}.corefile").listeners) == addresses

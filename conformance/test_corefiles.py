"""Corefiles as people have them (tests/corefiles, and Corefile.example) start in CoreDNS; pydns must start, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.servers import subjects
from conformance.servers.loopback import Loopback
from conformance.tools.build import built

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "corefiles"
COREFILES = [ROOT / "Corefile.example", *sorted(FOLDER.glob("*.corefile"))]


@pytest.mark.parametrize("subject", ["coredns", "pydns"])
@pytest.mark.parametrize("corefile", COREFILES, ids=lambda path: path.stem)
async def test_it_starts(corefile: Path, subject: str, tmp_path: Path) -> None:
    if subject == "coredns" and not built("coredns"):
        pytest.skip("CoreDNS is not built")
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.99\n")
    loopback = Loopback(tmp_path / "resolv.conf")
    for path in FOLDER.glob("*/*"):
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        (tmp_path / path.relative_to(FOLDER)).write_text(loopback.rewrite(path.read_text()))
    (tmp_path / "Corefile").write_text(loopback.rewrite(corefile.read_text()))
    port = loopback.port(5353 if corefile.stem == "operator" else 53)
    async with subjects.start(subject, tmp_path / "Corefile", port):
        pass

"""The command that runs a cluster."""

from pathlib import Path

import pytest

from conformance import cluster


def test_without_the_programs_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYDNS_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert cluster.main([]) == 1
    said = "etcd is not built; build it with: python -m conformance.tools.build etcd\n"
    assert capsys.readouterr() == ("", said)

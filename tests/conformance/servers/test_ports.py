"""Ports that nobody uses."""

from __future__ import annotations

import socket

import pytest

from conformance.servers import ports


def test_when_none_is_left_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as used:
        used.bind(("", 0))
        port = used.getsockname()[1]
        monkeypatch.setattr(ports, "PORTS", range(port, port + 1))
        with pytest.raises(OSError, match=f"^no free port among {port} to {port}$"):
            ports.free_port()

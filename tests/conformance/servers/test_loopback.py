"""Corefiles of elsewhere, made to start here."""

from pathlib import Path

import pytest

from conformance.servers.loopback import Loopback


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> Loopback:
    ports = iter(range(20001, 20100))
    monkeypatch.setattr("conformance.servers.loopback.free_port", lambda: next(ports))
    return Loopback(Path("/here/resolv.conf"))


@pytest.mark.parametrize(
    ("written", "rewritten"),
    [
        (". {\n}\n", ".:20001 {\n}\n"),
        (".:53 a.test {\n}\n", ".:20001 a.test:20001 {\n}\n"),
        (".:53 {\n}\n.:54 {\n}\n", ".:20001 {\n}\n.:20002 {\n}\n"),
        ("10.0.0.0/24 dns://b.test:54 {\n}\n", "10.0.0.0/24:20001 dns://b.test:20002 {\n}\n"),
        ("(snippet) {\n}\n", "(snippet) {\n}\n"),
        ("    bind 10.0.0.1 eth0\n    bind eth0\n", "bind 127.0.0.1 127.0.0.2\nbind 127.0.0.2\n"),
        ("    prometheus\n", "prometheus 127.0.0.1:20001\n"),
        ("    ready :8181\n    ready # again\n", "ready 127.0.0.1:20001\nready 127.0.0.1:20001\n"),
        ("    health [::]:8080 {\n", "health 127.0.0.1:20001 {\n"),
        ("    lameduck 5s\n", ""),
        ("    forward . /etc/resolv.conf {\n", "    forward . /here/resolv.conf {\n"),
        ("    forward . 1.2.3.4:54\n", "    forward . 1.2.3.4:54\n"),
        (
            "    kubernetes a.test {\n    endpoint https://x\n    }\n",
            "    kubernetes a.test {\nendpoint http://127.0.0.1:9\nstartup_timeout 1ms\n    }\n",
        ),
        (
            "    kubernetes a.test\n",
            "    kubernetes a.test {\nendpoint http://127.0.0.1:9\nstartup_timeout 1ms\n}\n",
        ),
        ("    cache 30 # seconds\n", "    cache 30\n"),
    ],
)
def test_rewrite(loopback: Loopback, written: str, rewritten: str) -> None:
    assert loopback.rewrite(written) == rewritten


def test_one_port_stands_for_one_port(loopback: Loopback) -> None:
    assert loopback.rewrite(".:5353 {\n") == f".:{loopback.port(5353)} {{\n"

"""A Corefile that no longer parses, and a node without IPv6."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from conformance.deploy.ground import filled, page, until
from conformance.servers import subjects
from conformance.servers.ports import free_port
from conformance.wire.client import ask
from conformance.wire.question import parse_question

QUESTION = parse_question("a.test. A +timeout=1", ".")
GOOD = """.:{dns} {
    errors
    health :{health}
    ready :{ready}
    prometheus :{metrics}
    whoami
    reload 2s 1s
}
"""
BROKEN = GOOD.replace("whoami", "whoami\n    nosuch plugin")
LINE = 7
"""Of the plugin that does not exist."""

SUBJECTS = pytest.mark.parametrize("subject", ["coredns", "pydns"])


def with_ports(corefile: str) -> tuple[str, dict[str, int]]:
    """A Corefile with free ports in its places, and which they are."""
    ports = {name: free_port() for name in ("dns", "health", "ready", "metrics")}
    return filled(corefile, ports), ports


async def get(port: int, path: str) -> tuple[int, str]:
    return await asyncio.to_thread(page, f"http://127.0.0.1:{port}/{path}")


async def test_after_an_edit_that_does_not_parse_the_old_corefile_serves(tmp_path: Path) -> None:
    good, ports = with_ports(GOOD)
    file = tmp_path / "Corefile"
    file.write_text(good)
    async with subjects.start("pydns", file, ports["dns"]) as server:

        async def shows(line: str) -> bool:
            return line in (await get(ports["metrics"], "metrics"))[1].splitlines()

        file.write_text(filled(BROKEN, ports))
        assert await until(lambda: shows("coredns_reload_last_successful 0.0"))
        assert await shows("coredns_reload_failed_total 1.0")
        assert await ask(QUESTION, ports["dns"])
        assert await get(ports["ready"], "ready") == (200, "OK")
        errors = [line for line in server.log.read_text().splitlines() if line.startswith("[ERROR]")]
        assert len(errors) == 2 and f"Corefile:{LINE} - " in errors[0] and "nosuch" in errors[0]
        assert errors[1] == "[ERROR] plugin/reload: Corefile changed but reload failed"
        file.write_text(good)
        assert await until(lambda: shows("coredns_reload_last_successful 1.0"))


@SUBJECTS
async def test_a_server_that_starts_with_it_ends_and_says_why(subject: str, tmp_path: Path) -> None:
    """The last line of its output is what `kubectl describe pod` shows (FallbackToLogsOnError)."""
    broken, ports = with_ports(BROKEN)
    (tmp_path / "Corefile").write_text(broken)
    status, output = await subjects.run_to_end(subject, tmp_path / "Corefile", {})
    assert status == 1
    assert f"Corefile:{LINE} - " in output.splitlines()[-1] and "nosuch" in output.splitlines()[-1]
    assert (await get(ports["ready"], "ready"))[0] == 0


@SUBJECTS
async def test_without_ipv6_the_other_addresses_are_served(subject: str, tmp_path: Path) -> None:
    good, ports = with_ports(GOOD)
    (tmp_path / "Corefile").write_text(good)
    program = tmp_path / "server"
    command = " ".join([sys.executable, "-m", "conformance.deploy.without_ipv6", *subjects.command(subject)])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(0o755)
    async with subjects.start(str(program), tmp_path / "Corefile", ports["dns"]) as server:
        for option in ("", "+tcp"):
            assert await ask(parse_question(f"a.test. A {option}", "."), ports["dns"])
        for name, path in (("health", "health"), ("ready", "ready"), ("metrics", "metrics")):
            assert (await get(ports[name], path))[0] == 200
        log = server.log.read_text().splitlines()
    assert not [line for line in log if line.startswith(("[WARNING]", "[ERROR]"))]
    if subject == "pydns":
        assert f"[INFO] no IPv6 on this machine: :{ports['dns']} is served without it" in log

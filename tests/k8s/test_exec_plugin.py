"""Credentials from a program that a kubeconfig names."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from pydns.k8s.exec_plugin import Credentials, ExecPlugin
from pydns.k8s.transport import CredentialsError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TOKEN = '{"kind": "ExecCredential", "status": {"token": "secret"}}'


def plugin(script: str, now: datetime = NOW, **more: object) -> ExecPlugin:
    """One whose program is a shell script."""
    spec = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script], **more}
    return ExecPlugin(spec, lambda: now)


async def test_the_program_is_told_what_is_wanted() -> None:
    script = """printf '{"status": {"token": "%s %s"}}' "$WHO" "$(echo "$KUBERNETES_EXEC_INFO" | tr -d '"')" """
    found = await plugin(script, env=[{"name": "WHO", "value": "ann"}]).credentials()
    assert found.token == (
        "ann {apiVersion: client.authentication.k8s.io/v1, kind: ExecCredential, spec: {interactive: false}}"
    )


async def test_a_certificate_with_its_key() -> None:
    status = {"clientCertificateData": "C", "clientKeyData": "K", "expirationTimestamp": "2026-01-01T00:01:00Z"}
    found = await plugin(f"echo '{json.dumps({'status': status})}'").credentials()
    assert found == Credentials("", "C", "K", NOW + timedelta(minutes=1))


@pytest.mark.parametrize(("left", "runs"), [(None, 3), (30, 3), (31, 1)])
async def test_credentials_are_kept_until_just_before_they_expire(tmp_path: Path, left: int | None, runs: int) -> None:
    status: dict[str, str] = {"token": "secret"}
    if left is not None:
        status["expirationTimestamp"] = (NOW + timedelta(seconds=left)).isoformat()
    one = plugin(f"echo run >> {tmp_path}/runs; echo '{json.dumps({'status': status})}'")
    await asyncio.gather(*(one.credentials() for _ in range(3)))
    assert (tmp_path / "runs").read_text() == "run\n" * runs


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("echo no profile >&2; exit 3", "exec: executable sh failed with exit code 3: no profile"),
        ("exit 3", "exec: executable sh failed with exit code 3"),
        ("echo hello", "decoding stdout: JSON is malformed"),
        ("echo {}", "decoding stdout: Object missing required field `status`"),
        ("echo '{\"status\": {}}'", "exec plugin didn't return a token or cert/key pair"),
        (
            'echo \'{"status": {"clientCertificateData": "C"}}\'',
            "exec plugin didn't return a token or cert/key pair",
        ),
    ],
)
async def test_what_goes_wrong(script: str, error: str) -> None:
    with pytest.raises(CredentialsError) as caught:
        await plugin(script).credentials()
    assert str(caught.value).startswith(f"getting credentials: {error}")


@pytest.mark.parametrize(
    ("command", "error"),
    [("aws-nosuch", "executable aws-nosuch not found"), ("/", "executable /: Permission denied")],
)
async def test_no_such_program(command: str, error: str) -> None:
    with pytest.raises(CredentialsError) as caught:
        await plugin("", command=command).credentials()
    assert str(caught.value) == f"getting credentials: exec: {error}"


async def test_a_program_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pydns.k8s.exec_plugin.PATIENCE", 0.0)
    with pytest.raises(CredentialsError, match="executable sh takes more than 0s"):
        await plugin("exec sleep 600").credentials()


async def test_it_runs_again_after_a_failure(tmp_path: Path) -> None:
    one = plugin(f"cat {tmp_path}/token")
    with pytest.raises(CredentialsError):
        await one.credentials()
    (tmp_path / "token").write_text(TOKEN)
    assert (await one.credentials()).token == "secret"


def test_what_a_kubeconfig_must_say() -> None:
    with pytest.raises(msgspec.ValidationError, match="command"):
        ExecPlugin({"apiVersion": "client.authentication.k8s.io/v1"})

"""A URL or a Pod's service account as the way to an API."""

import subprocess
import sys
from pathlib import Path

import pytest

from pydns.k8s.access import TOKEN_SECONDS, Access, Tls, by_url, in_cluster
from pydns.k8s.source import SourceError
from tests.support import Clock

POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.mark.parametrize(
    ("endpoint", "files", "access"),
    [
        ("http://api:8080/", None, Access("http://api:8080")),
        ("api:8080", None, Access("http://api:8080")),
        ("api:6443", ("cert", "key", "ca"), Access("https://api:6443", Tls("ca", "cert", "key"))),
    ],
)
async def test_by_url(endpoint: str, files: tuple[str, str, str] | None, access: Access) -> None:
    known, renew = by_url(endpoint, files)
    assert known == access == await renew()


@pytest.mark.parametrize(
    ("host", "url"), [("10.96.0.1", "https://10.96.0.1:443"), ("fd00::1", "https://[fd00::1]:443")]
)
def test_in_a_pod(tmp_path: Path, host: str, url: str) -> None:
    (tmp_path / "token").write_text("secret\n")
    known, _ = in_cluster(POD | {"KUBERNETES_SERVICE_HOST": host}, tmp_path)
    assert known == Access(url, Tls(authority=str(tmp_path / "ca.crt")), "Bearer secret")


async def test_a_pods_token_is_read_again_after_a_minute(tmp_path: Path) -> None:
    clock, token = Clock(), tmp_path / "token"
    token.write_text("first")
    _, renew = in_cluster(POD, tmp_path, clock)
    token.write_text("second")
    assert (await renew()).authorization == "Bearer first"
    clock.now += TOKEN_SECONDS
    assert (await renew()).authorization == "Bearer second"
    token.unlink()
    assert (await renew()).authorization == "Bearer second"
    clock.now += TOKEN_SECONDS
    with pytest.raises(OSError, match="No such file"):
        await renew()


@pytest.mark.parametrize(("text", "error"), [(None, FileNotFoundError), (" \n", ValueError)])
def test_a_pod_without_a_token(tmp_path: Path, text: str | None, error: type[Exception]) -> None:
    if text is not None:
        (tmp_path / "token").write_text(text)
    with pytest.raises(error):
        in_cluster(POD, tmp_path)


@pytest.mark.parametrize("missing", list(POD))
def test_not_in_a_pod(tmp_path: Path, missing: str) -> None:
    with pytest.raises(SourceError, match="must be defined"):
        in_cluster(POD | {missing: ""}, tmp_path)


def test_neither_way_loads_the_library() -> None:
    """It takes a third of a second and 20 MB of a Pod that reads three files."""
    script = "import sys, pydns.k8s.client; print(*[name for name in ('kubernetes', 'yaml') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""

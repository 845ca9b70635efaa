"""Access to an API: what is needed to reach it and to be let in, as it is now.

Knows two sources of it, a URL with its TLS files and the Pod that this process is in; both are a few files and need no
library.  `kubeconfig` knows the third.  Does not know HTTP (`client`).
"""

import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydns.k8s.source import SourceError

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TOKEN_SECONDS: Final = 60.0
"""How long a token that was read is used; the kubelet writes a new one long before the old one ends (client-go)."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Files for a TLS connection; None for what the system has.  `server_name` is the name in the API's certificate."""

    authority: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: bool = True
    server_name: str | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """`authorization` is the value of the header, or empty; `proxy` a URL, None for what the environment says."""

    url: str
    tls: Tls = Tls()
    authorization: str = ""
    proxy: str | None = None


Renew = Callable[[], Awaitable[Access]]
"""Gives the access of now; raises OSError, ValueError and CredentialsError where credentials cannot be had."""

RenewableAccess = tuple[Access, Renew]
"""What is known at the start, and how it is renewed."""


def by_url(endpoint: str, files: tuple[str, str, str] | None) -> RenewableAccess:
    """A URL, or a host and port; `files` are those of certificate, key and CA."""
    scheme = "https" if files else "http"
    url = (endpoint if "://" in endpoint else f"{scheme}://{endpoint}").rstrip("/")
    certificate, key, authority = files or (None, None, None)
    access = Access(url, Tls(authority, certificate, key))

    async def renew() -> Access:
        return access

    return access, renew


def in_cluster(
    environ: Mapping[str, str] = os.environ,
    files: Path = SERVICE_ACCOUNT,
    clock: Callable[[], float] = time.monotonic,
) -> RenewableAccess:
    """The API of the cluster that this process is a Pod of (client-go, `rest.InClusterConfig`).

    Raises SourceError where it is in none, OSError and ValueError where its service account has no token.
    """
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise SourceError(
            "unable to load in-cluster configuration, "
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined "
            "(outside a cluster: --kubeconfig FILE for its API, --manifests PATH for objects from files)"
        )
    url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    known = Access(url, Tls(authority=str(files / "ca.crt")), bearer(files / "token"))
    until = clock() + TOKEN_SECONDS

    async def renew() -> Access:
        nonlocal known, until
        if clock() >= until:
            known = replace(known, authorization=bearer(files / "token"))
            until = clock() + TOKEN_SECONDS
        return known

    return known, renew


def bearer(file: Path) -> str:
    """The header's value for the token in a file; raises ValueError where there is none in it, and OSError."""
    token = file.read_text().strip()
    if not token:
        raise ValueError(f"{file} is empty")
    return f"Bearer {token}"

"""What a cluster's API server is given before it starts."""

from __future__ import annotations

import ssl
from pathlib import Path

from conformance.kubernetes.cluster import Credentials, make_client_certificate


def test_a_client_certificate_goes_with_its_key_and_is_its_own_authority(tmp_path: Path) -> None:
    made = Credentials(tmp_path / "client.crt", tmp_path / "client.key", tmp_path / "unused")
    make_client_certificate(made)
    context = ssl.create_default_context(cafile=made.certificate)
    context.load_cert_chain(made.certificate, made.key)
    (authority,) = context.get_ca_certs()
    assert authority["subject"] == ((("organizationName", "system:masters"),), (("commonName", "conformance"),))

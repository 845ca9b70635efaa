"""Objects as the API server would have stored them."""

from __future__ import annotations

from typing import cast

from conformance.bench import objects
from conformance.bench.seeding import Completion
from conformance.kubernetes.client import Client
from conformance.kubernetes.objects import Object


class DryRun:
    """Fills in what an API server does, and keeps nothing."""

    def create(self, object: Object, dry_run: bool = False) -> Object:
        assert dry_run
        assert int(object["metadata"]["name"].split("-")[1]) >= 5, "the API refuses one that is there"
        metadata = object["metadata"] | {"uid": "of-the-sample", "creationTimestamp": "2026-12-01T00:00:00Z"}
        spec = {"spec": object["spec"] | {"sessionAffinity": "None"}} if "spec" in object else {}
        return object | {"metadata": metadata} | spec


def stored(object: Object) -> dict[str, Object]:
    return dict(Completion(cast(Client, DryRun()), 5)(object))


def test_a_service_and_its_address() -> None:
    found = stored(objects.service(7))
    assert list(found) == ["ipaddresses/10.96.0.9", "services/specs/ns-7/svc-7"]
    address, service = found.values()
    assert address["spec"]["parentRef"] == {"resource": "services", "namespace": "ns-7", "name": "svc-7"}
    assert service["spec"]["clusterIP"] == "10.96.0.9"
    assert service["spec"]["sessionAffinity"] == "None"
    assert service["metadata"]["uid"] not in ("of-the-sample", address["metadata"]["uid"])


def test_a_headless_service_has_no_address() -> None:
    assert list(stored(objects.service(20))) == ["services/specs/ns-0/svc-20"]


def test_a_slice() -> None:
    ((key, found),) = stored(objects.endpoint_slice(20)).items()
    assert key == "endpointslices/ns-0/svc-20-x"
    assert found["endpoints"] == objects.endpoint_slice(20)["endpoints"]
    assert found["metadata"]["labels"] == {"kubernetes.io/service-name": "svc-20"}

"""Fills a kube-apiserver's etcd with thousands of objects in seconds: they are written as the API server would have.

How it writes them is seen from one object of each sort, which it is asked for without keeping it (`dryRun`). With each
Service goes the IPAddress that the API server keeps for it. They are written into etcd because the API takes several
milliseconds for each; what changes during a measurement goes through the API.
"""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from conformance.bench import objects
from conformance.bench.processes import BenchError
from conformance.kubernetes.client import Client
from conformance.kubernetes.fake_api import merge
from conformance.kubernetes.objects import Object

FOLDERS = {"Service": "services/specs", "EndpointSlice": "endpointslices"}
BATCH = 120
"""Puts in one transaction; etcd takes 128."""

CONTENT = {"Content-Type": "application/json"}

Stored = tuple[str, Object]
"""A key below the prefix, and the object there."""


def seed(etcd: str, prefix: str, client: Client, first: int, end: int) -> None:
    """Writes Services `first` to `end` (not included) with their slices. Raises `BenchError`, `ClusterError`."""
    complete = Completion(client, first)
    stored = itertools.chain.from_iterable(map(complete, objects.services(first, end)))
    connection = http.client.HTTPConnection(etcd.removeprefix("http://"), timeout=60)
    try:
        for batch in _batches(stored):
            _write(connection, [_put(f"/{prefix}/{key}", object) for key, object in batch])
    finally:
        connection.close()


class Completion:
    """Makes of an object what the API server stores: defaults, `managedFields`, an ID; and what belongs to it.

    The API knows no Service of the number `first` or above.
    """

    def __init__(self, client: Client, first: int) -> None:
        headless = -(-first // objects.HEADLESS_EVERY) * objects.HEADLESS_EVERY
        self._samples = {
            (kind, objects.is_headless(number)): client.create(make(number), dry_run=True)
            for kind, make in _MAKERS.items()
            for number in (headless, headless + 1)
        }

    def __call__(self, object: Object) -> Iterator[Stored]:
        """The object and, before a Service with a ClusterIP, its IPAddress."""
        kind, metadata = object["kind"], object["metadata"]
        number = int(metadata["name"].split("-")[1])
        sample = self._samples[kind, objects.is_headless(number)]
        address = object.get("spec", {}).get("clusterIP", "None")
        if address != "None":
            yield f"ipaddresses/{address}", _ip_address(address, metadata, sample["metadata"]["creationTimestamp"])
        whole = merge(sample, object)
        whole["metadata"]["uid"] = str(uuid.uuid4())
        yield f"{FOLDERS[kind]}/{metadata['namespace']}/{metadata['name']}", whole


_MAKERS: dict[str, Callable[[int], Object]] = {"Service": objects.service, "EndpointSlice": objects.endpoint_slice}


def _ip_address(address: str, service: Object, created: str) -> Object:
    family, manager = ("ipaddress.kubernetes.io/ip-family", "ipaddress.kubernetes.io/managed-by")
    parent = {"resource": "services", "namespace": service["namespace"], "name": service["name"]}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IPAddress",
        "metadata": {
            "name": address,
            "uid": str(uuid.uuid4()),
            "creationTimestamp": created,
            "labels": {family: "IPv4", manager: "ipallocator.k8s.io"},
        },
        "spec": {"parentRef": parent},
    }


def _batches(stored: Iterator[Stored]) -> Iterable[list[Stored]]:
    return iter(lambda: list(itertools.islice(stored, BATCH)), [])


def _put(key: str, object: Object) -> Any:
    coded = {"key": key.encode(), "value": json.dumps(object).encode()}
    return {"requestPut": {name: base64.b64encode(octets).decode() for name, octets in coded.items()}}


def _write(connection: http.client.HTTPConnection, puts: list[Any]) -> None:
    """One transaction through etcd's JSON gateway."""
    connection.request("POST", "/v3/kv/txn", json.dumps({"success": puts}), CONTENT)
    response = connection.getresponse()
    text = response.read()
    if response.status != http.client.OK:
        raise BenchError(f"etcd refuses a transaction: {response.status} {text.decode(errors='replace')}")

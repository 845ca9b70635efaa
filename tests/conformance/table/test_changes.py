"""Changes of a cluster: how directives read, and what they do to an API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from conformance.kubernetes import fake_api
from conformance.kubernetes.fake_api import FakeApi
from conformance.kubernetes.relay import relaying
from conformance.table import changes
from conformance.table.api import Fake, FakeClusters
from conformance.table.case import Case
from conformance.table.changes import Apply, Change, ChangeError, Delete, Outage, Patch, Ready, Remove, Start
from conformance.wire.blocks import Block


def read(head: str, *body: str) -> Change:
    block = Block("x.case", 1, head, body)
    return changes.CHANGES[block.directive](block)


@pytest.mark.parametrize(
    ("head", "change"),
    [
        ("delete Service shop/web", Delete("Service", "shop", "web")),
        ("delete Namespace /shop", Delete("Namespace", "", "shop")),
        ("scale Deployment shop/web 3", Patch("Deployment", "shop", "web", {"spec": {"replicas": 3}})),
        ("start shop app=web 10.0.0.1 10.0.0.2,fd00::2", Start("shop", "app=web", ("10.0.0.1", "10.0.0.2,fd00::2"))),
        ("ready 10.0.0.1 10.0.0.2", Ready(("10.0.0.1", "10.0.0.2"), True)),
        ("unready 10.0.0.1", Ready(("10.0.0.1",), False)),
        ("terminate 10.0.0.1", Remove(("10.0.0.1",), at_once=False)),
        ("gone 10.0.0.1", Remove(("10.0.0.1",), at_once=True)),
        ("disconnect", Outage("disconnect")),
    ],
)
def test_directives(head: str, change: Change) -> None:
    assert read(head) == change


def test_directives_with_objects() -> None:
    assert read("apply", "{kind: A}", "---", "{kind: B}") == Apply(({"kind": "A"}, {"kind": "B"}))
    assert read("patch Pod 10.0.0.1", "a: null") == Patch("Pod", "", "10.0.0.1", {"a": None})


def pod(name: str, address: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"containers": []},
    }
    return {**found, "status": {"podIPs": [{"ip": address}]}} if address else found


@pytest.fixture
def objects() -> FakeApi:
    api = FakeApi()
    api.apply([pod("b"), pod("a"), pod("old", "10.0.0.9")])
    return api


@pytest.fixture
async def api(objects: FakeApi) -> AsyncIterator[Fake]:
    async with fake_api.serve(objects) as url, relaying(int(url.rpartition(":")[2])) as relay:
        yield Fake(objects, relay)


async def perform(api: Fake, *heads: str) -> None:
    for head in heads:
        await read(head).perform(api)


def state(objects: FakeApi, name: str) -> tuple[str, list[str], str]:
    """Node, addresses and readiness of a Pod."""
    found = objects.objects["Pod", "shop", name]
    ready = found["status"]["conditions"][0]["status"]
    return found["spec"]["nodeName"], [entry["ip"] for entry in found["status"]["podIPs"]], ready


async def test_pods_start_in_the_order_of_their_names(api: Fake, objects: FakeApi) -> None:
    await perform(api, "start shop app=web 10.0.0.1 10.0.0.2,fd00::2")
    assert state(objects, "a") == ("conformance", ["10.0.0.1"], "True")
    assert state(objects, "b") == ("conformance", ["10.0.0.2", "fd00::2"], "True")


async def test_readiness_is_flipped_by_address(api: Fake, objects: FakeApi) -> None:
    await perform(api, "start shop app=web 10.0.0.1", "unready 10.0.0.1")
    assert state(objects, "a") == ("conformance", ["10.0.0.1"], "False")
    await perform(api, "ready 10.0.0.1")
    assert state(objects, "a") == ("conformance", ["10.0.0.1"], "True")


async def test_a_pod_on_a_node_ends_before_it_is_gone(api: Fake, objects: FakeApi) -> None:
    await perform(api, "start shop app=web 10.0.0.1", "terminate 10.0.0.1")
    assert "deletionTimestamp" in objects.objects["Pod", "shop", "a"]["metadata"]
    await perform(api, "gone 10.0.0.1")
    assert ("Pod", "shop", "a") not in objects.objects


async def test_a_pod_is_patched_by_its_address(api: Fake, objects: FakeApi) -> None:
    await read("patch Pod 10.0.0.9", "metadata: {labels: {app: other}}").perform(api)
    assert objects.objects["Pod", "shop", "old"]["metadata"]["labels"] == {"app": "other"}


async def test_what_nobody_has_is_an_error(api: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "POD_TIME", 0.0)
    with pytest.raises(ChangeError, match=r"^no Pod has the address 10\.0\.0\.77$"):
        await perform(api, "ready 10.0.0.77")
    with pytest.raises(ChangeError, match=r"^no Pod app=db without an address in shop after 0 s$"):
        await perform(api, "start shop app=db 10.0.0.1")


async def test_what_is_not_there_cannot_be_patched() -> None:
    async with FakeClusters().open(Case("x")) as api:
        with pytest.raises(ChangeError, match=r"^there is no Deployment shop/web to patch$"):
            await api.patch("Deployment", "shop", "web", {"spec": {"replicas": 2}})

"""The fake Kubernetes API: lists, watches, selectors."""

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from conformance.kubernetes import fake_api
from conformance.kubernetes.fake_api import FakeApi, Selection

SERVICES = "/api/v1/services"


def service(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "shop", "labels": labels}}


@pytest.fixture
def api() -> FakeApi:
    api = FakeApi()
    api.apply([service("web", tier="front"), service("db", tier="back")])
    return api


@pytest.fixture
async def session(api: FakeApi) -> AsyncIterator[aiohttp.ClientSession]:
    async with fake_api.serve(api) as url, aiohttp.ClientSession(url) as session:
        yield session


async def events(response: aiohttp.ClientResponse, count: int) -> list[tuple[str, str]]:
    lines = [json.loads(await response.content.readline()) for _ in range(count)]
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in lines]


async def test_list(session: aiohttp.ClientSession) -> None:
    async with session.get(SERVICES, params={"labelSelector": "tier=front", "limit": "500"}) as response:
        listed = await response.json()
    assert [item["metadata"]["name"] for item in listed["items"]] == ["web"]
    assert (listed["kind"], listed["metadata"]["resourceVersion"]) == ("ServiceList", "1002")


async def test_streaming_list_ends_in_a_bookmark_and_goes_on_as_a_watch(
    api: FakeApi, session: aiohttp.ClientSession
) -> None:
    async with session.get(SERVICES, params={"watch": "true", "sendInitialEvents": "true"}) as response:
        assert await events(response, 3) == [("ADDED", "web"), ("ADDED", "db"), ("BOOKMARK", "")]
        api.apply([service("web", tier="front"), service("new")])
        api.delete("Service", "shop", "db")
        assert await events(response, 3) == [("MODIFIED", "web"), ("ADDED", "new"), ("DELETED", "db")]


async def test_watch_from_a_version_tells_what_came_later(api: FakeApi, session: aiohttp.ClientSession) -> None:
    api.apply([service("late")])
    async with session.get(SERVICES, params={"watch": "true", "resourceVersion": "1002"}) as response:
        assert await events(response, 1) == [("ADDED", "late")]


async def test_a_watch_from_a_version_tells_of_deletions(api: FakeApi, session: aiohttp.ClientSession) -> None:
    api.delete("Service", "shop", "db")
    async with session.get(SERVICES, params={"watch": "true", "resourceVersion": "1002"}) as response:
        assert await events(response, 1) == [("DELETED", "db")]


async def test_a_watch_from_a_forgotten_version_is_gone(api: FakeApi, session: aiohttp.ClientSession) -> None:
    api.restart()
    async with session.get(SERVICES, params={"watch": "true", "resourceVersion": "1002"}) as response:
        error = json.loads(await response.content.readline())
        assert (error["type"], error["object"]["code"]) == ("ERROR", 410)
        assert await response.content.readline() == b"", "the watch ends"


async def test_watches_expire(api: FakeApi, session: aiohttp.ClientSession) -> None:
    async with session.get(SERVICES, params={"watch": "true", "resourceVersion": "1002"}) as response:
        api.expire()
        error = json.loads(await response.content.readline())
        assert (error["type"], error["object"]["code"]) == ("ERROR", 410)
    async with session.get(SERVICES) as response:
        assert (await response.json())["metadata"]["resourceVersion"] == str(api.version)


async def test_a_patch_modifies(api: FakeApi, session: aiohttp.ClientSession) -> None:
    async with session.get(SERVICES, params={"watch": "true", "resourceVersion": "1002"}) as response:
        api.patch("Service", "shop", "web", {"metadata": {"labels": {"tier": None, "new": "x"}}})
        event = json.loads(await response.content.readline())
        assert (event["type"], event["object"]["metadata"]["labels"]) == ("MODIFIED", {"new": "x"})


@pytest.mark.parametrize(
    ("old", "patch", "merged"),
    [
        ({"a": 1, "b": {"c": 2}}, {"b": {"d": 3}}, {"a": 1, "b": {"c": 2, "d": 3}}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": "text"}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    ],
)
def test_merge_patches_of_rfc_7386(old: Any, patch: Any, merged: Any) -> None:
    assert fake_api.merge(old, patch) == merged


async def test_an_object_that_leaves_the_selection_is_deleted(api: FakeApi, session: aiohttp.ClientSession) -> None:
    params = {"watch": "true", "resourceVersion": "1002", "labelSelector": "tier=front"}
    async with session.get(SERVICES, params=params) as response:
        api.apply([service("web", tier="back"), service("db", tier="front")])
        assert await events(response, 2) == [("DELETED", "web"), ("ADDED", "db")]


async def test_streaming_lists_can_be_refused(api: FakeApi, session: aiohttp.ClientSession) -> None:
    api.streaming = False
    async with session.get(SERVICES, params={"watch": "true", "sendInitialEvents": "true"}) as response:
        assert response.status == 422


@pytest.mark.parametrize(
    ("labels", "fields", "matches"),
    [
        ("tier=front", "", True),
        ("tier==front,app!=x", "", True),
        ("tier in (front, middle),!gone", "", True),
        ("tier notin (front)", "", False),
        ("tier", "", True),
        ("app", "", False),
        ("", "status.phase!=Succeeded,status.phase!=Failed", True),
        ("", "status.phase=Running", False),
        ("", "metadata.name=web", True),
    ],
)
def test_selectors(labels: str, fields: str, matches: bool) -> None:
    assert Selection("Service", labels, fields).matches(service("web", tier="front")) is matches


PORTS = [{"port": 80}, {"port": 53, "protocol": "UDP"}]
SERVICE = {"kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": PORTS}}
SLICE = {"kind": "EndpointSlice", "metadata": {"name": "web-1"}, "ports": PORTS}


@pytest.mark.parametrize(("defaults", "protocols"), [(True, ["TCP", "UDP"]), (False, [None, "UDP"])])
def test_ports_are_of_tcp_unless_they_say_otherwise(defaults: bool, protocols: list[str | None]) -> None:
    api = FakeApi(defaults=defaults)
    api.apply([SERVICE, SLICE, {**SLICE, "metadata": {"name": "odd"}, "ports": None}])
    web, web_1, odd = api.objects.values()
    assert [port.get("protocol") for port in web["spec"]["ports"]] == protocols
    assert [port.get("protocol") for port in web_1["ports"]] == protocols
    assert odd["ports"] is None

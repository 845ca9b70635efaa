"""A source that follows a scripted API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pydns.k8s.client import Connection
from pydns.k8s.cluster import ApiSource
from pydns.k8s.selectors import Selector
from pydns.k8s.source import Interest, Observer, SourceError
from pydns.k8s.transport import Transport
from tests.k8s.api import Reply, ScriptedApi, Wire, added, bookmark, page, refusal, service
from tests.support import Clock, settle

SLICE: Wire = {
    "metadata": {
        "namespace": "shop",
        "name": "web-x",
        "labels": {"kubernetes.io/service-name": "web"},
        "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": "1970-01-01T00:16:30.123456789Z"},
    },
    "addressType": "IPv4",
}


class Recorder(Observer):
    def __init__(self) -> None:
        self.programmings: list[tuple[str, float]] = []

    def programmed(self, service_kind: str, seconds: float) -> None:
        self.programmings.append((service_kind, round(seconds, 3)))


def listed(*items: Wire) -> Reply:
    return Reply(added(*items), bookmark(9, end=True), then="silence")


@asynccontextmanager
async def running(
    interest: Interest, *replies: Reply, observer: Observer | None = None
) -> AsyncIterator[tuple[ApiSource, ScriptedApi]]:
    clock = Clock(1000.0)
    api = ScriptedApi(*replies, clock=clock)

    async def connect(connection: Connection, observer: Observer) -> Transport:
        return api

    source = ApiSource(Connection(), interest, observer, clock, connect)
    await source.start()
    await settle()
    yield source, api
    await source.stop()


@pytest.mark.parametrize(
    ("interest", "asked"),
    [
        (Interest(), {"namespaces": {}, "services": {}, "endpointslices": {}}),
        (Interest(endpoints=False), {"namespaces": {}, "services": {}}),
        (
            Interest(endpoints=False, pods=True),
            {
                "namespaces": {},
                "services": {},
                "pods": {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed,status.phase!=Unknown"},
            },
        ),
        (
            Interest(labels=Selector.parse("app in (b,a)"), namespace_labels=Selector.parse("team")),
            {
                "namespaces": {"labelSelector": "team"},
                "services": {"labelSelector": "app in (a,b)"},
                "endpointslices": {"labelSelector": "app in (a,b)"},
            },
        ),
    ],
)
async def test_watches_what_is_asked_for(interest: Interest, asked: dict[str, dict[str, str]]) -> None:
    async with running(interest) as (_, api):
        selectors = {
            path.rpartition("/")[2]: {name: text for name, text in params.items() if name.endswith("Selector")}
            for path, params in api.requests
        }
        assert selectors == asked


async def test_synced_after_all_lists() -> None:
    async with running(Interest(endpoints=False), listed({"metadata": {"name": "shop"}})) as (source, _):
        assert source.store.namespace_exists("shop")
        assert not await source.wait_synced(0)
    async with running(Interest(endpoints=False), listed(), listed(service())) as (source, api):
        assert await source.wait_synced(0)
        assert source.followed
    assert api.closed
    assert source.store.service("shop", "web") is not None
    await source.stop()


async def test_what_may_be_listed_but_not_watched_is_synced_and_not_followed() -> None:
    no, empty = refusal(403), page(1, ())
    async with running(Interest(endpoints=False), no, empty, no, no, empty, no) as (source, _):
        assert await source.wait_synced(0)
        assert not source.followed


@pytest.mark.parametrize(
    ("services", "expected"),
    [
        ([service()], [("cluster_ip", 9.877)]),
        ([service(ip="None")], [("headless_with_selector", 9.877)]),
        ([], []),
    ],
)
async def test_programming_duration(services: list[Wire], expected: list[tuple[str, float]]) -> None:
    recorder = Recorder()
    async with running(Interest(), listed(), listed(*services), listed(SLICE), observer=recorder):
        assert recorder.programmings == expected


@pytest.mark.parametrize(("time", "lines"), [("soon", 1), ("", 0)])
async def test_odd_trigger_time(time: str, lines: int, log_lines: list[str]) -> None:
    odd: dict[str, Any] = {**SLICE, "metadata": {**SLICE["metadata"]}}
    odd["metadata"]["annotations"] = {"endpoints.kubernetes.io/last-change-trigger-time": time}
    recorder = Recorder()
    async with running(Interest(), listed(), listed(service()), listed(odd), observer=recorder):
        assert recorder.programmings == []
    assert log_lines == ["[WARNING] plugin/kubernetes: shop/web-x has a bad trigger time: 'soon'"][:lines]


async def test_credentials_that_cannot_be_read_end_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    source = ApiSource(Connection(), Interest())
    with pytest.raises(SourceError, match="unable to load in-cluster configuration"):
        await source.start()
    await source.stop()

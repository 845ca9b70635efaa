"""The health page, its self-check and lameduck; expectations from CoreDNS's plugin/health."""

import asyncio
from collections.abc import Iterator

import aiohttp
import pytest

from pydns.corefile.line import CorefileError
from pydns.http import PLAIN_TEXT
from pydns.plugins.health import Health
from tests.support import Clock, make_block, make_plugin

ADDRESS = "127.0.0.1:0"


def url_of(plugin: Health) -> str:
    return f"http://127.0.0.1:{plugin.process.http.ports()[ADDRESS]}/health"


def shown(plugin: Health) -> dict[str, float]:
    lines = plugin.process.metrics.exposition().decode().splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("coredns_health_")}


async def test_the_page() -> None:
    plugin = make_plugin(Health, f"health {ADDRESS}")
    await plugin.start()
    async with aiohttp.ClientSession() as session, session.get(url_of(plugin)) as response:
        assert (response.status, response.headers["Content-Type"]) == (200, PLAIN_TEXT)
        assert await response.text() == "OK"
    await plugin.stop()
    assert plugin.process.http.ports() == {}


async def test_blocks_with_the_same_address_share_it() -> None:
    block = make_block()
    plugins = [make_plugin(Health, f"health {ADDRESS}", block) for _ in range(2)]
    for plugin in plugins:
        await plugin.start()
    url = url_of(plugins[0])
    await plugins[1].stop()
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        assert response.status == 200
    await plugins[0].stop()


async def test_it_asks_itself_every_second(log_lines: list[str]) -> None:
    clock = Clock()
    plugin = make_plugin(Health, f"health {ADDRESS}", make_block(clock=clock))
    await plugin.start()
    for _ in range(2):
        await clock.advance(1)
        await clock.until_asleep()
    assert shown(plugin)["coredns_health_request_duration_seconds_count"] == 2
    assert shown(plugin)["coredns_health_request_failures_total"] == 0
    await plugin.stop()
    assert log_lines == []


async def test_a_failure_is_counted_and_logged(log_lines: list[str]) -> None:
    clock = Clock()
    plugin = make_plugin(Health, f"health {ADDRESS}", make_block(clock=clock))
    await plugin.start()
    url = url_of(plugin)
    await clock.advance(0)
    await plugin.process.http.remove(ADDRESS, "/health", plugin._answer)
    await clock.advance(1)
    await clock.until_asleep()
    await plugin.stop()
    assert shown(plugin)["coredns_health_request_failures_total"] == 1
    assert shown(plugin)["coredns_health_request_duration_seconds_count"] == 1
    assert log_lines[0].startswith(f'[WARNING] plugin/health: Local health request to "{url}" failed: ')


async def test_a_slow_answer_is_logged(log_lines: list[str]) -> None:
    clock = Clock()
    block = make_block(clock=clock)
    readings: Iterator[float] = iter([10.0, 12.5])
    block.process.clock = lambda: next(readings)
    plugin = make_plugin(Health, f"health {ADDRESS}", block)
    await plugin.start()
    url = url_of(plugin)
    await clock.advance(1)
    await clock.until_asleep()
    await plugin.stop()
    assert log_lines == [f'[WARNING] plugin/health: Local health request to "{url}" took more than 1s: 2.5s']


async def test_lameduck_waits(log_lines: list[str]) -> None:
    clock = Clock()
    plugin = make_plugin(Health, f"health {ADDRESS} {{\nlameduck 5s\n}}", make_block(clock=clock))
    waiting = asyncio.create_task(plugin.lameduck())
    await clock.advance(4.9)
    assert not waiting.done()
    await clock.advance(0.1)
    assert waiting.done()
    assert log_lines == ["[INFO] plugin/health: Going into lameduck mode for 5s"]


async def test_without_lameduck_nothing_waits(log_lines: list[str]) -> None:
    await make_plugin(Health, "health").lameduck()
    assert log_lines == []


@pytest.mark.parametrize(
    "text, error",
    [
        ("health 127.0.0.1", "address 127.0.0.1: missing port in address"),
        ("health :1 :2", "Wrong argument count"),
        ("health {\nlameduck 5\n}", 'time: missing unit in duration "5"'),
        ("health {\nlameduck\n}", "Corefile:3 - Error during parsing: Wrong argument count"),
        ("health {\nlamedudk 5s\n}", "unknown property 'lamedudk' (did you mean 'lameduck'?)"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Health, text)
    assert error in str(raised.value)


def test_of_several_lines_the_last_counts() -> None:
    plugin = make_plugin(Health, "health :8081\nhealth :8082")
    assert str(plugin._address) == ":8082"

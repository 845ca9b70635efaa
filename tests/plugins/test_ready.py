"""The readiness page; expectations from CoreDNS's plugin/ready."""

from dataclasses import dataclass

import aiohttp
import pytest

from pydns.corefile.line import CorefileError
from pydns.corefile.options import Options
from pydns.plugin import Block, Plugin
from pydns.plugins.ready import Ready
from pydns.workforce import Workers
from tests.support import make_block, make_plugin

ADDRESS = "127.0.0.1:0"


@dataclass
class NoOptions(Options):
    pass


class Kubernetes(Plugin):
    """A plugin with a state of readiness."""

    name = "kubernetes"
    options = NoOptions
    ready = False

    def is_ready(self) -> bool:
        return self.ready


class Erratic(Kubernetes):
    name = "erratic"


async def get(plugin: Ready) -> tuple[int, str]:
    url = f"http://127.0.0.1:{plugin.process.http.ports()[ADDRESS]}/ready"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, await response.text()


async def started(block: Block, options: str = "") -> Ready:
    plugin = make_plugin(Ready, f"ready {ADDRESS} {options}", block)
    await plugin.start()
    return plugin


async def test_nothing_to_wait_for() -> None:
    plugin = await started(make_block())
    assert await get(plugin) == (200, "OK")
    await plugin.stop()
    assert plugin.process.http.ports() == {}


async def test_waiting_plugins_are_named_in_order(log_lines: list[str]) -> None:
    block = make_block()
    kubernetes, erratic = make_plugin(Kubernetes, "kubernetes", block), make_plugin(Erratic, "erratic", block)
    plugin = await started(block)
    assert await get(plugin) == (503, "erratic,kubernetes")
    erratic.ready = True
    assert await get(plugin) == (503, "kubernetes")
    kubernetes.ready = True
    assert await get(plugin) == (200, "OK")
    await plugin.stop()
    assert log_lines == [
        '[INFO] plugin/ready: Plugins not ready: "erratic,kubernetes"',
        '[INFO] plugin/ready: Plugins not ready: "kubernetes"',
    ]


@pytest.mark.parametrize(
    "options, later",
    [
        ("", (200, "OK")),
        ("{\nmonitor until-ready\n}", (200, "OK")),
        ("{\nmonitor continuously\n}", (503, "kubernetes")),
    ],
)
async def test_ready_once_is_ready_unless_monitored(options: str, later: tuple[int, str]) -> None:
    block = make_block()
    kubernetes = make_plugin(Kubernetes, "kubernetes", block)
    plugin = await started(block, options)
    kubernetes.ready = True
    assert await get(plugin) == (200, "OK")
    kubernetes.ready = False
    assert await get(plugin) == later
    await plugin.stop()


async def test_a_plugin_is_ready_once_it_is_so_in_all_workers() -> None:
    class Busy(Workers):
        names: tuple[str, ...] = ("kubernetes",)

        def not_ready(self) -> tuple[str, ...]:
            return self.names

    block = make_block()
    block.process.workers = workers = Busy()
    make_plugin(Kubernetes, "kubernetes", block).ready = True
    plugin = await started(block)
    assert await get(plugin) == (503, "kubernetes")
    workers.names = ()
    assert await get(plugin) == (200, "OK")
    await plugin.stop()


async def test_one_answer_for_all_blocks() -> None:
    first = make_block()
    second = Block(first.keys, first.process)
    kubernetes = [make_plugin(Kubernetes, "kubernetes", block) for block in (first, second)]
    plugins = [await started(block) for block in (first, second)]
    kubernetes[1].ready = True
    assert await get(plugins[1]) == (503, "kubernetes")
    kubernetes[0].ready = True
    assert await get(plugins[1]) == (200, "OK")
    for plugin in plugins:
        await plugin.stop()


async def test_a_reload_asks_the_new_plugins() -> None:
    old = await started(make_block())
    block = Block(old.block.keys, old.process)
    kubernetes = make_plugin(Kubernetes, "kubernetes", block)
    new = await started(block)
    await old.stop()
    assert await get(new) == (503, "kubernetes")
    kubernetes.ready = True
    assert await get(new) == (200, "OK")
    await new.stop()


async def test_a_failed_reload_leaves_no_trace() -> None:
    old = await started(make_block())
    block = Block(old.block.keys, old.process)
    make_plugin(Kubernetes, "kubernetes", block)
    await (await started(block)).stop()
    assert await get(old) == (200, "OK")
    await old.stop()


async def test_lameduck_closes_the_address() -> None:
    plugin = await started(make_block())
    await plugin.lameduck()
    assert plugin.process.http.ports() == {}
    await plugin.stop()


@pytest.mark.parametrize(
    "text, error",
    [
        ("ready 127.0.0.1", "address 127.0.0.1: missing port in address"),
        ("ready :1 :2", "Wrong argument count"),
        ("ready\nready", "Corefile:3 - Error during parsing: this plugin can only be used once per Server Block"),
        ("ready {\nmonitor always\n}", "monitor must be one of until-ready, continuously"),
        ("ready {\nmonitor\n}", "Wrong argument count"),
        ("ready {\nx\n}", "unknown property 'x'"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Ready, text)
    assert error in str(raised.value)

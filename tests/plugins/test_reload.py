"""When a changed Corefile is loaded; expectations from CoreDNS's plugin/reload."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from pydns.corefile.line import CorefileError
from pydns.plugin import Block
from pydns.plugins.reload import Reload
from tests.support import Clock, make_block, make_plugin


class Machine:
    """A process with a Corefile on disk, which counts its reloads."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.file = folder / "Corefile"
        self.write(".:53 {\nreload\n}\n")
        self.block = make_block(clock=self.clock)
        self.reloads = 0
        self.at_reload: Callable[[], bool] = lambda: True
        self.block.process.corefile = str(self.file)
        self.block.process.reload = self.reload

    def write(self, text: str) -> None:
        self.file.write_text(text)

    async def reload(self) -> bool:
        self.reloads += 1
        return self.at_reload()

    async def start(self, text: str = "reload 10s 0s", block: Block | None = None) -> Reload:
        plugin = make_plugin(Reload, text, block or self.block)
        await plugin.start()
        await plugin.serving()
        return plugin

    def shown(self) -> list[str]:
        lines = self.block.process.metrics.exposition().decode().splitlines()
        return [line for line in lines if line.startswith("coredns_reload_version_info")]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


async def test_a_change_is_loaded_once(machine: Machine, log_lines: list[str]) -> None:
    plugin = await machine.start()
    await machine.clock.advance(60)
    assert machine.reloads == 0
    assert machine.shown() == []
    machine.write(".:53 {\nreload\nwhoami\n}\n")
    await machine.clock.advance(9)
    await machine.clock.advance(60)
    assert machine.reloads == 1
    assert len(machine.shown()) == 1
    await plugin.stop()
    assert len(log_lines) == 1
    head, digest = log_lines[0].split(" = ")
    assert head == "[INFO] plugin/reload: Running configuration SHA512"
    assert len(digest) == 128


async def test_a_comment_is_no_change(machine: Machine) -> None:
    plugin = await machine.start()
    machine.write(".:53 { # a comment\nreload\n}\n")
    await machine.clock.advance(20)
    assert machine.reloads == 0
    await plugin.stop()


async def test_what_is_imported_counts(machine: Machine, tmp_path: Path) -> None:
    imported = tmp_path / "more"
    imported.write_text("whoami\n")
    machine.write(".:53 {\nreload\nimport more\n}\n")
    plugin = await machine.start()
    imported.write_text("whoami\nlog\n")
    await machine.clock.advance(10)
    assert machine.reloads == 1
    await plugin.stop()


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(".:53 {\nforward\n}\n", id="an error of a plugin"),
        pytest.param(".:53 {\nnonsense\n}\n", id="no plugin"),
        pytest.param(".:53 {\nwhoami\n", id="a brace is missing"),
    ],
)
async def test_a_broken_corefile_fails_once(machine: Machine, log_lines: list[str], broken: str) -> None:
    machine.at_reload = lambda: False
    plugin = await machine.start()
    machine.write(broken)
    await machine.clock.advance(60)
    assert machine.reloads == 1
    await plugin.stop()
    assert log_lines[1:] == ["[ERROR] plugin/reload: Corefile changed but reload failed"]


async def test_another_mistake_is_another_corefile(machine: Machine) -> None:
    machine.at_reload = lambda: False
    plugin = await machine.start()
    machine.write(".:53 {\nnonsense\n}\n")
    await machine.clock.advance(20)
    machine.write(".:53 {\nmore nonsense\n}\n")
    await machine.clock.advance(20)
    assert machine.reloads == 2
    await plugin.stop()


async def test_a_corefile_that_is_away_is_waited_for(machine: Machine, log_lines: list[str]) -> None:
    plugin = await machine.start()
    machine.file.unlink()
    await machine.clock.advance(30)
    assert (machine.reloads, len(log_lines)) == (0, 1)
    machine.write(".:53 {\nwhoami\n}\n")
    await machine.clock.advance(10)
    assert machine.reloads == 1
    await plugin.stop()


async def test_standard_input_is_not_read_again(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(".:53 {\nwhoami\n}\n"))
    machine.block.process.corefile = "stdin"
    plugin = await machine.start()
    await machine.clock.advance(60)
    assert machine.reloads == 0
    await plugin.stop()


async def test_of_several_blocks_the_last_one_watches(machine: Machine, log_lines: list[str]) -> None:
    first = await machine.start("reload 10s 0s")
    second = await machine.start("reload 20s 0s", Block(machine.block.keys, machine.block.process))
    machine.write(".:53 {\nwhoami\n}\n")
    await machine.clock.advance(15)
    assert machine.reloads == 0
    await machine.clock.advance(5)
    assert machine.reloads == 1
    await second.stop()
    await machine.clock.advance(10)
    assert machine.reloads == 2  # the second configuration was taken back
    await first.stop()


async def test_a_reload_may_stop_the_plugin_that_asked_for_it(machine: Machine) -> None:
    plugin = await machine.start()
    stopped: list[bool] = []

    async def reload() -> bool:
        await plugin.stop()
        stopped.append(True)
        return True

    machine.block.process.reload = reload
    machine.write(".:53 {\nwhoami\n}\n")
    await machine.clock.advance(60)
    assert stopped == [True]


@pytest.mark.parametrize(
    "text, low, high",
    [
        ("reload", 22.5, 37.5),
        ("reload 10s 2s", 9, 11),
        ("reload 4s", 3, 5),
        ("reload 4s\nreload nonsense", 3, 5),
        ("reload 4s {\nx\n}", 3, 5),
        ("reload 10s 0s", 10, 10),
    ],
)
async def test_the_interval_varies_by_half_the_jitter(text: str, low: float, high: float) -> None:
    seen = {make_plugin(Reload, text, make_block(seed=seed))._interval for seed in range(50)}
    assert low <= min(seen) <= max(seen) <= high
    assert low == high or max(seen) - min(seen) > (high - low) / 2


@pytest.mark.parametrize(
    "text, error",
    [
        ("reload 1s", "interval value must be greater or equal to 2s"),
        ("reload 10s 500ms", "jitter value must be 0 or greater or equal to 1s"),
        ("reload 10", 'interval must be a duration: time: missing unit in duration "10"'),
        ("reload 10s 2", 'jitter must be a duration: time: missing unit in duration "2"'),
        ("reload 10s 2s 1s", "Wrong argument count"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Reload, text)
    assert error in str(raised.value)

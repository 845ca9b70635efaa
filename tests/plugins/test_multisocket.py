"""The number of sockets; errors as CoreDNS's plugin/multisocket words them."""

import os
from pathlib import Path

import pytest

from pydns import build
from pydns.corefile.line import CorefileError
from pydns.corefile.parser import parse
from pydns.plugins.multisocket import Multisocket, usable_cpus
from pydns.registry import ORDER
from tests.server.parts import make_process
from tests.support import make_block, make_plugin


@pytest.mark.parametrize("word, number", [("1", 1), ("2", 2), ("+2", 2), ("007", 7), ("1024", 1024)])
def test_the_number_of_sockets(word: str, number: int) -> None:
    block = make_block()
    make_plugin(Multisocket, f"multisocket {word}", block)
    assert block.settings.sockets == number


def test_without_a_number_there_is_one_for_each_cpu() -> None:
    block = make_block()
    make_plugin(Multisocket, "multisocket", block)
    assert block.settings.sockets == usable_cpus()


@pytest.mark.parametrize(
    "limit, number", [("max 100000", None), ("50000 100000", 1), ("199999 100000", 1), ("100000000 100000", None)]
)
def test_a_container_has_the_cpus_of_its_limit(tmp_path: Path, limit: str, number: int | None) -> None:
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert usable_cpus(tmp_path / "cpu.max") == (number or len(os.sched_getaffinity(0)))


@pytest.mark.parametrize(
    "text, error",
    [
        ("multisocket 0", "num sockets can not be zero or negative: 0"),
        ("multisocket -1", "num sockets can not be zero or negative: -1"),
        ("multisocket 1025", "num sockets exceeds maximum (1024): 1025"),
        ("multisocket x", 'invalid num sockets: strconv.Atoi: parsing "x": invalid syntax'),
        ("multisocket 0x2", 'invalid num sockets: strconv.Atoi: parsing "0x2": invalid syntax'),
        (
            f"multisocket {1 << 63}",
            'invalid num sockets: strconv.Atoi: parsing "9223372036854775808": value out of range',
        ),
        ("multisocket 1 2", "Wrong argument count or unexpected line ending after '2'"),
        ("multisocket 2\nmultisocket 3", "Wrong argument count or unexpected line ending after 'multisocket'"),
        ("multisocket 2 {\n}", "Unexpected token '{', expecting argument"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Multisocket, text)
    assert error in str(raised.value)


@pytest.mark.parametrize(
    "text, lines, workers",
    [
        (".:53 {\nmultisocket 2\n}", [".:53"] * 2, 2),
        (".:53 {\nmultisocket 1\n}", [".:53"], 0),
        (".:53 {\nmultisocket 2\n}\na.:53 {\nmultisocket 3\n}\nb.:54 {\n}", [".:53", "a.:53"] * 2 + ["b.:54"], 2),
        (".:53 {\n}\na.:53 {\nmultisocket 3\n}", [".:53", "a.:53"], 0),
        (
            ".:53 {\nmultisocket 2\nbind 127.0.0.1 127.0.0.2\n}",
            [".:53 on 127.0.0.1"] * 2 + [".:53 on 127.0.0.2"] * 2,
            2,
        ),
    ],
)
def test_the_first_block_of_an_address_decides(text: str, lines: list[str], workers: int) -> None:
    """As real CoreDNS prints it."""
    instance = build.build(parse(text, environ={}, plugins=ORDER), make_process())
    assert (list(instance.banner()), instance.workers) == (lines, workers)

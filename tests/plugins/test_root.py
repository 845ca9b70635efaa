"""*root* is a setting of its block; errors as CoreDNS's plugin/root words them."""

from pathlib import Path

import pytest

from pydns.corefile.line import CorefileError
from pydns.plugins.root import Root
from tests.support import make_block, make_plugin


@pytest.mark.parametrize("lines", ["root {}", "root nowhere\nroot {}"])
def test_the_last_line_counts(lines: str, tmp_path: Path, log_lines: list[str]) -> None:
    block = make_block()
    make_plugin(Root, lines.format(tmp_path), block)
    assert block.settings.root == tmp_path
    assert block.path("hosts") == tmp_path / "hosts"
    assert block.path("/etc/hosts") == Path("/etc/hosts")
    assert log_lines == []


def test_a_directory_may_come_later(log_lines: list[str]) -> None:
    make_plugin(Root, "root /no/such/directory")
    assert log_lines == ["[WARNING] plugin/root: Root path does not exist: /no/such/directory"]


@pytest.mark.parametrize(
    "text, error",
    [
        ("root", "Wrong argument count or unexpected line ending after 'root'"),
        ("root a b", "Wrong argument count"),
        (f"root {'x' * 300}", "unable to access root path 'xxx"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Root, text)
    assert error in str(raised.value)

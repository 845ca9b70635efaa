"""Which files an import names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pydns.corefile.imports import NoMatch, import_files


@pytest.fixture
def corefile(tmp_path: Path) -> str:
    (tmp_path / "conf").mkdir()
    for name in ("b.on", "a.on", ".hidden.on", "c.off"):
        (tmp_path / "conf" / name).write_text(name)
    return str(tmp_path / "Corefile")


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("conf/a.on", ["a.on"]),
        ("./conf/../conf/a.on", ["a.on"]),
        ("conf/*.on", [".hidden.on", "a.on", "b.on"]),
        ("con?/*.off", ["c.off"]),
    ],
)
def test_relative_to_the_importer(corefile: str, pattern: str, files: list[str]) -> None:
    tokens = import_files(pattern, corefile)
    assert [token.text for token in tokens] == files
    assert [token.file for token in tokens] == [str(Path(corefile).parent / "conf" / name) for name in files]


def test_absolute(corefile: str) -> None:
    path = str(Path(corefile).parent / "conf/a.on")
    assert [token.text for token in import_files(path, "/elsewhere/Corefile")] == ["a.on"]


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("nosuch", "^File to import not found: nosuch$"),
        ("*/*.on", "^Glob pattern may only contain one wildcard"),
        ("??.on", "^Glob pattern may only contain one wildcard"),
        ("[ab].on", "^Glob pattern may only contain one wildcard"),
        ("a[", r"^Failed to use import pattern a\[: syntax error in pattern$"),
        ("conf", "conf: is a directory$"),
    ],
)
def test_errors(corefile: str, pattern: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        import_files(pattern, corefile)


def test_glob_without_match(corefile: str) -> None:
    with pytest.raises(NoMatch, match=r"^No files matching import glob pattern: conf/\*.none$"):
        import_files("conf/*.none", corefile)


def test_unreadable(corefile: str) -> None:
    path = Path(corefile).parent / "loop"
    path.symlink_to(path)
    with pytest.raises(ValueError, match=r"^Could not import (.*): open \1: too many levels of symbolic links$"):
        import_files("loop", corefile)

"""Golden cases: a Corefile, and what it parses to or the error it makes.

A case is the Corefile, the files it imports (each after a line ``--- PATH``), and after ``---- tree`` or
``---- error`` what is expected.  Errors are what CoreDNS 1.14.7 prints; where it names no line, pydns puts one in
front.  ``---- hint`` is the text that pydns adds in parentheses, ``---- warnings`` what CoreDNS accepts silently.  In a
file called ``escaped_*.case`` the Corefile is written with Python's escapes, for blanks that an editor would lose.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from pydns.corefile.keys import Claim, duplicates
from pydns.corefile.line import CorefileError, Line
from pydns.corefile.parser import Corefile, load

CASES = sorted((Path(__file__).parent / "golden").glob("*.case"))
ENVIRON = {"V": "val ue", "K": "example.org", "W": "whoami", "X": "{$Y}", "Y": "example.net"}
PLUGINS = ("bind", "log", "errors", "health", "cache", "hosts", "forward", "kubernetes", "ready", "view", "whoami")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    assert render(case.corefile, case.files, tmp_path) == case.expected


class Case(NamedTuple):
    """A case file, taken apart."""

    corefile: str
    files: dict[str, str]
    expected: str


def read_case(path: Path) -> Case:
    source, marker, expected = re.split(r"^(---- (?:tree|error)\n)", path.read_text(), maxsplit=1, flags=re.M)
    corefile, *imports = re.split(r"^--- (.*)\n", source, flags=re.M)
    if path.name.startswith("escaped_"):
        corefile = corefile.encode().decode("unicode_escape").encode("latin-1").decode()
    return Case(corefile, dict(zip(imports[::2], imports[1::2], strict=True)), marker + expected)


def render(corefile: str, files: dict[str, str], directory: Path) -> str:
    """What pydns makes of ``corefile``, in the form of a case's second half."""
    for name, content in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(content)
    (directory / "Corefile").write_bytes(corefile.encode())
    try:
        parsed = load(str(directory / "Corefile"), environ=ENVIRON, plugins=PLUGINS)
        for duplicate in duplicates(_claims(parsed)):
            raise duplicate
    except CorefileError as error:
        return _show_error(error, f"{directory}/")
    return _show_tree(parsed, f"{directory}/")


def _claims(corefile: Corefile) -> list[Claim]:
    claims = []
    for block in corefile.blocks:
        addresses = [word for line in block.lines if line.name == "bind" for word in line.args]
        has_view = any(line.name == "view" for line in block.lines)
        claims += [Claim(key, addresses, has_view) for key in block.keys]
    return claims


def _show_error(error: CorefileError, directory: str) -> str:
    text = str(error).removesuffix(f" ({error.hint})") if error.hint else str(error)
    shown = f"---- error\n{text.rstrip()}\n"
    return _relative(shown + (f"---- hint\n{error.hint}\n" if error.hint else ""), directory)


def _show_tree(corefile: Corefile, directory: str) -> str:
    shown = ["---- tree"]
    for block in corefile.blocks:
        shown.append("block " + " ".join(map(str, block.keys)))
        shown += [text for line in block.lines for text in _show_line(line, 1)]
    if corefile.warnings:
        shown += ["---- warnings", *corefile.warnings]
    return _relative("\n".join(shown) + "\n", directory)


def _show_line(line: Line, depth: int) -> list[str]:
    words = [f"{line.line}:", line.name, *map(repr, line.args), *(["{"] if line.block is not None else [])]
    return ["  " * depth + " ".join(words)] + [
        text for part in line.block or () for text in _show_line(part, depth + 1)
    ]


def _relative(text: str, directory: str) -> str:
    return text.replace(f"{directory}Corefile:", "Corefile:").replace(directory, "DIR/")

"""Whole Corefiles: where they come from, and what is wrong with them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.corefile.line import CorefileError
from pydns.corefile.parser import Corefile, load, parse

PLUGINS = ("whoami", "log", "cache", "forward")


def shown(corefile: Corefile) -> list[str]:
    return [
        f"{' '.join(map(str, block.keys))} [{' '.join(line.name for line in block.lines)}]" for block in corefile.blocks
    ]


@pytest.mark.parametrize("text", ["", "# nothing\n", "{\nlog\n}\n", "(s) {\nlog\n}\n"])
def test_without_blocks_the_built_in_corefile_serves(text: str) -> None:
    assert shown(parse(text, environ={}, plugins=PLUGINS)) == ["dns://.:53 [whoami log]"]


def test_dns_port_moves_the_built_in_corefile() -> None:
    assert shown(parse("", environ={}, plugins=(), dns_port=1053)) == ["dns://.:1053 [whoami log]"]


def test_dns_port_leaves_written_ports() -> None:
    corefile = parse("a b:53 tls://c {\n}", environ={}, plugins=PLUGINS, dns_port=1053)
    assert shown(corefile) == ["dns://a.:1053 dns://b.:53 tls://c.:853 []"]


def test_blocks_know_their_place() -> None:
    blocks = parse("\na {\n}\nb {\n}", environ={}, plugins=PLUGINS).blocks
    assert [(block.file, block.line) for block in blocks] == [("Corefile", 2), ("Corefile", 4)]


def test_without_a_name_the_corefile_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown(load(None, environ={}, plugins=PLUGINS)) == ["dns://.:53 [whoami log]"]
    (tmp_path / "Corefile").write_text("a.test {\nlog\n}\n")
    assert shown(load(None, environ={}, plugins=PLUGINS)) == ["dns://a.test.:53 [log]"]


def test_a_named_file_must_be_there() -> None:
    with pytest.raises(CorefileError) as caught:
        load("/nosuch/Corefile", environ={}, plugins=PLUGINS)
    assert str(caught.value) == "loading Caddyfile via flag: open /nosuch/Corefile: no such file or directory"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a.test {\nnosuch\n}\n"))
    with pytest.raises(CorefileError, match=r"^/dev/stdin:2 - Error during parsing: Unknown directive 'nosuch'"):
        load("stdin", environ={}, plugins=PLUGINS)


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("a {\nlog {$A} {%A%}\n}\n", []),
        ("a {\nlog {$EMPTY}\n}\n", []),
        ("a {\nlog {$B} {$B}\n}\n", ["Corefile:2 - Warning: environment variable B is not set"]),
        ("{%B%}a {\n}\n", ["Corefile:1 - Warning: environment variable B is not set"]),
        (
            "(s) {\nlog {$B}\n}\na {\nimport s\nimport s\n}\n",
            ["Corefile:2 - Warning: environment variable B is not set"],
        ),
        ("(s) {\nimport {$B}t\n}\na {\nlog\n}\n", ["Corefile:2 - Warning: environment variable B is not set"]),
        (
            "a {\ncache {$TTL:30}\n}\n",
            [
                "Corefile:2 - Warning: environment variable TTL:30 is not set"
                " (as in CoreDNS, a variable can have no default in the Corefile)"
            ],
        ),
    ],
)
def test_variables_that_are_not_set_are_named(text: str, warnings: list[str]) -> None:
    assert parse(text, environ={"A": "a", "EMPTY": ""}, plugins=PLUGINS).warnings == warnings


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "Corefile").write_bytes(b"a.test {\nlog \xff\n}\n")
    corefile = load(str(tmp_path / "Corefile"), environ={}, plugins=PLUGINS)
    assert corefile.blocks[0].lines[0].args == ("\ufffd",)


def test_digest_sees_imports_and_not_comments(tmp_path: Path) -> None:
    path = tmp_path / "Corefile"

    def digest(text: str, imported: str) -> str:
        path.write_text(text)
        (tmp_path / "more").write_text(imported)
        return load(str(path), environ={}, plugins=PLUGINS).digest()

    first = digest("a {\nimport more\n}\n", "log")
    assert first == digest("a { # same\nimport more\n}\n", "log")
    assert first != digest("a {\nimport more\n}\n", "log a")
    assert first != digest("b {\nimport more\n}\n", "log")


WORDS = (
    "{",
    "}",
    '"',
    "\\",
    "#",
    ",",
    "(s)",
    "s",
    "{$A}",
    "{%",
    "%}",
    "whoami",
    "cache",
    "import ",
    "\n",
    "\r",
    " ",
    "\0",
)
KEYS = ("a.test", ".", "..", ":53", "tls://", "10.0.0.0/7", "::/0", "*", "[", "é", "9" * 30)
PIECES = st.sampled_from(WORDS + KEYS)


@given(st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join))
def test_nothing_but_a_corefile_error(text: str) -> None:
    try:
        corefile = parse(text, "/nosuch/Corefile", environ={"A": "{$A} x"}, plugins=PLUGINS)
    except CorefileError as error:
        assert "\n" not in str(error)
    else:
        assert corefile.blocks


@pytest.mark.parametrize("depth", [51, 20000])
def test_braces_too_deep(depth: int) -> None:
    with pytest.raises(CorefileError, match="levels of braces"):
        parse("a {\nlog " + "{\nx " * depth + "\n}" * depth + "\n}", environ={}, plugins=PLUGINS)

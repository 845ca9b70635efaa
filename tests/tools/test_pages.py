"""Manual pages from docstrings and declared options."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from pydns.corefile.options import Options, argument, flag, option
from pydns.corefile.types import integer, text
from pydns.plugin import Plugin
from pydns.tools import pages


@dataclass
class Bound(Options):
    capacity: int = argument(integer(1), help="entries kept")


@dataclass
class KeepOptions(Options):
    zones: tuple[str, ...] = argument(text, many=True, help="only these zones")
    success: Bound | None = option(Bound, help="bounds of a|b replies")
    quiet: bool = flag(help="say nothing")


@dataclass
class NoOptions(Options):
    pass


class Keep(Plugin):
    name = "keep"
    options = KeepOptions


class Bare(Plugin):
    name = "bare"
    options = NoOptions


KEEP = """Keeps replies
for a while.

As long as they say.

## Examples

None.

## Metrics

* one
"""


@pytest.fixture(autouse=True)
def two_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, doc in ((Keep, KEEP), (Bare, "Does nothing.\n")):
        module = ModuleType(f"plugins_{kind.name}", doc)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(kind, "__module__", module.__name__)
    classes: dict[str, type[Plugin]] = {"keep": Keep, "bare": Bare}
    monkeypatch.setattr(pages, "PLUGINS", dict.fromkeys(classes, ""))
    monkeypatch.setattr(pages, "load", classes.__getitem__)


def test_a_page() -> None:
    assert (
        pages.page("keep")
        == """\
# keep

Keeps replies for a while.

## Description

As long as they say.

## Syntax

```
keep [ZONES...] {
    success CAPACITY
    quiet
}
```

| option | default | meaning |
|---|---|---|
| `ZONES` |  | only these zones |
| `success CAPACITY` |  | bounds of a\\|b replies |
| `success CAPACITY` | required | entries kept |
| `quiet` |  | say nothing |

## Examples

None.

## Metrics

* one
"""
    )


def test_a_page_of_a_plugin_without_options() -> None:
    assert pages.page("bare") == "# bare\n\nDoes nothing.\n\n## Syntax\n\n```\nbare\n```\n"


@pytest.mark.parametrize("heading", ["", "## Description\n\n"])
def test_the_description_may_have_its_heading(heading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["plugins_bare"], "__doc__", f"Does nothing.\n\n{heading}At all.\n")
    assert "\n\n## Description\n\nAt all.\n\n## Syntax\n" in pages.page("bare")


def test_all_plugins_with_their_first_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert pages.show(None) == 0
    assert capsys.readouterr().out == "bare  Does nothing.\nkeep  Keeps replies for a while.\n"


def test_one_page_is_shown_as_it_is_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    assert pages.show("keep") == 0
    assert capsys.readouterr().out == pages.page("keep")


def test_a_terminal_gets_it_laid_out(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert pages.show("keep") == 0
    out = capsys.readouterr().out
    assert "Keeps replies for a while." in out
    assert "```" not in out


def test_an_unknown_plugin_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert pages.show("nope") == 1
    assert capsys.readouterr().err == "no plugin 'nope' in this version; `pydns plugins` lists them\n"


def test_all_pages_are_written_and_old_ones_go(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("old")
    pages.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bare.md", "keep.md"]
    assert (tmp_path / "keep.md").read_text() == pages.page("keep")

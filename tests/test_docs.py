"""The manual pages are what the code says, and their examples start."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pydns import registry
from pydns.build import Draft
from pydns.corefile.parser import parse
from pydns.tools.pages import page
from tests.server.parts import make_process

FOLDER = Path(__file__).parent.parent / "docs" / "plugins"
EXAMPLE = re.compile(r"^```corefile\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(example, id=f"{name} {number}")
    for name in sorted(registry.PLUGINS)
    for number, example in enumerate(EXAMPLE.findall(page(name)), 1)
]


def test_every_plugin_has_a_page() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == registry.PLUGINS.keys()


@pytest.mark.parametrize("name", sorted(registry.PLUGINS))
def test_a_page_is_current(name: str) -> None:
    assert (FOLDER / f"{name}.md").read_text() == page(name), "`make pages` writes it anew"


@pytest.mark.parametrize("name", sorted(registry.PLUGINS))
def test_a_page_has_a_first_sentence_and_an_example(name: str) -> None:
    text = page(name)
    assert re.match(rf"# {name}\n\n[A-Z][^#\n]+\.\n", text)
    assert EXAMPLE.search(text)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_would_start(example: str) -> None:
    draft = Draft(parse(example, environ={}, plugins=registry.ORDER), make_process())
    assert [str(problem) for problem in draft.problems] == []

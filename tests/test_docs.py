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

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "plugins"
EXAMPLE = re.compile(r"^```corefile\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(example, id=f"{name} {number}")
    for name in sorted(registry.PLUGINS)
    for number, example in enumerate(EXAMPLE.findall(page(name)), 1)
]


def test_every_plugin_has_a_page() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == registry.PLUGINS.keys()


def test_the_readme_names_every_plugin_of_coredns() -> None:
    """Each as served, as not served yet, or as out of scope."""
    text = (ROOT / "README.md").read_text()
    assert set(re.findall(r"^\| \[(\w+)\]", text, re.MULTILINE)) == registry.PLUGINS.keys()
    assert named_behind("that are not served yet: ", text) == sorted(
        set(registry.ORDER) - registry.PLUGINS.keys() - registry.OUT_OF_SCOPE.keys()
    )
    assert named_behind("a location database): ", text) == sorted(registry.OUT_OF_SCOPE)


def named_behind(words: str, text: str) -> list[str]:
    """What is listed from ``words`` to the end of the sentence."""
    return re.split(r",\s+", text.partition(words)[2].partition(".")[0])


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

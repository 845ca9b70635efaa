"""The manual pages are what the code says, and their examples start."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from pydns import registry
from pydns.build import Draft
from pydns.corefile.parser import parse
from pydns.k8s.derive import build
from pydns.k8s.documents import parse as manifests
from pydns.k8s.source import Interest
from pydns.k8s.store import Store
from pydns.k8s.survey import API_VERSIONS, warnings
from pydns.tools.pages import page
from tests.server.parts import make_process

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FOLDER = DOCS / "plugins"
MANIFESTS = DOCS / "manifests.md"
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


def test_manifests_example_is_what_the_page_says() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", MANIFESTS.read_text(), re.DOTALL | re.MULTILINE)
    documents = list(manifests("example.yaml", text.encode()))
    assert list(warnings(documents)) == []
    store = Store()
    for kind, items in build(documents, Interest(pods=True)).items():
        store.replace(kind, items)
    web = store.service("shop", "web")
    assert web is not None and ip_address(web.cluster_ips[0]) in ip_network("10.96.0.0/12")
    (slice_,) = store.slices("shop", "db")
    assert [(one.hostname, one.target) for one in slice_.endpoints] == [("db-0", "db-0")]


def test_manifests_page_lists_the_kinds_that_are_read() -> None:
    rows = re.findall(r"^\| ([A-Z][A-Za-z, ]+) \|", MANIFESTS.read_text(), re.MULTILINE)
    assert sorted(kind for row in rows for kind in row.split(", ")) == sorted(API_VERSIONS)


@pytest.mark.parametrize("page", ["../README.md", "plugins/kubernetes.md"])
def test_manifests_page_is_linked(page: str) -> None:
    assert re.search(r"\]\((docs|\.\.)/manifests\.md\)", (DOCS / page).read_text())

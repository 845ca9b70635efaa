"""Facts about queries, from the plugins that know them."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pydns.corefile.line import CorefileError
from pydns.corefile.options import Options
from pydns.plugin import Plugin
from pydns.plugins.metadata import Metadata
from pydns.query import Query
from tests.support import answer, make_block, make_plugin, make_query


@dataclass
class NoOptions(Options):
    pass


class Forward(Plugin):
    """A plugin that knows facts."""

    name = "forward"
    options = NoOptions

    def metadata(self, query: Query) -> dict[str, Callable[[], str]]:
        return {"forward/upstream": lambda: f"upstream of {query.name}"}


class Kubernetes(Forward):
    name = "kubernetes"

    def metadata(self, query: Query) -> dict[str, Callable[[], str]]:
        return {"kubernetes/namespace": lambda: "shop"}


@pytest.mark.parametrize(
    "text, question, labels",
    [
        ("metadata", "www.example.org. A", {"forward/upstream", "kubernetes/namespace"}),
        ("metadata", "example.net. A", set()),
        ("metadata example.net", "www.EXAMPLE.net. A", {"forward/upstream", "kubernetes/namespace"}),
        ("metadata example.net", "www.example.org. A", set()),
        ("metadata {\n}", "www.example.org. A", {"forward/upstream", "kubernetes/namespace"}),
    ],
)
async def test_facts_are_noted_for_names_in_the_zones(text: str, question: str, labels: set[str]) -> None:
    block = make_block("example.org")
    make_plugin(Forward, "forward", block)
    make_plugin(Kubernetes, "kubernetes", block)
    plugin = make_plugin(Metadata, text, block, answer())
    await plugin.start()
    query = make_query(question)
    await plugin.serve(query)
    assert set(query.metadata) == labels
    assert all(value() in ("shop", f"upstream of {query.name}") for value in query.metadata.values())


@pytest.mark.parametrize("text", ["metadata {\nx\n}", "metadata\nmetadata", "metadata {\n} x"])
def test_bad_options(text: str) -> None:
    with pytest.raises(CorefileError):
        make_plugin(Metadata, text)

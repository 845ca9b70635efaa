"""Corefiles to configurations: order, chains, listeners, errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pydns import build, registry
from pydns.corefile.line import CorefileError
from pydns.corefile.options import Options, argument
from pydns.corefile.parser import parse
from pydns.corefile.types import text
from pydns.dns import Message, Rcode
from pydns.plugin import Block, Plugin, Settings
from pydns.query import Failure, Query
from pydns.server.instance import Instance
from pydns.server.listener import Listener
from tests.server.parts import make_process, packet
from tests.support import make_query

SET_UP: list[str] = []


@dataclass
class Words(Options):
    words: tuple[str, ...] = argument(text, many=True)


class Link(Plugin):
    """A link that passes on; it notes where it was set up."""

    options = Words
    replay_safe = True

    def __init__(self, block: Block, conf: Words | list[Words]) -> None:
        super().__init__(block, conf)
        self.conf = conf
        SET_UP.append(f"{self.name} {block.zones[0]}")

    async def serve(self, query: Query) -> Message:
        query.metadata[self.name] = str
        return await self.next(query)


class Errors(Link):
    name = "errors"


class Log(Link):
    name = "log"
    replay_safe = False


class Forward(Link):
    name = "forward"
    repeatable = True
    any_class = True


class Hosts(Link):
    name = "hosts"
    any_class = False


class Bind(Plugin):
    """Not a link: it changes settings."""

    name = "bind"
    options = Words

    def __init__(self, block: Block, conf: Words) -> None:
        super().__init__(block, conf)
        block.settings.addresses = conf.words


class Debug(Plugin):
    name = "debug"
    options = Words

    def __init__(self, block: Block, conf: Words) -> None:
        super().__init__(block, conf)
        block.settings.debug = True


CLASSES: dict[str, type[Plugin]] = {kind.name: kind for kind in (Errors, Log, Forward, Hosts, Bind, Debug)}


@pytest.fixture(autouse=True)
def small_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The registry with the plugins of this file."""
    SET_UP.clear()
    monkeypatch.setattr(registry, "load", CLASSES.__getitem__)
    monkeypatch.setattr(registry, "PLUGINS", dict.fromkeys(CLASSES, ""))


def draft(corefile: str) -> build.Draft:
    return build.Draft(parse(corefile, environ={}, plugins=registry.ORDER), make_process())


def made(corefile: str) -> Instance:
    return build.build(parse(corefile, environ={}, plugins=registry.ORDER), make_process())


def problems(corefile: str) -> list[str]:
    return [str(problem) for problem in draft(corefile).problems]


def test_plugins_are_set_up_directive_by_directive() -> None:
    instance = made("a {\nforward\nlog\nerrors\n}\nb {\nlog\nbind 127.0.0.1\nerrors\n}")
    assert SET_UP == ["errors a.", "errors b.", "log a.", "log b.", "forward a."]
    assert [plugin.name for plugin in instance.plugins] == ["bind", "errors", "errors", "log", "log", "forward"]
    assert list(instance.blocks[0].plugins) == ["errors", "log", "forward"]


async def test_a_query_passes_the_links_in_their_order() -> None:
    (listener,) = made(". {\nforward\nhosts\nlog\nbind\nerrors\n}").listeners.values()
    query = make_query("example.org. A")
    chain = listener.dispatcher.zones["."]
    assert chain.first is not None
    with pytest.raises(Failure) as failure:
        await chain.first(query)
    assert list(query.metadata) == ["errors", "log", "hosts", "forward"]
    assert (failure.value.rcode, failure.value.why) == (Rcode.SERVFAIL, "plugin/forward: no next plugin found")


@pytest.mark.parametrize(
    "lines, replay_safe, any_class",
    [
        ("errors", True, False),
        ("errors\nhosts", True, False),
        ("errors\nlog\nhosts", False, False),
        ("forward", True, True),
        ("bind 127.0.0.1\nerrors", True, False),
    ],
)
def test_a_chain_consents_where_every_link_does(lines: str, replay_safe: bool, any_class: bool) -> None:
    (listener,) = made(f". {{\n{lines}\n}}").listeners.values()
    chain = listener.dispatcher.zones["."]
    assert (chain.replay_safe, chain.any_class) == (replay_safe, any_class)


@pytest.mark.parametrize("corefile", [".", ". {\n}", ". {\nbind 127.0.0.1\n}"])
def test_a_block_without_links_has_no_chain(corefile: str) -> None:
    (listener,) = made(corefile).listeners.values()
    assert listener.dispatcher.zones["."].first is None


def test_several_lines_make_one_repeatable_plugin() -> None:
    (plugin,) = made(". {\nforward a\nforward b\n}").plugins
    assert isinstance(plugin, Forward)
    assert isinstance(plugin.conf, list)
    assert [words.words for words in plugin.conf] == [("a",), ("b",)]


@pytest.mark.parametrize(
    "corefile, listeners",
    [
        (".", {"dns://:53": ["."]}),
        ("a b:1053", {"dns://:53": ["a."], "dns://:1053": ["b."]}),
        ("a {\n}\nb {\n}", {"dns://:53": ["a.", "b."]}),
        (
            "a {\nbind 127.0.0.1 ::1\n}\nb {\nbind ::1\n}",
            {"dns://127.0.0.1:53": ["a."], "dns://[::1]:53": ["a.", "b."]},
        ),
        ("10.0.0.0/23", {"dns://:53": ["0.0.10.in-addr.arpa.", "1.0.10.in-addr.arpa."]}),
    ],
)
def test_blocks_of_one_address_share_a_listener(corefile: str, listeners: dict[str, list[str]]) -> None:
    found = {each.dispatcher.label: sorted(each.dispatcher.zones) for each in build_listeners(corefile)}
    assert found == listeners


def build_listeners(corefile: str) -> Sequence[Listener]:
    return list(made(corefile).listeners.values())


def test_the_zones_of_a_block_share_its_plugins() -> None:
    (listener,) = build_listeners("a b {\nerrors\n}")
    zones = listener.dispatcher.zones
    assert zones["a."] is zones["b."]
    assert SET_UP == ["errors a."]


def test_settings_of_the_blocks_of_a_listener_add_up() -> None:
    (listener,) = build_listeners("a {\ndebug\n}\nb {\n}")
    assert listener.settings == Settings(debug=True)


@pytest.mark.parametrize("value, remembers", [(None, True), ("1", True), ("0", False)])
def test_an_environment_variable_turns_the_packet_cache_off(
    value: str | None, remembers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(build.PACKET_CACHE, raising=False)
    if value is not None:
        monkeypatch.setenv(build.PACKET_CACHE, value)
    (listener,) = build_listeners(".")
    assert (listener.cache("udp", 4) is not None) is remembers


@pytest.mark.parametrize(
    "corefile, problem",
    [
        (
            ". {\nhosts\nhosts\n}",
            "plugin/hosts: Corefile:3 - Error during parsing: this plugin can only be used once per Server Block",
        ),
        (
            ". {\nrewrite\n}",
            "plugin/rewrite: Corefile:2 - Error during parsing: plugin 'rewrite' is not served by this version yet",
        ),
        (
            ". {\nroute53\n}",
            "plugin/route53: Corefile:2 - Error during parsing: plugin 'route53' is not part of pydns "
            "(it is for a cloud provider's DNS)",
        ),
        (
            "tls://example.org",
            "Corefile:1 - cannot serve tls://example.org.:853: transport 'tls' is not served by this version yet",
        ),
        (". {\n}\n.:53 {\n}", "Corefile:3 - cannot serve dns://.:53 - it is already defined"),
        (
            ". {\nbind 127.0.0.1\n}\n. {\n}",
            "Corefile:4 - cannot serve dns://.:53 - zone overlap listener capacity with dns://.:53 on 127.0.0.1",
        ),
        (
            ". {\nbind 127.0.0.1\n}\n. {\nbind 127.0.0.1\n}",
            "Corefile:4 - cannot serve dns://.:53 on 127.0.0.1 - it is already defined",
        ),
    ],
)
def test_what_cannot_start_says_why_and_where(corefile: str, problem: str) -> None:
    assert problems(corefile) == [problem]
    with pytest.raises(CorefileError) as raised:
        made(corefile)
    assert str(raised.value) == problem


def test_a_draft_has_all_problems() -> None:
    found = problems("tls://. {\nrewrite\n}\na {\nhosts\nhosts\n}\na {\n}")
    assert [problem.split(" - ")[0].removeprefix("plugin/") for problem in found] == [
        "Corefile:1",
        "rewrite: Corefile:2",
        "hosts: Corefile:6",
        "Corefile:8",
    ]


@pytest.mark.parametrize(
    "corefile, problem",
    [
        (
            ". {\nrewrite\n}\nb {\nroute53\n}",
            "plugin/rewrite: Corefile:2 - Error during parsing: plugin 'rewrite' is not served by this version yet"
            " (pydns check Corefile shows all 2 problems)",
        ),
        (
            ". {\nroute53\nazure\n}",
            "plugin/route53: Corefile:2 - Error during parsing: plugin 'route53' is not part of pydns"
            " (it is for a cloud provider's DNS; pydns check Corefile shows all 2 problems)",
        ),
    ],
)
def test_the_first_problem_says_where_the_others_are(corefile: str, problem: str) -> None:
    with pytest.raises(CorefileError) as raised:
        made(corefile)
    assert str(raised.value) == problem


def test_views_share_a_zone() -> None:
    (only,) = problems("a {\nview x\n}\na {\n}")
    assert "plugin 'view' is not served" in only


async def test_queries_that_no_chain_saw_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Prometheus(Link):
        name = "prometheus"

        def refused(self, query: Query, reply: Message, size: int) -> None:
            seen.append(query.name)

    monkeypatch.setitem(CLASSES, "prometheus", Prometheus)
    monkeypatch.setitem(registry.PLUGINS, "prometheus", "")
    instance = made("a {\nprometheus\n}\nb:1053 {\nprometheus\n}\nc:2053 {\n}")
    for listener in instance.listeners.values():
        await listener.dispatcher.handle(packet("x. A"), ("127.0.0.1", 1), ("127.0.0.1", 53), "udp")
    assert seen == ["x."] * 3


def test_the_corefile_is_read_with_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZONE", "example.org")
    path = tmp_path / "Corefile"
    path.write_text("{$ZONE} b:1053 {\nerrors\n}\n")
    (block,) = build.load(str(path), 5300).blocks
    assert [str(key) for key in block.keys] == ["dns://example.org.:5300", "dns://b.:1053"]

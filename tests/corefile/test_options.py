"""Options declared once: what is parsed, what is refused, the Syntax section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pydns.corefile.line import WRONG_ARGS, CorefileError, Line
from pydns.corefile.options import Options, argument, flag, ignored, option
from pydns.corefile.parser import parse
from pydns.corefile.types import choice, duration, integer, path, seconds, text, zones


@dataclass
class Bound(Options):
    capacity: int = argument(integer(1))
    ttl: int = argument(seconds(1), default=3600)


@dataclass
class Cache(Options):
    ttl: int = argument(seconds(1), default=3600, help="upper bound")
    zones: tuple[str, ...] = argument(zones, many=True)
    success: Bound | None = option(Bound)
    denial: Bound = option(Bound, default=Bound(capacity=9984))
    disable: tuple[Bound, ...] = option(Bound, many=True)
    servfail: float = option(duration(0, 300), default=5.0, help="how long")
    policy: str = option(choice("a", "b"), default="a")
    word: str | None = option(text)
    except_: tuple[str, ...] = option(text, many=True, name="except")
    keepttl: bool = flag(help="keep them")
    upstream: Any = ignored(help="of old")
    minttl: int = option(integer(), default=5, surplus="left out")
    reverse: bool = flag(surplus="property")
    rate: int = option(integer(), default=0, surplus="property")


@dataclass
class Strict(Options):
    unknown = WRONG_ARGS
    files: tuple[str, ...] = argument(path, many=True, at_least=1)
    pair: bool = flag()

    def validate(self, line: Line) -> None:
        if self.pair and len(self.files) != 2:
            raise line.error("pair needs two files")


@dataclass
class Entries(Options):
    free_block = True
    entries: tuple[Line, ...] = ()

    @classmethod
    def read_unknown(cls, line: Line, values: dict[str, Any]) -> None:
        if line.name == "bad":
            super().read_unknown(line, values)
        values["entries"] = (*values.get("entries", ()), line)


def line_of(source: str) -> Line:
    """The first plugin line of a block with ``source``."""
    name = source.split(maxsplit=1)[0]
    return parse(f". {{\n{source}\n}}", environ={}, plugins=[name]).blocks[0].lines[0]


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("cache", Cache()),
        ("cache 30", Cache(ttl=30)),
        ("cache Example.org", Cache(zones=("example.org.",))),
        ("cache 30 a.b 10.0.0.0/7", Cache(ttl=30, zones=("a.b.", "10.in-addr.arpa.", "11.in-addr.arpa."))),
        ("cache { }", Cache()),
        ("cache {\nsuccess 5\n}", Cache(success=Bound(capacity=5))),
        ("cache {\nsuccess 5 60\nsuccess 6 70\n}", Cache(success=Bound(capacity=6, ttl=70))),
        ("cache {\ndisable 1\ndisable 2\n}", Cache(disable=(Bound(capacity=1), Bound(capacity=2)))),
        ("cache {\nservfail 1m\nkeepttl\npolicy b\nword x\n}", Cache(servfail=60, keepttl=True, policy="b", word="x")),
        ("cache {\nexcept a b\nexcept c\n}", Cache(except_=("a", "b", "c"))),
        ("cache {\nupstream\n}", Cache()),
        ("strict a b {\npair\n}", Strict(files=("a", "b"), pair=True)),
    ],
)
def test_parse(source: str, options: Options) -> None:
    assert type(options).parse(line_of(source)) == options


@pytest.mark.parametrize(
    ("options", "source", "error"),
    [
        (Cache, "cache 0", "2 - Error during parsing: ttl must be at least 1: 0"),
        (
            Cache,
            "cache {\nsucces 5\n}",
            "3 - Error during parsing: unknown property 'succes' (did you mean 'success'?)",
        ),
        (Cache, "cache {\nzzz\n}", "3 - Error during parsing: unknown property 'zzz'"),
        (
            Cache,
            "cache {\nsuccess\n}",
            "3 - Error during parsing: Wrong argument count or unexpected line ending after 'success' "
            "(usage: success CAPACITY [TTL])",
        ),
        (
            Cache,
            "cache {\nsuccess 1 2 3\n}",
            "3 - Error during parsing: Wrong argument count or unexpected line ending after '3' "
            "(usage: success CAPACITY [TTL])",
        ),
        (Cache, "cache {\nsuccess x\n}", '3 - Error during parsing: success capacity must be a whole number: "x"'),
        (
            Cache,
            "cache {\nservfail\n}",
            "3 - Error during parsing: Wrong argument count or unexpected line ending after 'servfail' "
            "(usage: servfail DURATION)",
        ),
        (
            Cache,
            "cache {\nservfail 5\n}",
            '3 - Error during parsing: servfail must be a duration: time: missing unit in duration "5"',
        ),
        (Cache, "cache {\nservfail 301s\n}", "3 - Error during parsing: servfail must be in range [0, 300]: 301"),
        (
            Cache,
            "cache {\nkeepttl x\n}",
            "3 - Error during parsing: Wrong argument count or unexpected line ending after 'x' (usage: keepttl)",
        ),
        (
            Cache,
            "cache {\nexcept\n}",
            "3 - Error during parsing: Wrong argument count or unexpected line ending after 'except' "
            "(usage: except TEXT...)",
        ),
        (
            Cache,
            "cache {\nkeepttl {\n}\n}",
            "3 - Error during parsing: unknown property '{' (keepttl takes no braces)",
        ),
        (
            Cache,
            "cache {\nsuccess 5 {\n}\n}",
            "3 - Error during parsing: Unexpected token '{', expecting argument (usage: success CAPACITY [TTL])",
        ),
        (
            Strict,
            "strict",
            "2 - Error during parsing: Wrong argument count or unexpected line ending after 'strict' "
            "(usage: strict FILES...)",
        ),
        (
            Strict,
            "strict a {\npairs\n}",
            "3 - Error during parsing: Wrong argument count or unexpected line ending after 'pairs' "
            "(did you mean 'pair'?)",
        ),
        (
            Strict,
            "strict a {\npair {\n}\n}",
            "3 - Error during parsing: Unexpected token '{', expecting argument (pair takes no braces)",
        ),
        (Strict, "strict a {\npair\n}", "2 - Error during parsing: pair needs two files"),
        (Entries, "hosts {\n10.0.0.1 a\nbad\n}", "4 - Error during parsing: unknown property 'bad'"),
    ],
)
def test_errors(options: type[Options], source: str, error: str) -> None:
    with pytest.raises(CorefileError) as caught:
        options.parse(line_of(source))
    assert str(caught.value) == f"plugin/{source.split(maxsplit=1)[0]}: Corefile:{error}"


def test_lines_without_a_fixed_name() -> None:
    options = Entries.parse(line_of("hosts {\n10.0.0.1 a.test\n10.0.0.2 b.test\n}"))
    assert [(entry.name, *entry.args) for entry in options.entries] == [("10.0.0.1", "a.test"), ("10.0.0.2", "b.test")]


def test_what_coredns_swallows_is_noted() -> None:
    corefile = parse(". {\ncache x..y a.b {\nupstream\n}\n}", environ={}, plugins=["cache"])
    options = Cache.parse(corefile.blocks[0].lines[0])
    assert options.zones == ("a.b.",)
    assert corefile.warnings == [
        "plugin/cache: Corefile:2 - Warning: 'x..y' is left out: "
        "it must be a zone: zone is not a valid domain name: x..y",
        "plugin/cache: Corefile:3 - Warning: property 'upstream' is accepted and has no effect",
    ]


@pytest.mark.parametrize(
    ("block", "options", "warning"),
    [
        ("minttl 7 8 x", Cache(minttl=7), "'8 x' is left out: usage: minttl N"),
        ("reverse keepttl", Cache(reverse=True, keepttl=True), "'keepttl' on the line of 'reverse' is taken as a"),
        ("rate 5 servfail 1m", Cache(rate=5, servfail=60), "'servfail' on the line of 'rate' is taken as a property"),
        ("rate 5 success 3 4", Cache(rate=5, success=Bound(capacity=3, ttl=4)), "'success' on the line of 'rate'"),
    ],
)
def test_words_behind_those_that_a_property_takes(block: str, options: Cache, warning: str) -> None:
    line = line_of(f"cache {{\n{block}\n}}")
    assert Cache.parse(line) == options
    (given,) = line.warnings
    assert given.startswith(f"plugin/cache: Corefile:3 - Warning: {warning}")


def test_what_follows_on_the_line_of_a_property_must_be_one() -> None:
    with pytest.raises(CorefileError, match="unknown property '6'"):
        Cache.parse(line_of("cache {\nrate 5 6\n}"))


def test_all_errors_of_a_plugin_are_found() -> None:
    with pytest.raises(CorefileError) as caught:
        Cache.parse(line_of("cache 0 {\nzzz\nkeepttl\nsuccess x\nservfail 5\n}"))
    found = [caught.value, *caught.value.further]
    assert [(error.line, error.message.split()[0]) for error in found] == [
        (2, "ttl"),
        (3, "unknown"),
        (5, "success"),
        (6, "servfail"),
    ]


def test_syntax() -> None:
    assert Cache.syntax("cache").splitlines() == [
        "cache [TTL] [ZONES...] {",
        "    success CAPACITY [TTL]",
        "    denial CAPACITY [TTL]",
        "    disable CAPACITY [TTL]",
        "    servfail DURATION",
        "    policy a|b",
        "    word TEXT",
        "    except TEXT...",
        "    keepttl",
        "    minttl N",
        "    reverse",
        "    rate N",
        "}",
    ]
    assert Bound.syntax("success") == "success CAPACITY [TTL]"
    assert Options.syntax("whoami") == "whoami"


def test_a_plugin_without_options_takes_nothing() -> None:
    assert isinstance(Options.parse(line_of("whoami")), Options)
    with pytest.raises(CorefileError, match="after 'x'"):
        Options.parse(line_of("whoami x"))
    with pytest.raises(CorefileError, match="Unexpected token"):
        Options.parse(line_of("whoami {\n}"))

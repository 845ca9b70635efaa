"""*hosts* in presentation format; expectations from CoreDNS's plugin/hosts."""

import asyncio
import math
import os
from collections.abc import Hashable, Iterable
from pathlib import Path

import pytest

from pydns.corefile.line import CorefileError
from pydns.dns import Flag, Message, Replay
from pydns.plugin import Block
from pydns.plugins.hosts import Entry, Hosts, HostsOptions, Table, read_entry
from pydns.query import Failure
from tests.support import Clock, answer, corefile_lines, make_block, make_plugin, make_query, texts

FILE = """\
127.0.0.1 localhost localhost.domain
::1 localhost
10.0.0.1 Web.Example.org
10.0.0.2 web.example.org.   # a second address
2001:db8::1%eth0 web.example.org
10.0.0.3 *.apps.example.org
10.0.0.4 own.apps.example.org
::ffff:10.0.0.5 mapped.example.org
10.0.0.9 other.net
"""
INLINE = "10.0.1.1 web.example.org\n10.0.1.2 inline.example.org"


async def passed(text: str, question: str, block: Block | None = None) -> list[str] | str:
    """The answer section, ``passed`` for a query that went to the next plugin, or the rcode of a failure."""
    plugin = make_plugin(Hosts, text, block, answer('passed. 0 IN TXT "passed"'))
    await plugin.start()
    try:
        reply = await plugin.serve(make_query(question))
    except Failure as failure:
        return f"rcode {failure.rcode} {failure.why}".strip()
    finally:
        await plugin.stop()
    found = texts(reply.answer)
    if found == ['passed. 0 IN TXT "passed"']:
        return "passed"
    assert reply.flags == Flag.QR | Flag.AA | Flag.RD
    assert (reply.authority, reply.additional) == ((), ())
    return found


@pytest.fixture
def block(tmp_path: Path) -> Block:
    """A block for example.org with `FILE` as ``hosts`` in its root."""
    (tmp_path / "hosts").write_text(FILE)
    block = make_block("example.org")
    block.settings.root = tmp_path
    return block


@pytest.mark.parametrize(
    "question, expected",
    [
        (
            "WEB.example.org. A",
            [
                "web.example.org. 3600 IN A 10.0.0.1",
                "web.example.org. 3600 IN A 10.0.0.2",
                "web.example.org. 3600 IN A 10.0.1.1",
            ],
        ),
        ("web.example.org. AAAA", ["web.example.org. 3600 IN AAAA 2001:db8::1"]),
        ("inline.example.org. A", ["inline.example.org. 3600 IN A 10.0.1.2"]),
        ("inline.example.org. AAAA", []),
        ("inline.example.org. TXT", []),
        ("inline.example.org. ANY", []),
        ("mapped.example.org. A", ["mapped.example.org. 3600 IN A 10.0.0.5"]),
        ("a.apps.example.org. A", ["a.apps.example.org. 3600 IN A 10.0.0.3"]),
        ("own.apps.example.org. A", ["own.apps.example.org. 3600 IN A 10.0.0.4"]),
        ("a.b.apps.example.org. A", "rcode 2"),
        ("apps.example.org. A", "rcode 2"),
        ("*.apps.example.org. A", ["*.apps.example.org. 3600 IN A 10.0.0.3"]),
        ("nothing.example.org. A", "rcode 2"),
        ("nothing.example.org. MX", "rcode 2"),
        ("other.net. A", "passed"),
        ("localhost. A", "passed"),
        ("1.0.0.10.in-addr.arpa. PTR", ["1.0.0.10.in-addr.arpa. 3600 IN PTR web.example.org."]),
        ("3.0.0.10.in-addr.arpa. PTR", "passed"),
        ("1.0.0.127.in-addr.arpa. PTR", "passed"),
        ("10.in-addr.arpa. PTR", "passed"),
        ("web.example.org. PTR", "passed"),
        (
            "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.B.D.0.1.0.0.2.ip6.arpa. PTR",
            ["1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. 3600 IN PTR web.example.org."],
        ),
    ],
)
async def test_answers(question: str, expected: list[str] | str, block: Block) -> None:
    assert await passed(f"hosts hosts {{\n{INLINE}\n}}", question, block) == expected


@pytest.mark.parametrize(
    "options, question, expected",
    [
        ("fallthrough", "nothing.example.org. A", "passed"),
        ("fallthrough", "inline.example.org. AAAA", []),
        ("fallthrough", "inline.example.org. MX", []),
        ("fallthrough b.example.org", "nothing.example.org. A", "rcode 2"),
        ("fallthrough b.example.org", "x.b.example.org. A", "passed"),
        ("fallthrough\nfallthrough_unsupported", "inline.example.org. MX", "passed"),
        ("fallthrough\nfallthrough_unsupported", "inline.example.org. AAAA", []),
        ("fallthrough b.example.org\nfallthrough_unsupported", "inline.example.org. MX", []),
        ("ttl 60", "inline.example.org. A", ["inline.example.org. 60 IN A 10.0.1.2"]),
        ("no_reverse", "2.1.0.10.in-addr.arpa. PTR", "passed"),
        ("no_reverse", "inline.example.org. A", ["inline.example.org. 3600 IN A 10.0.1.2"]),
        ("fallthrough", "2.1.0.10.in-addr.arpa. PTR", ["2.1.0.10.in-addr.arpa. 3600 IN PTR inline.example.org."]),
    ],
)
async def test_options(options: str, question: str, expected: list[str] | str, block: Block) -> None:
    assert await passed(f"hosts hosts {{\n{INLINE}\n{options}\n}}", question, block) == expected


async def test_a_wildcard_of_the_root_matches_nothing() -> None:
    assert await passed("hosts {\n10.0.0.7 *\n}", "nothing. A") == "rcode 2"


async def test_zones_of_its_own(block: Block) -> None:
    assert await passed("hosts hosts other.net", "other.net. A", block) == ["other.net. 3600 IN A 10.0.0.9"]
    assert await passed("hosts hosts other.net", "web.example.org. A", block) == "passed"


@pytest.mark.parametrize(
    "line, entry",
    [
        ("127.0.0.1 localhost", "127.0.0.1 localhost."),
        ("\t10.0.0.1\tA  b.example.ORG. # c d", "10.0.0.1 a. b.example.org."),
        ("fe80::1%lo0 x", "fe80::1 x."),
        ("::ffff:1.2.3.4 x", "1.2.3.4 x."),
        ("# 10.0.0.1 x", ""),
        ("   ", ""),
        ("10.0.0.1", "no name follows address '10.0.0.1'"),
        ("10.0.0 x", "'10.0.0' is no IP address"),
        ("010.0.0.1 x", "'010.0.0.1' is no IP address"),
        ("10.0.0.1 a..b", "label of 0 octets"),
    ],
)
def test_entries(line: str, entry: str) -> None:
    try:
        found = read_entry(line)
    except ValueError as error:
        assert entry in str(error)
    else:
        assert ("" if found is None else f"{found.address} {' '.join(found.names)}") == entry


def test_entries_are_counted_as_coredns_counts_them() -> None:
    entries = [read_entry(line) for line in ("10.0.0.1 a b", "10.0.0.2 *.c", "::1 a")]
    table = Table(entry for entry in entries if isinstance(entry, Entry))
    assert len(table) == 4 + 3


class Listener:
    """Remembers the tags that were published."""

    def __init__(self, block: Block) -> None:
        self.tags: list[Hashable] = []
        block.process.changes.listen(self.note)

    def note(self, tags: Iterable[Hashable]) -> None:
        self.tags += tags


def shown(block: Block) -> list[str]:
    lines = block.process.metrics.exposition().decode().splitlines()
    return [line for line in lines if line.startswith("coredns_hosts_")]


async def test_the_file_is_read_again_when_it_changed(tmp_path: Path, log_lines: list[str]) -> None:
    clock = Clock()
    block = make_block(clock=clock)
    file = tmp_path / "hosts"
    plugin = make_plugin(Hosts, f"hosts {file} {{\n10.0.1.1 x\nreload 10s\n}}", block)
    listener = Listener(block)
    query = make_query("x. A")
    await plugin.start()
    assert shown(block) == ["coredns_hosts_reload_timestamp_seconds 0.0"]
    reply = await plugin.serve(query)
    assert reply.replay is not None
    assert listener.tags == []

    file.write_text("10.0.0.1 x\nnonsense\n")
    os.utime(file, (1000, 1234.5))
    await clock.advance(10)
    await clock.until_asleep()
    assert texts((await plugin.serve(query)).answer) == ["x. 3600 IN A 10.0.0.1", "x. 3600 IN A 10.0.1.1"]
    assert tuple(listener.tags) == reply.replay.tags
    assert shown(block) == [
        f'coredns_hosts_entries{{hostsfile="{file}"}} 4.0',
        "coredns_hosts_reload_timestamp_seconds 1234.5",
    ]

    await clock.advance(10)
    await clock.until_asleep()
    assert len(listener.tags) == 1  # nothing changed

    file.unlink()
    await clock.advance(10)
    await clock.until_asleep()
    assert len((await plugin.serve(query)).answer) == 2
    assert tuple(listener.tags) == reply.replay.tags
    await plugin.stop()
    assert log_lines == [
        f"[WARNING] plugin/hosts: File does not exist: {file}",
        f"[WARNING] plugin/hosts: {file}:2 - line is left out: 'nonsense' is no IP address",
    ]


async def test_without_reload_the_file_is_read_once(tmp_path: Path) -> None:
    clock = Clock()
    file = tmp_path / "hosts"
    file.write_text("10.0.0.1 x\n")
    plugin = make_plugin(Hosts, f"hosts {file} {{\nreload 0s\n}}", make_block(clock=clock))
    await plugin.start()
    file.write_text("10.0.0.2 x y\n")
    await clock.advance(100)
    assert texts((await plugin.serve(make_query("x. A"))).answer) == ["x. 3600 IN A 10.0.0.1"]
    await plugin.stop()


async def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "hosts"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)  # so that one who opens it to read meets no end, and hangs
    plugin = make_plugin(Hosts, f"hosts {pipe} {{\nreload 0s\n10.0.0.1 x\n}}", make_block())
    try:
        await asyncio.wait_for(plugin.start(), 5)
    finally:
        os.close(writer)
    assert texts((await plugin.serve(make_query("x. A"))).answer) == ["x. 3600 IN A 10.0.0.1"]


async def test_answers_may_be_replayed_until_the_file_changes(block: Block) -> None:
    plugin = make_plugin(Hosts, f"hosts hosts {{\n{INLINE}\n}}", block)
    reply = await plugin.serve(make_query("inline.example.org. A"))
    assert reply.replay is not None
    assert (reply.replay.until, len(reply.replay.tags)) == (math.inf, 1)


@pytest.mark.parametrize("replay", [None, Replay(2000.0, ("below",))])
async def test_what_passed_depends_on_the_file_too(replay: Replay | None, block: Block) -> None:
    def consent(reply: Message) -> Message:
        return reply._replace(replay=replay)

    end = answer("nothing.example.org. 5 IN A 192.0.2.1", change=consent)
    plugin = make_plugin(Hosts, f"hosts hosts {{\n{INLINE}\nfallthrough\n}}", block, end)
    own = await plugin.serve(make_query("inline.example.org. A"))
    reply = await plugin.serve(make_query("nothing.example.org. A"))
    assert own.replay is not None
    assert reply.replay == (replay and Replay(2000.0, ("below", *own.replay.tags)))


def test_nonsense_between_the_braces_is_left_out_with_a_warning() -> None:
    line = corefile_lines("hosts {\n10.0.0.1 a\nttll 30\n10.0.0.2\nfallthrough\n}")[0]
    options = HostsOptions.parse(line)
    assert options.entries == [read_entry("10.0.0.1 a")]
    assert line.warnings == [
        "plugin/hosts: Corefile:4 - Warning: line is left out: 'ttll' is no IP address (did you mean 'ttl'?)",
        "plugin/hosts: Corefile:5 - Warning: line is left out: no name follows address '10.0.0.2'",
    ]


@pytest.mark.parametrize(
    "block, expected, warning",
    [
        ("ttl 30 40", HostsOptions(ttl=30), "'40' is left out: usage: ttl SECONDS"),
        ("no_reverse ttl 30", HostsOptions(no_reverse=True, ttl=30), "'ttl' on the line of 'no_reverse'"),
        ("no_reverse x", HostsOptions(no_reverse=True), "'x' on the line of 'no_reverse'"),
    ],
)
def test_words_too_many_are_swallowed_with_a_warning(block: str, expected: HostsOptions, warning: str) -> None:
    line = corefile_lines(f"hosts {{\n{block}\n}}")[0]
    assert HostsOptions.parse(line) == expected
    assert line.warnings[0].startswith(f"plugin/hosts: Corefile:3 - Warning: {warning}")


async def test_fallthrough_for_nothing_that_is_a_zone_is_none() -> None:
    plugin = make_plugin(Hosts, "hosts {\nfallthrough a..b\n10.0.0.1 x\n}", next=answer())
    assert texts((await plugin.serve(make_query("x. A"))).answer) == ["x. 3600 IN A 10.0.0.1"]
    with pytest.raises(Failure):
        await plugin.serve(make_query("y. A"))


@pytest.mark.parametrize(
    "text, error",
    [
        ("hosts {\n10.0.0.1 x {\n}\n}", "Corefile:3 - Error during parsing: unknown property '{'"),
        ("hosts /dev/null/hosts", "unable to access hosts file '/dev/null/hosts': Not a directory"),
        ("hosts {\nfallthrough\n10.0.0.1 x\n}", "Corefile:4 - Error during parsing: unknown property '10.0.0.1'"),
        ("hosts {\nttl 0\n}", "ttl must be in range [1, 65535]: 0"),
        ("hosts {\nttl 65536\n}", "ttl must be in range [1, 65535]: 65536"),
        ("hosts {\nttl x\n}", 'ttl must be a whole number: "x"'),
        ("hosts {\nreload -1s\n}", "reload must be at least 0: -1"),
        ("hosts {\nreload 5\n}", 'time: missing unit in duration "5"'),
        ("hosts {\nfallthrough_unsupported\n}", "fallthrough_unsupported requires fallthrough"),
        ("hosts\nhosts", "this plugin can only be used once per Server Block"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Hosts, text)
    assert error in str(raised.value)


def test_a_directory_is_a_warning(tmp_path: Path, log_lines: list[str]) -> None:
    make_plugin(Hosts, f"hosts {tmp_path}")
    assert log_lines == [f'[WARNING] plugin/hosts: Hosts file "{tmp_path}" is a directory']

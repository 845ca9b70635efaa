"""Lines of the query log; expected texts from a running CoreDNS and its plugin/log and plugin/pkg/replacer."""

import pytest

from pydns.corefile.line import CorefileError
from pydns.dns import Edns, Flag, Message, Question, Rcode
from pydns.dns.edns import DO
from pydns.plugin import Block
from pydns.plugins.log import Log, kind
from pydns.plugins.metadata import Metadata
from pydns.query import Dropped, Failure, Query, Serve
from tests.support import Clock, answer, drop, fail, make_block, make_plugin, make_query

A = "one.example.org. 3600 IN A 10.0.0.1"
SOA = "authority: example.org. 5 IN SOA ns. host. 1 7200 1800 86400 5"
QUERY = make_query("one.example.org. A", edns=Edns(1232))


async def logged(text: str, query: Query, end: Serve, lines: list[str], block: Block | None = None) -> list[str]:
    """The lines that *log* writes for one query."""
    plugin = make_plugin(Log, text, block, end)
    try:
        await plugin.serve(query)
    except (Failure, Dropped):
        pass
    return lines


@pytest.mark.parametrize(
    "query, end, line",
    [
        (
            QUERY,
            answer(A),
            '[INFO] 127.0.0.1:40212 - 4711 "A IN one.example.org. udp 44 false 1232" NOERROR qr,aa,rd 64 0s',
        ),
        (
            make_query("ONE.example.org. A", transport="tcp", client="::7", edns=Edns(4096, DO)),
            answer(A, rcode=Rcode.NXDOMAIN, flags=Flag.RA | Flag.TC | Flag.AD | Flag.Z),
            '[INFO] [::7]:40212 - 4711 "A IN one.example.org. tcp 44 true 65535" NXDOMAIN qr,tc,rd,ra,z,ad 64 0s',
        ),
        (
            make_query("x.a.example.org. A"),
            fail(Rcode.SERVFAIL, "i/o timeout"),
            '[INFO] 127.0.0.1:40212 - 4711 "A IN x.a.example.org. udp 33 false 512" SERVFAIL qr,rd 33 0s',
        ),
        (
            make_query("foo. TXT", cls=3, flags=Flag.CD),
            fail(Rcode.REFUSED),
            '[INFO] 127.0.0.1:40212 - 4711 "TXT CH foo. udp 21 false 512" REFUSED qr,cd 21 0s',
        ),
        (make_query("x. TYPE65280"), drop, '[INFO] 127.0.0.1:40212 - 4711 "TYPE65280 IN x. udp 19 false 512" - - 0 0s'),
        (
            make_query("x. A", edns=Edns(100)),
            answer(rcode=3841),
            '[INFO] 127.0.0.1:40212 - 4711 "A IN x. udp 30 false 512" 3841 qr,aa,rd 19 0s',
        ),
    ],
)  # fmt: skip
async def test_the_common_format(query: Query, end: Serve, line: str, log_lines: list[str]) -> None:
    assert await logged("log", query, end, log_lines) == [line]


@pytest.mark.parametrize(
    "seconds, text",
    [(0.000294432, "0.000294432s"), (0.00005, "0.00005s"), (1.5, "1.5s"), (2.0, "2s"), (100.0, "100s")],
)
async def test_durations_have_no_exponent_and_no_trailing_zeros(
    seconds: float, text: str, log_lines: list[str]
) -> None:
    clock = Clock(0.0)

    async def slow(query: Query) -> Message:
        clock.now += seconds
        return query.reply()

    await logged('log . "{duration}"', QUERY, slow, log_lines, make_block(clock=clock))
    assert log_lines == [f"[INFO] {text}"]


@pytest.mark.parametrize(
    "form, text",
    [
        ("{name} {type} {class}", "one.example.org. A IN"),
        ("{remote} {port} {local} {proto}", "127.0.0.1 40212 127.0.0.1 udp"),
        ("{>id} {>opcode} {>do} {>bufsize} {size}", "4711 0 false 1232 44"),
        ("{rcode} {rsize} {>rflags}", "NOERROR 64 qr,aa,rd"),
        ("{rflags} {id} {nothing}", "{rflags} {id} {nothing}"),
        ("{ {name} }", "{ one.example.org. }"),
        ("A } {name}", "A } one.example.org."),
        ("{name", "{name"),
        ("{/kubernetes/namespace} {/no/such}", "shop -"),
        ("{/log/type} {/log/class}", "- -"),
        ("{combined}", '127.0.0.1:40212 - 4711 "A IN one.example.org. udp 44 false 1232" NOERROR qr,aa,rd 64 0s "0"'),
    ],
)
async def test_formats(form: str, text: str, log_lines: list[str]) -> None:
    QUERY.metadata["kubernetes/namespace"] = lambda: "shop"
    quoted = form.replace('"', '\\"')
    assert await logged(f'log . "{quoted}"', QUERY, answer(A), log_lines) == [f"[INFO] {text}"]


@pytest.mark.parametrize(
    "end, text",
    [
        (answer(A), "NOERROR success"),
        (answer(SOA), "NODATA denial"),
        (answer("authority: x. 5 IN NS y."), "DELEGATION success"),
        (answer(), "NOERROR success"),
        (answer(SOA, rcode=Rcode.NXDOMAIN), "NXDOMAIN denial"),
        (answer(A, rcode=Rcode.NXDOMAIN), "OTHERERROR error"),
        (answer(rcode=Rcode.SERVFAIL), "SERVERERROR error"),
        (fail(Rcode.NOTIMP), "SERVERERROR error"),
        (fail(Rcode.REFUSED), "OTHERERROR error"),
        (drop, "OTHERERROR error"),
    ],
)
async def test_type_and_class_of_replies(end: Serve, text: str, log_lines: list[str]) -> None:
    block = make_block()
    make_plugin(Metadata, "metadata", block)
    line = 'log . "{/log/type} {/log/class}"'
    assert await logged(line, make_query("one.example.org. A"), end, log_lines, block) == [f"[INFO] {text}"]


@pytest.mark.parametrize(
    "reply, expected",
    [
        (Message(flags=5 << 11), ("UPDATE", "error")),
        (Message(flags=4 << 11), ("META", "error")),
        (Message(question=Question("x.", 252)), ("META", "error")),
        (Message(question=Question("x.", 251)), ("META", "error")),
    ],
)
def test_kinds_of_other_messages(reply: Message, expected: tuple[str, str]) -> None:
    assert kind(reply, 0) == expected


@pytest.mark.parametrize(
    "text, question, shown",
    [
        ("log", "example.org. A", True),
        ("log Example.ORG", "www.example.org. A", True),
        ("log example.org", "example.net. A", False),
        ("log example.org example.net", "www.example.net. A", True),
        ("log {\nclass error\n}", "example.org. A", False),
        ("log {\nclass error success\n}", "example.org. A", True),
        ("log {\nclass error\nclass all\n}", "example.org. A", True),
        # the first rule that matches counts
        ("log example.org {\nclass error\n}\nlog", "www.example.org. A", False),
        ("log\nlog example.org {\nclass error\n}", "www.example.org. A", True),
    ],
)
async def test_what_is_logged(text: str, question: str, shown: bool, log_lines: list[str]) -> None:
    assert bool(await logged(text, make_query(question), answer("x. 5 IN A 1.2.3.4"), log_lines)) is shown


@pytest.mark.parametrize(
    "text, names",
    [
        ('log "{name}"', False),  # a single word is a name
        ('log example.org "{name}"', True),
        ('log example.org "name"', False),  # without a brace it is a name too
    ],
)
async def test_a_format_is_the_last_of_several_words(text: str, names: bool, log_lines: list[str]) -> None:
    await logged(text, make_query("example.org. A"), answer(), log_lines)
    assert (log_lines == ["[INFO] example.org."]) is names


async def test_the_reply_and_the_failure_pass() -> None:
    reply = await make_plugin(Log, "log", next=answer(A)).serve(QUERY)
    assert reply == QUERY.reply(flags=Flag.AA, answer=reply.answer)
    with pytest.raises(Failure, match="i/o timeout"):
        await make_plugin(Log, "log", next=fail(2, "i/o timeout")).serve(QUERY)


def test_a_logged_reply_is_not_replayed() -> None:
    assert not Log.replay_safe


@pytest.mark.parametrize(
    "text, error",
    [
        ("log {\nclass\n}", "Corefile:3 - Error during parsing: Wrong argument count"),
        ("log {\nclass bogus\n}", "class must be one of all, denial, error, success"),
        ("log {\nunknown\n}", "unknown property 'unknown'"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Log, text)
    assert error in str(raised.value)

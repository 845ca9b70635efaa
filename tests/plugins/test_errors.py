"""Error lines, alone and consolidated; expectations from CoreDNS's plugin/errors."""

import pytest

from pydns.corefile.line import CorefileError
from pydns.plugins.errors import Errors
from pydns.query import Failure
from tests.support import Clock, answer, fail, make_block, make_plugin, make_query


async def ask(plugin: Errors, why: str, rcode: int = 2, question: str = "WWW.example.org. A") -> None:
    plugin.next = fail(rcode, why)
    with pytest.raises(Failure) as raised:
        await plugin.serve(make_query(question))
    assert (raised.value.rcode, raised.value.why) == (rcode, why)


@pytest.mark.parametrize(
    "rcode, question, why, lines",
    [
        (2, "WWW.example.org. A", "i/o timeout", ["[ERROR] plugin/errors: 2 www.example.org. A: i/o timeout"]),
        (5, "x. TYPE65280", "too many", ["[ERROR] plugin/errors: 5 x. TYPE65280: too many"]),
        (2, "x. A", "", []),
    ],
)
async def test_a_failure_with_a_reason_is_logged(
    rcode: int, question: str, why: str, lines: list[str], log_lines: list[str]
) -> None:
    await ask(make_plugin(Errors, "errors"), why, rcode, question)
    assert log_lines == lines


async def test_replies_pass_without_a_line(log_lines: list[str]) -> None:
    plugin = make_plugin(Errors, "errors stdout", next=answer(rcode=2))
    reply = await plugin.serve(make_query("x. A"))
    assert reply.rcode == 2
    assert log_lines == []


@pytest.mark.parametrize(
    "options, errors, lines",
    [
        (
            "consolidate 1m30s timeout$",
            ["i/o timeout", "dial timeout", "timeout of x", "i/o timeout"],
            [
                "[ERROR] plugin/errors: 2 www.example.org. A: timeout of x",
                "[ERROR] plugin/errors: 3 errors like 'timeout$' occurred in last 1m30s",
            ],
        ),
        ("consolidate 5m . warning", ["a"], ["[WARNING] plugin/errors: 1 errors like '.' occurred in last 5m0s"]),
        ("consolidate 5m . info show_first", ["a"], ["[INFO] plugin/errors: 2 www.example.org. A: a"]),
        (
            "consolidate 5m . show_first",
            ["a", "b"],
            [
                "[ERROR] plugin/errors: 2 www.example.org. A: a",
                "[ERROR] plugin/errors: 2 errors like '.' occurred in last 5m0s",
            ],
        ),
        (
            "consolidate 1m b\nconsolidate 2m .",
            ["ab", "a", "b"],
            [
                "[ERROR] plugin/errors: 2 errors like 'b' occurred in last 1m0s",
                "[ERROR] plugin/errors: 1 errors like '.' occurred in last 2m0s",
            ],
        ),
    ],
)
async def test_matching_errors_are_counted_for_a_period(
    options: str, errors: list[str], lines: list[str], log_lines: list[str]
) -> None:
    clock = Clock()
    plugin = make_plugin(Errors, f"errors {{\n{options}\n}}", make_block(clock=clock))
    for why in errors:
        await ask(plugin, why)
    await clock.advance(300)
    assert log_lines == lines
    await plugin.stop()
    assert log_lines == lines


async def test_counting_starts_again_after_a_period(log_lines: list[str]) -> None:
    clock = Clock()
    plugin = make_plugin(Errors, "errors {\nconsolidate 1m . show_first\n}", make_block(clock=clock))
    await ask(plugin, "a")
    await clock.advance(61)
    await ask(plugin, "b")
    await plugin.stop()
    assert [line.split()[-1] for line in log_lines] == ["a", "b"]


async def test_stopping_reports_what_was_counted(log_lines: list[str]) -> None:
    plugin = make_plugin(Errors, "errors {\nconsolidate 1h .\n}")
    await ask(plugin, "a")
    await plugin.stop()
    assert log_lines == ["[ERROR] plugin/errors: 1 errors like '.' occurred in last 1h0m0s"]


def test_stacktrace_is_a_setting_of_the_block() -> None:
    block = make_block()
    make_plugin(Errors, "errors", block)
    assert not block.settings.stacktrace
    make_plugin(Errors, "errors {\nstacktrace\n}", block)
    assert block.settings.stacktrace


@pytest.mark.parametrize(
    "text, error",
    [
        ("errors /var/log", "plugin/errors: Corefile:2 - Error during parsing: target must be one of stdout"),
        ("errors\nerrors", "Corefile:3 - Error during parsing: this plugin can only be used once per Server Block"),
        ("errors {\nconsolidate 5m\n}", "Corefile:3 - Error during parsing: Wrong argument count"),
        ("errors {\nconsolidate 5 x\n}", 'time: missing unit in duration "5"'),
        ("errors {\nconsolidate 5m (\n}", "error parsing regexp"),
        ("errors {\nconsolidate 5m x show_first error\n}", 'show_first is all that may follow the level: "error"'),
        ("errors {\nstack\n}", "unknown property 'stack' (did you mean 'stacktrace'?)"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Errors, text)
    assert error in str(raised.value)

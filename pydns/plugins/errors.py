"""Logs errors that occur while a query is answered.

An error that a plugin below meets is logged, and the client gets the response code that goes with it (mostly SERVFAIL).
A response code without an error, such as the SERVFAIL of *hosts* for an unknown name, is not logged.  The line is
CoreDNS's:

    [ERROR] plugin/errors: 2 www.example.org. A: read udp 10.0.0.1:34213->8.8.8.8:53: i/o timeout

that is the response code's number, the name in lower case, the type, and what went wrong.

With `consolidate` errors that match a regular expression are counted, and one line for all of them is printed when
the time since the first is over.  Of several expressions the first that matches counts.  With `show_first` the first
error is printed at once, and the summary only when more came.

## Examples

```corefile
. {
    errors {
        consolidate 5m ".* i/o timeout$" warning
        consolidate 30s "^unreachable .*" show_first
    }
    forward . 8.8.8.8
}
```
"""

import re
from dataclasses import dataclass

from pydns.corefile.duration import format_duration
from pydns.corefile.options import Options, argument, flag, option
from pydns.corefile.types import Converter, choice, duration, quote, regex
from pydns.dns.message import Message
from pydns.dns.types import type_name
from pydns.errand import Passes
from pydns.plugin import Block, Plugin
from pydns.query import Failure, Query
from pydns.tasks import Tasks


@dataclass(frozen=True)
class Expression:
    """A regular expression and how it was written."""

    text: str
    compiled: re.Pattern[str]


def _expression(word: str) -> Expression:
    return Expression(word, regex()(word))


expression = Converter(_expression, "REGEX")


def _show_first(word: str) -> bool:
    if word != "show_first":
        raise ValueError(f"is all that may follow the level: {quote(word)}")
    return True


@dataclass
class Consolidate(Options):
    """Errors of one kind that are reported together."""

    period: float = argument(duration())
    pattern: Expression = argument(expression)
    level: str = argument(choice("error", "warning", "info", "debug"), default="error")
    show_first: tuple[bool, ...] = argument(_show_first, many=True)

    @classmethod
    def usage(cls) -> str:
        return "DURATION REGEX [error|warning|info|debug] [show_first]"


@dataclass
class ErrorsOptions(Options):
    target: str = argument(choice("stdout"), default="stdout", help="where lines go; standard output is all there is")
    consolidate: tuple[Consolidate, ...] = option(
        Consolidate, many=True, help="errors that match are counted and reported once per duration"
    )
    stacktrace: bool = flag(surplus="property", help="log the stack of a bug that ended a query")

    @classmethod
    def usage(cls) -> str:
        return "[stdout]"


class _Group:
    """What one `consolidate` has counted since its last summary."""

    def __init__(self, errors: "Errors", conf: Consolidate) -> None:
        self.errors = errors
        self.conf = conf
        self.count = 0

    def matches(self, text: str) -> bool:
        return self.conf.pattern.compiled.search(text) is not None

    def add(self, line: str) -> None:
        """Count an error; ``line`` is printed for the first one if that is wanted."""
        self.count += 1
        if self.count > 1:
            return
        self.errors.tasks.run(self._summary_later())
        if self.conf.show_first:
            self.write(line)

    def write(self, text: str) -> None:
        getattr(self.errors.log, self.conf.level)(text)

    async def _summary_later(self) -> None:
        await self.errors.process.sleep(self.conf.period)
        self.summary()

    def summary(self) -> None:
        count, self.count = self.count, 0
        if count > (1 if self.conf.show_first else 0):
            period = format_duration(self.conf.period)
            self.write(f"{count} errors like '{self.conf.pattern.text}' occurred in last {period}")


class Errors(Passes, Plugin):
    name = "errors"
    options = ErrorsOptions
    replay_safe = True

    def __init__(self, block: Block, conf: ErrorsOptions) -> None:
        super().__init__(block, conf)
        block.settings.stacktrace = block.settings.stacktrace or conf.stacktrace
        self.tasks = Tasks()
        self._groups = [_Group(self, consolidate) for consolidate in conf.consolidate]

    def treats_alike(self, zone: str) -> bool:
        return True

    async def serve(self, query: Query) -> Message:
        try:
            return await self.next(query)
        except Failure as failure:
            if failure.why:
                self._report(f"{int(failure.rcode)} {query.name} {type_name(query.qtype)}: {failure.why}", failure.why)
            raise

    def _report(self, line: str, why: str) -> None:
        for group in self._groups:
            if group.matches(why):
                group.add(line)
                return
        self.log.error(line)

    async def stop(self) -> None:
        await self.tasks.stop()
        for group in self._groups:
            group.summary()

"""CoreDNS's log lines: ``[LEVEL] plugin/NAME: text`` on standard output, without a time stamp.

Whoever collects a container's output adds the time; dashboards and alerts written for CoreDNS match these lines.
What libraries log goes the same way.
"""

import logging
import os
import select
import traceback
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 1
"""Seconds that the process waits, once, for a reader of its output that has stopped reading."""

Sink = Callable[[str], object]


class LineWriter:
    """Writes lines to a file descriptor, but waits for nobody: names are to be answered, whoever reads the log.

    Lines are lost while the reader has gone, the disk is full, or a reader has not read for `PATIENCE` seconds; how
    many is told once lines can be written again.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lost = 0
        self._room = select.poll()
        self._room.register(fd, select.POLLOUT)

    def __call__(self, line: str) -> None:
        if not self._room.poll(0 if self._lost else PATIENCE * 1000):
            self._lost += 1
            return
        if self._lost:
            line = f"[WARNING] {self._lost} lines of the log were lost\n{line}"
        try:
            os.write(self._fd, f"{line}\n".encode(errors="backslashreplace"))
            self._lost = 0
        except OSError:
            self._lost += 1


STDOUT = LineWriter(1)


class _Output:
    """Where log lines go, and whether ``[DEBUG]`` lines are among them (a block has *debug*)."""

    def __init__(self) -> None:
        self.debug = False
        self.sink: Sink = STDOUT


OUTPUT = _Output()


class Log:
    """A source of log lines; ``prefix`` stands before each text."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix

    def _write(self, level: str, text: str) -> None:
        OUTPUT.sink(f"[{level}] {self.prefix}{text}")

    def debug(self, text: str) -> None:
        if OUTPUT.debug:
            self._write("DEBUG", text)

    def info(self, text: str) -> None:
        self._write("INFO", text)

    def warning(self, text: str) -> None:
        self._write("WARNING", text)

    def error(self, text: str) -> None:
        self._write("ERROR", text)

    def fatal(self, text: str) -> None:
        """The caller ends the process after this."""
        self._write("FATAL", text)


def for_plugin(name: str) -> Log:
    """The log of one plugin."""
    return Log(f"plugin/{name}: ")


def tell(listeners: Iterable[Callable[[T], object]], news: T) -> None:
    """Tell each listener in order; the fault of one is logged with its stack, and is no business of anybody else."""
    for listener in listeners:
        try:
            listener(news)
        except Exception as fault:  # noqa: BLE001  what was to be told is so; who is told next must know
            name = getattr(listener, "__qualname__", repr(listener))
            Log().error(f"{name} failed at what others were told: {with_stack(fault)}")


def with_stack(fault: Exception) -> str:
    """A fault of ours as a log line shows it: in one line, with where it came from in those below."""
    stack = "".join(traceback.format_exception(fault)).rstrip()
    return f"{type(fault).__name__}: {fault}\n{stack}"


class _FromLibraries(logging.Handler):
    """Turns a record into one line; the stack of an exception is for `[DEBUG]` lines."""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            text = f"{text}: {type(error).__name__}: {error}"
        source = Log(f"{record.name}: ")
        write = source.error if record.levelno >= logging.ERROR else source.warning
        write(" ".join(text.split()))
        if error is not None:
            source.debug("".join(traceback.format_exception(error)).rstrip())


def take_over_libraries() -> None:
    """Write the warnings and errors that libraries log (asyncio, aiohttp) as lines of ours."""
    logging.basicConfig(handlers=[_FromLibraries()], level=logging.WARNING)

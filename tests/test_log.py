"""Log lines as CoreDNS writes them."""

import logging
import os
from contextlib import suppress

import pytest

from pydns import log


@pytest.mark.parametrize(
    "level, line",
    [
        ("info", "[INFO] plugin/hosts: text"),
        ("warning", "[WARNING] plugin/hosts: text"),
        ("error", "[ERROR] plugin/hosts: text"),
        ("fatal", "[FATAL] plugin/hosts: text"),
    ],
)
def test_a_line_names_its_level_and_plugin(level: str, line: str, log_lines: list[str]) -> None:
    getattr(log.for_plugin("hosts"), level)("text")
    assert log_lines == [line]


def test_a_line_of_the_server_has_no_plugin(log_lines: list[str]) -> None:
    log.Log().info("Reloading")
    assert log_lines == ["[INFO] Reloading"]


def test_debug_lines_appear_while_somebody_wants_them(log_lines: list[str]) -> None:
    source = log.for_plugin("hosts")
    source.debug("unseen")
    log.OUTPUT.debug = True
    source.debug("seen")
    log.OUTPUT.debug = False
    source.debug("unseen")
    assert log_lines == ["[DEBUG] plugin/hosts: seen"]


def test_lines_go_to_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    log.Log().info("one line, \udcff")
    assert capfd.readouterr().out == "[INFO] one line, \\udcff\n"


def fill(fd: int) -> None:
    """Write to a pipe until there is no room."""
    os.set_blocking(fd, False)
    with suppress(BlockingIOError):
        while True:
            os.write(fd, bytes(4096))
    os.set_blocking(fd, True)


def test_a_reader_that_stops_reading_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "PATIENCE", 0)
    readable, writable = os.pipe()
    write = log.LineWriter(writable)
    fill(writable)
    write("lost")
    write("lost too")
    os.read(readable, 1 << 20)
    write("seen")
    write("seen too")
    assert os.read(readable, 4096) == b"[WARNING] 2 lines of the log were lost\nseen\nseen too\n"
    os.close(readable)
    os.close(writable)


def test_a_reader_that_has_gone_is_no_error() -> None:
    readable, writable = os.pipe()
    write = log.LineWriter(writable)
    os.close(readable)
    write("lost")
    os.close(writable)
    write("lost, and the descriptor is closed")


def test_a_full_disk_is_no_error() -> None:
    with open("/dev/full", "wb") as full:
        log.LineWriter(full.fileno())("lost")


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> logging.Logger:
    monkeypatch.setattr(logging.root, "handlers", [])
    log.take_over_libraries()
    return logging.getLogger("asyncio")


def test_what_libraries_log_is_one_line(libraries: logging.Logger, log_lines: list[str]) -> None:
    libraries.info("unseen")
    libraries.warning("%s raised\nan exception", "send")
    try:
        raise OSError("too many open files")
    except OSError:
        libraries.exception("accept")
    assert log_lines == [
        "[WARNING] asyncio: send raised an exception",
        "[ERROR] asyncio: accept: OSError: too many open files",
    ]


def test_the_stack_of_a_library_is_for_debugging(
    libraries: logging.Logger, log_lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log.OUTPUT, "debug", True)
    try:
        raise OSError("too many open files")
    except OSError:
        libraries.exception("accept")
    assert [line.split("\n")[0] for line in log_lines] == [
        "[ERROR] asyncio: accept: OSError: too many open files",
        "[DEBUG] asyncio: Traceback (most recent call last):",
    ]

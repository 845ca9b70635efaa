"""The command line: what may be asked for, and what is said of what may not."""

import argparse
import sys

import pytest

from conformance import __main__ as command
from conformance import options


@pytest.mark.parametrize("text", ["pydns", "coredns", "127.0.0.1:53", "[::1]:1053"])
def test_servers_that_may_be_judged(text: str) -> None:
    assert options.subject(text) == text


@pytest.mark.parametrize(
    ("text", "address"), [("10.96.0.10", "10.96.0.10:53"), ("::1", "[::1]:53"), ("[::1]", "[::1]:53")]
)
def test_an_address_without_a_port_has_port_53(text: str, address: str) -> None:
    assert options.subject(text) == address


@pytest.mark.parametrize("text", ["bind", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:dns", ":53", "pydns:53"])
def test_what_is_no_server_is_told_what_is(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{text!r} is none of pydns, coredns and ADDRESS"):
        options.subject(text)


def test_a_filter_that_no_name_holds_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["conformance", "--reference", "recorded", "kubernetes/nosuch"])
    assert command.main() == 2
    assert capsys.readouterr().err.startswith("no case's name holds 'kubernetes/nosuch'")

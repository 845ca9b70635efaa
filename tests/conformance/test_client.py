"""Questions over loopback, to a scripted upstream."""

import pytest

from conformance.blocks import split_blocks
from conformance.client import ask
from conformance.message import decode
from conformance.question import parse_question
from conformance.script import Script, parse_script
from conformance.upstream import Upstream, serve

SCRIPT = """
upstream
    web. 60 A 192.0.2.1
    ? silent. * +drop => NOERROR
"""


def scripted() -> Upstream:
    (block,) = split_blocks("x", SCRIPT.splitlines())
    return Upstream(Script(parse_script(block)))


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("web. A", ["web. IN A udp +rd"]),
        ("web. A +norec +edns=512", ["web. IN A udp +edns=512"]),
        ("web. A +tcp", ["web. IN A tcp +rd"]),
        ("web. A +pipeline=3", ["web. IN A tcp +rd"] * 3),
        ("web. A +dribble", ["web. IN A tcp +rd"]),
    ],
)
async def test_what_is_sent_and_what_comes_back(text: str, heard: list[str]) -> None:
    upstream = scripted()
    async with serve(upstream) as port:
        reply = await ask(parse_question(text, "."), port)
    assert reply is not None
    assert reply[:2] == b"\x12\x34"
    assert [record.rdata for record in decode(reply).answer] == ["192.0.2.1"]
    assert upstream.take_heard() == heard


@pytest.mark.parametrize("text", ["silent. A +timeout=0.05", "silent. A +tcp +timeout=0.05"])
async def test_silence(text: str) -> None:
    async with serve(scripted()) as port:
        assert await ask(parse_question(text, "."), port) is None

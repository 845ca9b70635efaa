"""*any* in presentation format; expectations from CoreDNS and RFC 8482."""

import math

import pytest

from pydns.corefile.line import CorefileError
from pydns.dns import RR, Flag, Rcode, Type
from pydns.plugins.any import Any
from tests.support import answer, corefile_lines, make_block, make_plugin, make_query, texts


async def test_any_gets_one_hinfo() -> None:
    plugin = make_plugin(Any, "any", next=answer("example.org. 5 IN A 192.0.2.1"))
    reply = await plugin.serve(make_query("Example.org. ANY"))
    assert (reply.rcode, reply.flags) == (Rcode.NOERROR, Flag.QR | Flag.RD)
    assert reply.answer == (RR("Example.org.", Type.HINFO, 8482, b"\x0dANY obsoleted\x0cSee RFC 8482"),)
    assert reply.replay is not None
    assert reply.replay.until == math.inf


@pytest.mark.parametrize("qtype", ["A", "AAAA", "MX", "TXT", "CNAME", "HINFO"])
async def test_other_types_pass(qtype: str) -> None:
    plugin = make_plugin(Any, "any", next=answer("example.org. 5 IN A 192.0.2.1"))
    reply = await plugin.serve(make_query(f"example.org. {qtype}"))
    assert texts(reply.answer) == ["example.org. 5 IN A 192.0.2.1"]


def test_further_lines_are_left_out_with_a_warning() -> None:
    lines = corefile_lines("any\nany example.org")
    Any.setup(make_block(), lines)
    assert lines[0].warnings == ["plugin/any: Corefile:3 - Warning: only the first line of 'any' in a block counts"]


@pytest.mark.parametrize("text", ["any example.org", "any {\nfoo\n}"])
def test_no_options(text: str) -> None:
    with pytest.raises(CorefileError):
        make_plugin(Any, text)

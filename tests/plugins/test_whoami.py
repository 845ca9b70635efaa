"""*whoami* in presentation format; expectations from CoreDNS."""

import pytest

from pydns.corefile.line import CorefileError
from pydns.dns import Flag, Rcode
from pydns.plugins.whoami import Whoami
from pydns.query import Query
from tests.support import make_plugin, make_query, texts

LONG = ".".join(["a" * 63] * 3 + ["b" * 61]) + "."
"""A name of 255 octets."""


@pytest.mark.parametrize(
    "query, additional",
    [
        (
            make_query("Example.org. A", client="10.240.0.1"),
            ["Example.org. 0 IN A 10.240.0.1", "_udp.Example.org. 0 IN SRV 0 0 40212 ."],
        ),
        (
            make_query("example.org. TXT", client="2001:db8::7", transport="tcp"),
            ["example.org. 0 IN AAAA 2001:db8::7", "_tcp.example.org. 0 IN SRV 0 0 40212 ."],
        ),
        (make_query(f"{LONG} A"), [f"{LONG} 0 IN A 127.0.0.1"]),
        (make_query(f"{LONG[5:]} A"), [f"{LONG[5:]} 0 IN A 127.0.0.1", f"_udp.{LONG[5:]} 0 IN SRV 0 0 40212 ."]),
        (make_query("x. A", client="fe80::1%eth0"), ["x. 0 IN AAAA fe80::1", "_udp.x. 0 IN SRV 0 0 40212 ."]),
        (make_query(". NS"), [". 0 IN A 127.0.0.1", "_udp. 0 IN SRV 0 0 40212 ."]),
        (make_query("x. TXT", cls=3), ["x. 0 CH A 127.0.0.1", "_udp.x. 0 CH SRV 0 0 40212 ."]),
    ],
)
async def test_the_client_sees_itself(query: Query, additional: list[str]) -> None:
    reply = await make_plugin(Whoami, "whoami").serve(query)
    assert (reply.rcode, reply.flags) == (Rcode.NOERROR, Flag.QR | Flag.AA | Flag.RD)
    assert (reply.answer, reply.authority, reply.replay) == ((), (), None)
    assert texts(reply.additional) == additional


def test_its_first_line_counts_and_takes_no_words() -> None:
    for text in ("whoami\nwhoami x", "whoami\n{\nx\n}"):
        make_plugin(Whoami, text)
    with pytest.raises(CorefileError, match="Wrong argument count"):
        make_plugin(Whoami, "whoami x")


def test_a_reply_depends_on_the_client() -> None:
    assert not Whoami.replay_safe

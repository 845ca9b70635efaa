"""Validity of signatures; times as in RFC 4034 section 3.3."""

import pytest

from pydns.dns import RR, Edns, Message, Type
from pydns.dns.edns import DO
from pydns.dns.signatures import has_expired_signature

INCEPTION, EXPIRATION = 1_490_000_000, 1_500_000_000


def rrsig(inception: int, expiration: int) -> RR:
    times = expiration.to_bytes(4, "big") + inception.to_bytes(4, "big")
    return RR("x.", Type.RRSIG, 5, b"\0\1\x08\1\0\0\0\5" + times + b"\0\1\0")


@pytest.mark.parametrize(
    "now, edns, expired",
    [
        (INCEPTION, Edns(1232, DO), False),
        (EXPIRATION, Edns(1232, DO), False),
        (EXPIRATION + 1, Edns(1232, DO), True),
        (INCEPTION - 1, Edns(1232, DO), True),
        (EXPIRATION + 1, Edns(1232), False),
        (EXPIRATION + 1, None, False),
    ],
)
def test_expired(now: int, edns: Edns | None, expired: bool) -> None:
    records = (rrsig(INCEPTION, EXPIRATION),)
    plain = Message(edns=edns)
    for reply in (
        plain._replace(answer=records),
        plain._replace(authority=records),
        plain._replace(additional=records),
    ):
        assert has_expired_signature(reply, now) is expired


def test_serial_arithmetic_over_the_end_of_32_bits() -> None:
    reply = Message(answer=(rrsig(2**32 - 100, 100),), edns=Edns(1232, DO))
    assert not has_expired_signature(reply, 2**32 + 50)
    assert has_expired_signature(reply, 2**32 + 150)

"""Questions in the words of a case."""

import pytest

from conformance.wire.question import parse_question

RD = "1234 0100 0001 0000 0000 0000"
NAME = "03 776562 00"


@pytest.mark.parametrize(
    ("text", "packet"),
    [
        ("web. A", f"{RD} {NAME} 0001 0001"),
        ("web A", f"{RD} 03 776562 04 73686f70 00 0001 0001"),
        ("web. CH TXT", f"{RD} {NAME} 0010 0003"),
        ("web. TYPE65280 +norec", f"1234 0000 0001 0000 0000 0000 {NAME} ff00 0001"),
        ("web. A +cd +ad +id=0x0001", f"0001 0130 0001 0000 0000 0000 {NAME} 0001 0001"),
        ("web. SOA +opcode=NOTIFY", f"1234 2100 0001 0000 0000 0000 {NAME} 0006 0001"),
        ("web. A +edns", f"1234 0100 0001 0000 0000 0001 {NAME} 0001 0001 00 0029 04d0 00000000 0000"),
        ("web. A +do +edns=512", f"1234 0100 0001 0000 0000 0001 {NAME} 0001 0001 00 0029 0200 00008000 0000"),
        (
            "web. A +version=1 +opt=10:0011",
            f"1234 0100 0001 0000 0000 0001 {NAME} 0001 0001 00 0029 04d0 00010000 0006 000a 0002 0011",
        ),
        ("hex:00ff", "00ff"),
        ("hex:00 ff 0102 +tcp", "00ff0102"),
    ],
)
def test_wire(text: str, packet: str) -> None:
    assert parse_question(text, "shop.").wire() == bytes.fromhex(packet)


def test_words_that_are_not_in_the_packet() -> None:
    question = parse_question("web A +tcp @127.0.0.2 +port=2 +slack=1 +live [R2 R11]", "shop.")
    assert (question.transport, question.server, question.port) == ("tcp", "127.0.0.2", 2)
    assert (question.slack, question.live, question.tags) == (1, True, ("R2", "R11"))
    assert question.text == "web A +tcp @127.0.0.2 +port=2 +slack=1 +live"


def test_how_it_is_sent() -> None:
    question = parse_question("web. A +source=1053 +pipeline=3", ".")
    assert (question.source, question.transport, question.pipeline) == (1053, "tcp", 3)
    question = parse_question("web. A +dribble", ".")
    assert (question.source, question.transport, question.dribble) == (0, "tcp", True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("web.", "NAME"),
        ("web. IN A B", "NAME"),
        ("web. XX A", "not a class"),
        ("web. NOSUCH", "not a record type"),
        ("web. A +fast", "unknown option"),
    ],
)
def test_what_it_does_not_understand(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_question(text, ".")

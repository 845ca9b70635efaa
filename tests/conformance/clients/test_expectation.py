"""Questions seen on the wire against the waves that were expected."""

import pytest

from conformance.clients.walks import Expectation, Question, Wave
from conformance.results import Heard

A, Q = Question("web.", "A", least=1, most=2), Question("web.", "AAAA")
WAVES = (Wave((A, Q)), Wave((Question("b.", "A"), Question("b.", "AAAA")), ordered=False))


def wire(text: str) -> list[Heard]:
    """`web:A` over UDP, `web:A/tcp` over TCP."""
    found = (word.partition("/")[0::2] for word in text.split())
    return [Heard(0.0, f"{asked.partition(':')[0]}.", asked.partition(":")[2], how or "udp") for asked, how in found]


@pytest.mark.parametrize(
    ("asked", "faults"),
    [
        ("web:A web:AAAA b:A b:AAAA", []),
        ("web:A web:AAAA web:A b:AAAA b:A", []),
        ("web:AAAA web:A b:A b:AAAA", ["in this order: web. A udp, web. AAAA udp; seen: web. AAAA udp, web. A udp"]),
        ("web:A b:A b:AAAA", ["expected: web. AAAA udp, seen 0 times"]),
        ("web:A web:AAAA b:A b:AAAA b:A", ["not expected: b. A udp"]),
        ("web:A web:AAAA b:A b:AAAA/tcp", ["expected: b. AAAA udp, seen 0 times", "not expected: b. AAAA tcp"]),
        ("", ["expected: web. A udp 1 to 2 times", "web. AAAA udp", "b. A udp", "b. AAAA udp"]),
    ],
)
def test_how_questions_depart_from_the_waves(asked: str, faults: list[str]) -> None:
    found = Expectation(WAVES, "").faults(wire(asked))
    assert len(found) == len(faults)
    assert all(part in fault for part, fault in zip(faults, found, strict=True))


def test_resends_are_shared() -> None:
    wave = Wave((Question("web.", "A", most=5), Question("web.", "AAAA", most=5)), resends=4)
    assert not Expectation((wave,), "").faults(wire("web:A web:AAAA" + " web:A" * 4))
    assert Expectation((wave,), "").faults(wire("web:A web:AAAA" + " web:A" * 3 + " web:AAAA" * 2)) == (
        "not expected: web. AAAA udp",
    )

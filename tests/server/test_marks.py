"""What the marks know, and for how long."""

import pytest

from pydns.server.marks import LAST, SLOTS, Marks


def test_a_key_is_known_the_second_time() -> None:
    marks = Marks()
    assert [marks.add(key, 1.0) for key in (b"a", b"b", (1, b"a"), b"a", b"b", (1, b"a"))] == [False] * 3 + [True] * 3


@pytest.mark.parametrize("later, known", [(LAST - 0.1, True), (LAST, False)])
def test_marks_are_wiped(later: float, known: bool) -> None:
    marks = Marks()
    marks.add(b"a", 1.0)
    assert marks.add(b"a", 1.0 + later) is known


def test_many_keys_take_no_more_room_and_are_rarely_mistaken() -> None:
    marks = Marks()
    mistaken = sum(marks.add(number.to_bytes(4, "big"), 1.0) for number in range(100_000))
    assert mistaken < 100_000 / 255
    assert len(marks._octets) == SLOTS

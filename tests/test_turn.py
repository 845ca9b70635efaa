"""What is put off to the end of a turn."""

from __future__ import annotations

from functools import partial

import pytest

from pydns.turn import Turn


def test_what_is_put_off_is_done_at_the_end_and_in_its_order() -> None:
    turn, done = Turn(), list[int]()
    with turn:
        for number in range(3):
            turn.at_end(partial(done.append, number))
        assert done == []
    assert done == [0, 1, 2]
    with turn:
        pass
    assert done == [0, 1, 2]


def test_outside_of_a_turn_and_at_its_end_it_is_done_at_once() -> None:
    turn, done = Turn(), list[str]()
    turn.at_end(lambda: done.append("before"))
    with turn:
        turn.at_end(lambda: turn.at_end(lambda: done.append("at the end")))
    assert done == ["before", "at the end"]


def test_it_is_done_where_the_turn_fails_as_well() -> None:
    turn, done = Turn(), list[str]()
    with pytest.raises(ZeroDivisionError), turn:
        turn.at_end(lambda: done.append("done"))
        raise ZeroDivisionError
    assert done == ["done"]

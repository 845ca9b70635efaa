"""The walk over the tokens of a Corefile."""

from __future__ import annotations

from pydns.corefile.cursor import Cursor
from pydns.corefile.lexer import Token, tokenize


def test_steps() -> None:
    cursor = Cursor(tokenize("a b\nc", "f"), "f")
    assert (cursor.current.text, cursor.on_new_line()) == ("", True)
    assert cursor.advance() and cursor.on_new_line()
    assert cursor.advance_on_line() and not cursor.on_new_line()
    assert not cursor.advance_on_line()
    assert cursor.advance() and cursor.on_new_line()
    assert not cursor.advance()
    assert cursor.current.text == "c"


def test_splice_replaces_two_tokens() -> None:
    cursor = Cursor(tokenize("x import y z", "f"), "f")
    cursor.at = 2
    cursor.splice([Token("1", "g", 1), Token("2", "g", 1)])
    assert cursor.current.text == "1"
    assert [token.text for token in cursor.tokens] == ["x", "1", "2", "z"]


def test_splice_of_nothing_at_the_end() -> None:
    cursor = Cursor(tokenize("import y", "f"), "f")
    cursor.at = 1
    cursor.splice([])
    assert (cursor.current.text, cursor.advance(), cursor.on_new_line()) == ("", False, True)


def test_errors_name_the_current_token() -> None:
    cursor = Cursor(tokenize("a\nb", "f"), "f")
    cursor.at = 1
    assert str(cursor.error("no")) == "f:2 - Error during parsing: no"
    assert str(cursor.unexpected("{")) == "f:2 - Syntax error: Unexpected token 'b', expecting '{'"

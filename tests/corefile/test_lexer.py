"""Words, quotes, comments and their places."""

from __future__ import annotations

import pytest

from pydns.corefile.lexer import Token, tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b\tc\nd", ["a", "b", "c", "d"]),
        ("\ufeffa", ["a"]),
        ("a\ufeff", ["a\ufeff"]),
        ("a\r\nb\rc", ["a", "bc"]),
        ("a\x1cb a\u2003b a\x85b", ["a\x1cb", "a", "b", "a", "b"]),
        ('"a b" c', ["a b", "c"]),
        ('"a\\"b" "c\\d" "e\\\\f"', ['a"b', "c\\d", "e\\\\f"]),
        ('"a\\\\"b"', ["a\\\\", 'b"']),
        ('"a\r\nb"', ["a\r\nb"]),
        ('a"b c"d', ['a"b', 'c"d']),
        ('"a""b"c', ["a", "b", "c"]),
        ('"" a', ["", "a"]),
        ('"', []),
        ('"a', ["a"]),
        ('"a\\', ["a"]),
        ("# a\nb # c\nd", ["b", "d"]),
        ("v1#x ann", ["v1", "ann"]),
        ("v1#x\nann", ["v1", "ann"]),
        ('"a#b"#c', ["a#b"]),
        ("{}{ }", ["{}{", "}"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert [token.text for token in tokenize(text, "Corefile")] == words


def test_lines_count_inside_quotes_and_comments() -> None:
    tokens = tokenize('a # x\n"b\nc" d\n\ne', "Corefile")
    assert tokens == [
        Token("a", "Corefile", 1),
        Token("b\nc", "Corefile", 2),
        Token("d", "Corefile", 3),
        Token("e", "Corefile", 5),
    ]
    assert tokens[1].last_line == 3


def test_escaped_line_end_counts() -> None:
    assert tokenize('"a\\\nb" c', "f")[1].line == 2


@pytest.mark.parametrize(
    ("before", "token", "follows", "opens_line"),
    [
        (Token("a", "f", 3), Token("b", "f", 3), True, False),
        (Token("a", "f", 3), Token("b", "f", 4), False, True),
        (Token("a\n", "f", 3), Token("b", "f", 4), True, False),
        (Token("a", "f", 3), Token("b", "g", 3), False, True),
        (Token("a", "f", 9), Token("b", "f", 2), False, False),
    ],
)
def test_place_on_a_line(before: Token, token: Token, follows: bool, opens_line: bool) -> None:
    assert (token.follows(before), token.opens_line(before)) == (follows, opens_line)

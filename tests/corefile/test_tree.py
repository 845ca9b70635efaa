"""Lines and braces; the depth and the work are bounded."""

from __future__ import annotations

from typing import Any

import pytest

from pydns.corefile.lexer import Token, tokenize
from pydns.corefile.line import CorefileError, Line
from pydns.corefile.tree import MAX_DEPTH, build_lines


def line(name: str, *args: str, at: int, block: tuple[Line, ...] | None = None) -> Line:
    return Line(name, args, "f", at, block, "x")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x", line("x", at=1)),
        ("x a b", line("x", "a", "b", at=1)),
        ("x { }", line("x", at=1, block=())),
        ("x a {\nb c\n}", line("x", "a", at=1, block=(line("b", "c", at=2),))),
        ("x { b\nc\n}", line("x", at=1, block=(line("b", at=1), line("c", at=2)))),
        ("x { b c }", line("x", at=1, block=(line("b", "c", at=1),))),
        ("x {\nb } c\n}", line("x", at=1, block=(line("b", "}", "c", at=2),))),
        ("x {\nb {\nc\n}\nd\n}", line("x", at=1, block=(line("b", at=2, block=(line("c", at=3),)), line("d", at=5)))),
        ("x { b { c } }", line("x", at=1, block=(line("b", at=1, block=(line("c", at=1),)),))),
        ("x {\n{\nb\n}\n}", line("x", at=1, block=(line("{", at=2, block=(line("b", at=3),)),))),
        ('x "a\nb" c {\nd\n}', line("x", "a\nb", "c", at=1, block=(line("d", at=3),))),
    ],
)
def test_tree(text: str, tree: Line) -> None:
    assert build_lines(tokenize(text, "f"), "x", []) == [tree]


def test_closing_brace_at_the_end_of_a_line_is_noted() -> None:
    warnings: list[str] = []
    build_lines(tokenize("x {\nb {\n}\nc }", "f"), "x", warnings)
    assert [warning.split(" a ")[0] for warning in warnings] == ["plugin/x: f:4 - Warning:"]


@pytest.mark.parametrize(
    ("text", "others", "warning"),
    [
        (
            "x a\n{\nb c\n}",
            [line("x", at=2), line("x", "c", at=3), line("x", at=4)],
            "f:2 - Warning: '{' is taken as another 'x' (an opening brace stands on the line of its plugin)",
        ),
        ("x {\n} y z", [line("x", "z", at=2)], "f:2 - Warning: 'y' is taken as another 'x'"),
        ("x {\n} y {\nz\n}", [line("x", at=2, block=(line("z", at=3),))], "f:2 - Warning: 'y' is taken as another 'x'"),
    ],
)
def test_surplus_tokens_are_the_plugin_again(text: str, others: list[Line], warning: str) -> None:
    warnings: list[str] = []
    assert build_lines(tokenize(text, "f"), "x", warnings)[1:] == others
    assert warnings == [f"plugin/x: {warning}"]


def test_the_depth_of_braces_is_bounded() -> None:
    with pytest.raises(CorefileError, match=f"f:{MAX_DEPTH + 1} - Error during parsing: more than"):
        build_lines(tokenize("x " + "{\n" * (MAX_DEPTH + 1), "f"), "x", [])


class Counted(list[Token]):
    """Tokens that count how many of them were handed out."""

    taken = 0

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        self.taken += len(found) if isinstance(at, slice) else 1
        return found


def test_the_work_grows_with_the_tokens_and_no_faster() -> None:
    tokens = Counted(tokenize("x {\n" + "10.0.0.1 a\n" * 1000 + "}\n", "f"))
    assert len(build_lines(tokens, "x", [])[0].block or ()) == 1000
    assert tokens.taken < 20 * len(tokens)

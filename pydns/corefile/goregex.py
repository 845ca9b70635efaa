"""Go's RE2 syntax in the syntax of Python's re.

Duty: translate what both can say but spell differently, refuse what only one of them has.  Rules:

* ``$`` is the end of the text (Python's ``\\Z``) unless ``(?m)`` is on.
* Flags without a colon, ``a(?i)b|c``, hold to the end of their group: each branch is put into a scoped group.
* ``{`` is literal unless it is a repeat; ``\\Q…\\E``, ``\\z``, ``\\x{…}``, octals and ``[[:alpha:]]`` are rewritten.
* Look-around, back references, possessive and atomic groups do not exist in Go;
  ``(?U)``, ``\\p{…}`` and ``\\C`` not here.

Compile the result with ``re.ASCII``: Go's ``\\w``, ``\\d``, ``\\s`` and ``\\b`` know ASCII only.
"""

from __future__ import annotations

import re

_REPEAT = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_GROUP = re.compile(r"\?(?:P?<(?P<name>[A-Za-z0-9_]+)>|(?P<flags>[a-zA-Z]*(?:-[a-zA-Z]*)?)(?P<end>[:)]))")
_ASSERTIONS = {r"\A": r"\A", r"\b": r"\b", r"\B": r"\B", r"\z": r"\Z"}
_ANCHORS = {"^", "$", r"\A", r"\b", r"\B", r"\Z"}
_CLASS_ESCAPES = "dDwWsS"
_CONTROL = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7f", "blank": "\\t ", "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\t-\\r ",
    "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_MAX_REPEAT = 1000


def translate(pattern: str) -> str:
    """``pattern`` for Python's re; raises ValueError for what Go refuses or Python cannot do."""
    return _Translator(pattern).run()


class _Translator:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        self.multiline = [False]
        self.scopes: list[list[str]] = [[]]
        self.repeated = False

    def run(self) -> str:
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            step = self._STEPS.get(char)
            if step:
                step(self)
            else:
                self._emit(re.escape(char), 1)
        if len(self.scopes) > 1:
            raise ValueError("missing closing )")
        self.out.append(")" * len(self.scopes[0]))
        return "".join(self.out)

    def _emit(self, text: str, consumed: int) -> None:
        self.out.append(text)
        self.at += consumed
        self.repeated = False

    def _dollar(self) -> None:
        self._emit("$" if self.multiline[-1] else r"\Z", 1)

    def _verbatim(self) -> None:
        self._emit(self.pattern[self.at], 1)

    def _repeat(self) -> None:
        """``*``, ``+`` or ``?`` with an optional ``?``; a second one on top is an error in Go."""
        self._quantify(self.pattern[self.at])

    def _brace(self) -> None:
        match = _REPEAT.match(self.pattern, self.at)
        if not match:
            self._emit(r"\{", 1)
            return
        low, high = int(match[1]), int(match[3]) if match[3] else int(match[1])
        if max(low, high) > _MAX_REPEAT or low > high:
            raise ValueError(f"invalid repeat count: {match[0]}")
        self._quantify(match[0])

    def _quantify(self, operator: str) -> None:
        if self.repeated:
            raise ValueError(f"invalid nested repetition operator: {operator}")
        if self.out and self.out[-1] in _ANCHORS:  # Python repeats groups, not anchors
            self.out[-1] = f"(?:{self.out[-1]})"
        lazy = "?" if self.pattern.startswith("?", self.at + len(operator)) else ""
        self._emit(operator + lazy, len(operator + lazy))
        self.repeated = True

    def _alternate(self) -> None:
        scopes = self.scopes[-1]
        self._emit(")" * len(scopes) + "|" + "".join(scopes), 1)

    def _open(self) -> None:
        match = _GROUP.match(self.pattern, self.at + 1)
        if not self.pattern.startswith("(?", self.at):
            self._enter("(", 1, self.multiline[-1])
        elif not match:
            raise ValueError(f"invalid or unsupported Perl syntax: {self.pattern[self.at : self.at + 4]}")
        elif match["name"]:
            self._enter(f"(?P<{match['name']}>", 1 + len(match[0]), self.multiline[-1])
        else:
            self._flags(match["flags"], match["end"], 1 + len(match[0]))

    def _flags(self, flags: str, end: str, consumed: int) -> None:
        on, _, off = flags.partition("-")
        if set(on + off) - set("ims") or flags.endswith("-") or set(on) & set(off):
            raise ValueError(f"invalid or unsupported flags: (?{flags}")
        multiline = ("m" in on or self.multiline[-1]) and "m" not in off
        if end == ":":
            self._enter(f"(?{flags}:", consumed, multiline)
            return
        opening = f"(?{flags}:"
        self.multiline[-1] = multiline
        self.scopes[-1].append(opening)
        self._emit(opening, consumed)

    def _enter(self, opening: str, consumed: int, multiline: bool) -> None:
        self.scopes.append([])
        self.multiline.append(multiline)
        self._emit(opening, consumed)

    def _close(self) -> None:
        if len(self.scopes) == 1:
            raise ValueError("unexpected )")
        self.multiline.pop()
        self._emit(")" * (1 + len(self.scopes.pop())), 1)

    def _escape(self) -> None:
        escape = self.pattern[self.at : self.at + 2]
        if escape == r"\Q":
            self._quoted()
        elif escape in _ASSERTIONS:
            self._emit(_ASSERTIONS[escape], 2)
        else:
            self._emit(*_escape(self.pattern, self.at))

    def _quoted(self) -> None:
        literal, _, _ = self.pattern[self.at + 2 :].partition(r"\E")
        self._emit(re.escape(literal), 2 + len(literal))
        self.at += 2 if self.pattern.startswith(r"\E", self.at) else 0

    def _bracket(self) -> None:
        self._emit(*_character_class(self.pattern, self.at))

    _STEPS = {
        "$": _dollar, "^": _verbatim, ".": _verbatim, "*": _repeat, "+": _repeat, "?": _repeat, "{": _brace,
        "|": _alternate, "(": _open, ")": _close, "\\": _escape, "[": _bracket,
    }  # fmt: skip


def _escape(pattern: str, at: int) -> tuple[str, int]:
    """An escape that stands for characters, in a class or outside: Python's spelling and the length read."""
    if at + 1 >= len(pattern):
        raise ValueError("trailing backslash at end of expression")
    char = pattern[at + 1]
    if char in _CLASS_ESCAPES:
        return f"\\{char}", 2
    if char in _CONTROL:
        return f"\\x{_CONTROL[char]:02x}", 2
    match = re.compile(r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2}))").match(pattern, at)
    if match:
        return _code_point(match), len(match[0])
    if char.isascii() and char.isalnum():
        raise ValueError(f"invalid or unsupported escape sequence: \\{char}")
    return re.escape(char), 2


def _code_point(match: re.Match[str]) -> str:
    code = int(match[3], 8) if match[3] else int(match[1] or match[2], 16)
    if code > 0x10FFFF:
        raise ValueError(f"invalid escape sequence: {match[0]}")
    return f"\\U{code:08x}"


def _character_class(pattern: str, start: int) -> tuple[str, int]:
    """A bracket expression: Python's spelling and the length read."""
    at = start + 1
    out = "["
    if pattern.startswith("^", at):
        out, at = "[^", at + 1
    first = True
    while first or not pattern.startswith("]", at):
        if at >= len(pattern):
            raise ValueError(f"missing closing ]: {pattern[start:]}")
        text, consumed = _class_range(pattern, at)
        out, at, first = out + text, at + consumed, False
    return out + "]", at + 1 - start


def _class_range(pattern: str, at: int) -> tuple[str, int]:
    """One character or class of a bracket expression, or a range of characters."""
    low, consumed = _class_item(pattern, at)
    dash = at + consumed
    is_class = (low[0] == "\\" and low[1:] in _CLASS_ESCAPES) or pattern.startswith("[:", at)
    if is_class or not pattern.startswith("-", dash) or pattern[dash + 1 : dash + 2] in ("", "]"):
        return low, consumed  # a dash behind a class is a dash
    high, length = _class_item(pattern, dash + 1)
    return f"{low}-{high}", consumed + 1 + length


def _class_item(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "\\":
        return _escape(pattern, at)
    posix = re.compile(r"\[:(\^?)([a-z]*):\]").match(pattern, at)
    if posix:
        return _posix_class(posix), len(posix[0])
    # Python warns about brackets and doubled signs that might become set operators.
    return (f"\\{pattern[at]}" if pattern[at] in "[]&~|-" else pattern[at]), 1


def _posix_class(match: re.Match[str]) -> str:
    if match[2] not in _POSIX:
        raise ValueError(f"invalid character class range: {match[0]}")
    if not match[1]:
        return _POSIX[match[2]]
    inside = re.compile(f"[{_POSIX[match[2]]}]")
    outside = "".join(f"\\x{code:02x}" for code in range(128) if not inside.match(chr(code)))
    return f"{outside}\\x80-\\U0010ffff"

"""A plugin's options, declared once as a dataclass.

    @dataclass
    class Bound(Options):
        capacity: int = argument(integer(1))
        ttl: int = argument(seconds(1), default=3600)

    @dataclass
    class CacheOptions(Options):
        ttl: int = argument(seconds(1), default=3600, help="upper bound of every TTL")
        zones: tuple[str, ...] = argument(zones, many=True, help="only these zones")
        success: Bound | None = option(Bound, help="bounds of positive replies")
        servfail: float = option(duration(0, 300), default=5, help="how long a SERVFAIL is kept")
        disable: tuple[Disable, ...] = option(Disable, many=True)
        keepttl: bool = flag(help="do not age TTLs")
        upstream: None = ignored(help="of old versions")

        def validate(self, line: Line) -> None:
            if self.keepttl and self.servfail:
                raise line.error("keepttl and servfail cannot both be set")

    options = CacheOptions.parse(line)      # CorefileError: plugin/cache: Corefile:3 - Error during parsing: …
    CacheOptions.syntax("cache")            # cache [TTL] [ZONES...] {  success CAPACITY [TTL]  … }

Duty: from that declaration parse a `Line`, word the errors, describe the syntax.  Grammars that words cannot express
override `parse` (and `usage`); properties without a fixed name override `read_unknown`.  It knows no plugin.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeVar, cast, overload

from pydns.corefile.line import WRONG_ARGS, CorefileError, Findings, Line, near_name
from pydns.corefile.types import Mismatch, Several

T = TypeVar("T")
D = TypeVar("D")
O = TypeVar("O", bound="Options")  # noqa: E741
Role = Literal["argument", "option", "flag", "ignored"]
Surplus = Literal["error", "left out", "property"]
"""What words behind those that a property takes are: an error, nothing (with a warning), or the next property."""

REQUIRED: Any = object()
UNEXPECTED_BRACE = "Unexpected token '{', expecting argument"


@dataclass(frozen=True)
class Declared:
    """What one field of an `Options` class says about the Corefile."""

    role: Role
    convert: Any
    name: str
    default: Any
    many: bool
    at_least: int
    help: str
    surplus: Surplus = "error"

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def metavar(self) -> str:
        """The word that stands for a value in a Syntax section; a plain argument is called by its field."""
        if self.role == "argument" and "|" not in self._converter_metavar:
            return self.name.upper()
        return self._converter_metavar

    @property
    def _converter_metavar(self) -> str:
        return cast(str, getattr(self.convert, "metavar", "")) or self.name.upper()

    @property
    def is_options(self) -> bool:
        return isinstance(self.convert, type) and issubclass(self.convert, Options)

    @property
    def words(self) -> str:
        """The words that follow a property (or stand for an argument), as in a Syntax section."""
        if self.is_options:
            return cast(str, self.convert.usage())
        if self.role in ("flag", "ignored"):
            return ""
        several = "..." if self.many else ""
        optional = not self.at_least if self.many else self.role == "argument" and not self.required
        return f"[{self.metavar}{several}]" if optional else f"{self.metavar}{several}"

    def takes(self, count: int) -> bool:
        """Whether a property (not an `Options` class) takes that many words."""
        return count >= self.at_least if self.many else count == self.words_taken

    @property
    def words_taken(self) -> int:
        """How many words a property takes that takes a fixed number."""
        return 1 if self.role == "option" else 0


@overload
def argument(
    convert: Several[T], *, many: Literal[True], at_least: int = 0, name: str = "", help: str = ""
) -> tuple[T, ...]: ...
@overload
def argument(
    convert: Callable[[str], T], *, many: Literal[True], at_least: int = 0, name: str = "", help: str = ""
) -> tuple[T, ...]: ...
@overload
def argument(convert: Callable[[str], T], *, default: D, name: str = "", help: str = "") -> T | D: ...
@overload
def argument(convert: Callable[[str], T], *, name: str = "", help: str = "") -> T: ...
def argument(
    convert: Any, *, default: Any = REQUIRED, many: bool = False, at_least: int = 0, name: str = "", help: str = ""
) -> Any:
    """A word after the name of the plugin or property, in the order of the fields.

    Without ``default`` it must be there.  An optional one is passed over when its word is of another kind (`Mismatch`)
    and another argument follows.  ``many`` takes all words that are left, at least ``at_least``.
    """
    return _field("argument", convert, name, () if many else default, many, at_least, help)


@overload
def option(convert: type[O], *, many: Literal[True], name: str = "", help: str = "") -> tuple[O, ...]: ...
@overload
def option(convert: type[O], *, default: D, name: str = "", help: str = "") -> O | D: ...
@overload
def option(convert: type[O], *, name: str = "", help: str = "") -> O | None: ...
@overload
def option(
    convert: Several[T], *, many: Literal[True], at_least: int = 1, name: str = "", help: str = ""
) -> tuple[T, ...]: ...
@overload
def option(
    convert: Callable[[str], T], *, many: Literal[True], at_least: int = 1, name: str = "", help: str = ""
) -> tuple[T, ...]: ...
@overload
def option(
    convert: Callable[[str], T], *, default: D, name: str = "", help: str = "", surplus: Surplus = "error"
) -> T | D: ...
@overload
def option(convert: Callable[[str], T], *, name: str = "", help: str = "", surplus: Surplus = "error") -> T | None: ...
def option(
    convert: Any,
    *,
    default: Any = None,
    many: bool = False,
    at_least: int = 1,
    name: str = "",
    help: str = "",
    surplus: Surplus = "error",
) -> Any:
    """A property inside the braces; the last one wins when it is repeated.

    A converter takes exactly one word (``surplus`` says what others are), an `Options` class the whole line with its
    own braces.  With ``many`` the values of all repeats are collected; a converter then takes any number of words a
    line, at least ``at_least``.
    """
    return _field("option", convert, name, () if many else default, many, at_least, help, surplus)


def flag(*, name: str = "", help: str = "", surplus: Surplus = "error") -> bool:
    """A property without words: there or not."""
    return cast(bool, _field("flag", None, name, False, False, 0, help, surplus))


def ignored(*, name: str = "", help: str = "") -> Any:
    """A property without words that is accepted and has no effect, apart from a warning."""
    return _field("ignored", None, name, None, False, 0, help)


def _field(
    role: Role, convert: Any, name: str, default: Any, many: bool, at_least: int, help: str, surplus: Surplus = "error"
) -> Any:
    declared = Declared(role, convert, name, default, many, at_least, help, surplus)
    metadata = {"declared": declared}
    if default is REQUIRED:
        return dataclasses.field(kw_only=True, metadata=metadata)
    return dataclasses.field(default_factory=lambda: default, kw_only=True, metadata=metadata)


class Options:
    """Base of every options dataclass; see the head of this module for how one is written."""

    unknown: ClassVar[str] = "unknown property '{}'"
    """The error for a property that is not declared; `WRONG_ARGS` for plugins that answer with an argument error."""

    free_block: ClassVar[bool] = False
    """Whether `read_unknown` takes properties without a fixed name."""

    @classmethod
    def parse(cls, line: Line) -> Self:
        """The options that ``line`` states; raises `CorefileError` with file and line."""
        values: dict[str, Any] = {}
        findings = Findings()
        with findings.part():
            cls._read_arguments(line, values)
        if line.block is not None and not cls._takes_block():
            with findings.part():
                raise line.error(UNEXPECTED_BRACE, cls._usage_hint(line.name))
        for part in line.block or ():
            with findings.part():
                cls._read_property(part, values)
        findings.close()
        options = cls(**values)
        options.validate(line)
        return options

    def validate(self, line: Line) -> None:
        """Check what concerns several fields at once; raise ``line.error(…)``."""

    @classmethod
    def read_unknown(cls, line: Line, values: dict[str, Any]) -> None:
        """Meet a property that is not declared: an error, unless a subclass puts it into ``values`` (field → value)."""
        names = [declared.name for declared in cls._properties().values()]
        raise cls._unknown(line, line.name, near_name(line.name, names))

    @classmethod
    def usage(cls) -> str:
        """The words after the name, as in ``[TTL] [ZONES...]``."""
        return " ".join(declared.words for declared in cls._arguments().values())

    @classmethod
    def syntax(cls, name: str) -> str:
        """The Syntax section: the line and, one a line, the properties it takes."""
        head = f"{name} {cls.usage()}".rstrip()
        if not cls._takes_block():
            return head
        return "\n".join([f"{head} {{", *(f"    {part}" for part in cls._property_syntax()), "}"])

    @classmethod
    def _unknown(cls, line: Line, name: str, hint: str) -> CorefileError:
        if name == "{" and cls.unknown == WRONG_ARGS:
            return line.error(UNEXPECTED_BRACE, hint)
        return line.error(cls.unknown.format(name), hint)

    @classmethod
    def _property_syntax(cls) -> Iterator[str]:
        for declared in cls._properties().values():
            if declared.is_options:
                yield from declared.convert.syntax(declared.name).splitlines()
            elif declared.role != "ignored":
                yield f"{declared.name} {declared.words}".rstrip()

    @classmethod
    def _arguments(cls) -> dict[str, Declared]:
        return {key: d for key, d in declarations(cls).items() if d.role == "argument"}

    @classmethod
    def _properties(cls) -> dict[str, Declared]:
        return {key: d for key, d in declarations(cls).items() if d.role != "argument"}

    @classmethod
    def _takes_block(cls) -> bool:
        return bool(cls._properties()) or cls.free_block

    @classmethod
    def _usage_hint(cls, name: str) -> str:
        return f"usage: {name} {cls.usage()}".rstrip()

    @classmethod
    def _read_arguments(cls, line: Line, values: dict[str, Any]) -> None:
        arguments = cls._arguments()
        words = list(line.args)
        for position, (key, declared) in enumerate(arguments.items(), 1):
            if declared.many:
                values[key] = cls._read_words(line, declared, words)
                words = []
            elif words:
                may_pass = not declared.required and position < len(arguments)
                if _read_one(line, declared, key, words[0], values, may_pass):
                    words.pop(0)
            elif declared.required:
                raise line.wrong_args(cls._usage_hint(line.name))
        if words:
            raise line.wrong_args(cls._usage_hint(line.name))

    @classmethod
    def _read_property(cls, line: Line, values: dict[str, Any]) -> None:
        found = [(key, d) for key, d in cls._properties().items() if d.name == line.name]
        if not found:
            cls.read_unknown(line, values)
            return
        key, declared = found[0]
        if declared.surplus != "error" and len(line.args) > declared.words_taken:
            cls._read_with_surplus(line, declared, values)
            return
        if line.block is not None and not declared.is_options:
            raise cls._unknown(line, "{", f"{declared.name} takes no braces")
        value = _read_value(line, declared)
        values[key] = values.get(key, ()) + value if declared.many else value

    @classmethod
    def _read_with_surplus(cls, line: Line, declared: Declared, values: dict[str, Any]) -> None:
        """Meet a property with more words than it takes, as CoreDNS reads on from where the property ended."""
        own, others = line.args[: declared.words_taken], line.args[declared.words_taken :]
        if declared.surplus == "left out":
            line.warn(f"'{' '.join(others)}' is left out: usage: {declared.name} {declared.words}".rstrip())
            cls._read_property(replace(line, args=own), values)
            return
        line.warn(f"'{others[0]}' on the line of '{line.name}' is taken as a property of its own")
        cls._read_property(replace(line, args=own, block=None), values)
        cls._read_property(replace(line, name=others[0], args=others[1:]), values)

    @classmethod
    def _read_words(cls, line: Line, declared: Declared, words: list[str]) -> tuple[Any, ...]:
        if len(words) < declared.at_least:
            raise line.wrong_args(cls._usage_hint(line.name))
        return _convert_all(line, declared, words)


@dataclass
class NotServed(Options):
    """A property that CoreDNS has and this version does not serve, whatever its words."""

    words: tuple[str, ...] = argument(str, many=True)

    @classmethod
    def usage(cls) -> str:
        return "(not served by this version yet)"

    def validate(self, line: Line) -> None:
        raise line.error(f"{line.name} is not served by this version yet")


def declarations(options: type[Options]) -> dict[str, Declared]:
    """What the fields of ``options`` declare, by field name; a name not given is the field's own."""
    fields: dict[str, dataclasses.Field[Any]] = getattr(options, "__dataclass_fields__", {})
    found = {key: field.metadata["declared"] for key, field in fields.items() if "declared" in field.metadata}
    return {key: replace(d, name=d.name or key) for key, d in found.items()}


def _read_value(line: Line, declared: Declared) -> Any:
    """The value of one property line; a tuple when the property collects."""
    if declared.is_options:
        value = declared.convert.parse(line)
        return (value,) if declared.many else value
    if not declared.takes(len(line.args)):
        raise line.wrong_args(f"usage: {declared.name} {declared.words}".rstrip())
    if declared.role == "ignored":
        line.warn(f"property '{line.name}' is accepted and has no effect")
        return None
    if declared.role == "flag":
        return True
    if declared.many:
        return _convert_all(line, declared, list(line.args))
    return _convert(line, declared, line.args[0])


def _read_one(line: Line, declared: Declared, key: str, word: str, values: dict[str, Any], may_pass: bool) -> bool:
    """Convert one argument into ``values``; False when its word is left for the next argument."""
    try:
        values[key] = declared.convert(word)
    except Mismatch as error:
        if may_pass:
            return False
        raise _bad_value(line, declared, error) from None
    except ValueError as error:
        raise _bad_value(line, declared, error) from None
    return True


def _convert_all(line: Line, declared: Declared, words: list[str]) -> tuple[Any, ...]:
    if isinstance(declared.convert, Several):
        return tuple(value for word in words for value in _convert_several(line, declared.convert, word))
    return tuple(_convert(line, declared, word) for word in words)


def _convert_several(line: Line, several: Several[Any], word: str) -> tuple[Any, ...]:
    try:
        return several.convert(word)
    except ValueError as error:
        line.warn(f"'{word}' is left out: it {error}")
        return ()


def _convert(line: Line, declared: Declared, word: str) -> Any:
    try:
        return declared.convert(word)
    except ValueError as error:
        raise _bad_value(line, declared, error) from None


def _bad_value(line: Line, declared: Declared, error: ValueError) -> CorefileError:
    in_property = declared.role == "argument" and line.name != line.plugin
    return line.error(f"{line.name} {declared.name} {error}" if in_property else f"{declared.name} {error}")

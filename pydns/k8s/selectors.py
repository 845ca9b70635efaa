"""Label selectors in the forms that CoreDNS takes.

    app=web, app==web, env in (prod, qa), env notin (dev), partition, !partition

Grammar, wording of the errors and the text sent to the API are those of k8s.io/apimachinery (labels.Parse, then
ParseToLabelSelector, which refuses `!=`, `<` and `>`).  Knows labels, not the objects that bear them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self

MAX_LABEL: Final = 63
NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
VALUE: Final = f"({NAME})?"
PREFIX: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
SPECIAL: Final = ("=", "==", "!=", "!", ",", "(", ")", "<", ">", "")
TOKEN = re.compile(r"\s*(==|!=|[=!,()<>]|[^\s=!,()<>]+)")
REFUSED: Final = {
    "!=": '"!=" is not a valid label selector operator',
    "<": '"lt" isn\'t supported in label selectors',
    ">": '"gt" isn\'t supported in label selectors',
}
CHARACTERS: Final = (
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
KEY_RULE: Final = (
    f"must {CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME}')"
)
VALUE_RULE: Final = (
    f"a valid label must be an empty string or {CHARACTERS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{VALUE}')"
)
PREFIX_RULE: Final = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character "
    f"(e.g. 'example.com', regex used for validation is '{PREFIX}')"
)
QUALIFIED: Final = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"

Operator = Literal["Equals", "In", "NotIn", "Exists", "DoesNotExist"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on the label `key`."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.operator:
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
            case "Equals":
                return f"{self.key}={self.values[0]}"
        return f"{self.key} {self.operator.lower()} ({','.join(sorted(self.values))})"

    def matches(self, labels: Mapping[str, str]) -> bool:
        match self.operator:
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case "NotIn":
                return labels.get(self.key) not in self.values
        return labels.get(self.key) in self.values


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that all must hold; without any it selects everything.  `str` gives what the API is sent."""

    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a selector; raises ValueError with CoreDNS's words."""
        try:
            requirements = Parser(text).requirements()
        except ValueError as error:
            raise ValueError(f'couldn\'t parse the selector string "{text}": {error}') from error
        for _, operator, _ in requirements:
            if operator in REFUSED:
                raise ValueError(REFUSED[operator])
        equal = {key: Requirement(key, "Equals", values) for key, operator, values in requirements if operator == "="}
        others = [
            Requirement(key, OPERATORS[operator], values) for key, operator, values in requirements if operator != "="
        ]
        return cls((*equal.values(), *others))

    def __str__(self) -> str:
        return ",".join(str(one) for one in sorted(self.requirements, key=lambda one: one.key))

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(one.matches(labels) for one in self.requirements)


EVERYTHING: Final = Selector()
OPERATORS: Final[Mapping[str, Operator]] = {"in": "In", "notin": "NotIn", "": "Exists", "!": "DoesNotExist"}

Parsed = tuple[str, str, tuple[str, ...]]
"""Key, operator as written (`==` as `=`, none for existence) and values."""


class Parser:
    """Recursive descent over the tokens of a selector."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [*TOKEN.findall(text), ""]
        self._at = 0

    def requirements(self) -> list[Parsed]:
        found: list[Parsed] = []
        expected = "!, identifier, or 'end of string'"
        while self._token or found:
            if self._token in SPECIAL and self._token != "!":
                raise ValueError(f"found '{self._token}', expected: {expected}")
            found.append(self._wrapped_requirement())
            if not self._token:
                break
            if self._take() != ",":
                raise ValueError(f"found '{self._tokens[self._at - 1]}', expected: ',' or 'end of string'")
            expected = "identifier after ','"
        return found

    @property
    def _token(self) -> str:
        return self._tokens[self._at]

    def _take(self) -> str:
        token = self._token
        self._at += token != ""
        return token

    def _wrapped_requirement(self) -> Parsed:
        try:
            return self._requirement()
        except ValueError as error:
            raise ValueError(f"unable to parse requirement: {error}") from error

    def _requirement(self) -> Parsed:
        if self._token == "!":
            self._take()
            return checked_key(self._identifier()), "!", ()
        key = self._take()
        if self._token in ("", ","):
            return checked_key(key), "", ()
        operator = self._take()
        if operator in ("in", "notin"):
            values = self._values()
        elif operator in ("=", "==", *REFUSED):
            operator = operator.replace("==", "=")
            values = ("" if self._token in ("", ",") else self._identifier(),)
        else:
            raise ValueError(f"found '{operator}', expected: in, notin, =, ==, !=, gt, lt")
        return checked_key(key), operator, checked_values(key, values)

    def _identifier(self) -> str:
        if self._token in SPECIAL:
            raise ValueError(f"found '{self._token}', expected: identifier")
        return self._take()

    def _values(self) -> tuple[str, ...]:
        """A list in parentheses; between commas may be nothing, which is the empty value."""
        if (token := self._take()) != "(":
            raise ValueError(f"found '{token}' expected: '('")
        values = [self._value()]
        while (token := self._take()) == ",":
            values.append(self._value())
        if token != ")":
            raise ValueError(f"found '{token}', expected: ',' or ')'")
        return tuple(values)

    def _value(self) -> str:
        return "" if self._token in (",", ")", "") else self._identifier()


def checked_key(key: str) -> str:
    """A label key: a name, with an optional DNS subdomain and "/" before it."""
    prefix, slash, name = key.rpartition("/")
    fault = ""
    if "/" in prefix:
        fault = f"a valid label key {KEY_RULE}{QUALIFIED}"
    elif slash and not re.fullmatch(PREFIX, prefix):
        fault = PREFIX_RULE if prefix else "prefix part must be non-empty"
    elif len(name) > MAX_LABEL:
        fault = f"name part must be no more than {MAX_LABEL} bytes"
    elif not re.fullmatch(NAME, name):
        fault = f"name part {KEY_RULE}"
    if fault:
        raise ValueError(f'<nil>: Invalid value: "{key}": {fault}')
    return key


def checked_values(key: str, values: tuple[str, ...]) -> tuple[str, ...]:
    for at, value in enumerate(values):
        fault = f"must be no more than {MAX_LABEL} bytes" if len(value) > MAX_LABEL else VALUE_RULE
        if len(value) > MAX_LABEL or not re.fullmatch(VALUE, value):
            raise ValueError(f'values[{at}][{key}]: Invalid value: "{value}": {fault}')
    return values

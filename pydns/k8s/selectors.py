"""Label selectors, in every form that the Kubernetes API takes.

    app=web, tier!=db, env in (prod, qa), env notin (dev), partition, !partition

Grammar and wording of the errors follow k8s.io/apimachinery/pkg/labels.  Knows labels only, not the objects that bear
them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

MAX_LABEL: Final = 63
LABEL = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
TOKEN = re.compile(r"\s*(==|!=|[=!,()<>]|[^\s=!,()<>]+)")
OPERATORS: Final = ("=", "==", "!=", "in", "notin")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition; `operator` is one of In, NotIn, Exists and DoesNotExist."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.operator:
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
            case "In" if len(self.values) == 1:
                return f"{self.key}={self.values[0]}"
        return f"{self.key} {self.operator.lower()} ({','.join(sorted(self.values))})"

    def matches(self, labels: Mapping[str, str]) -> bool:
        match self.operator:
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case "In":
                return self.key in labels and labels[self.key] in self.values
        return labels.get(self.key) not in self.values


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that all must hold; without any it selects everything."""

    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the API's text form; raises ValueError."""
        return cls(tuple(Parser(text).requirements()))

    def __str__(self) -> str:
        return ",".join(str(one) for one in sorted(self.requirements, key=lambda one: one.key))

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(one.matches(labels) for one in self.requirements)


EVERYTHING: Final = Selector()


class Parser:
    """Recursive descent over the tokens of a selector."""

    def __init__(self, text: str) -> None:
        self._tokens: Sequence[str] = [*TOKEN.findall(text.strip()), ""]
        self._at = 0

    def requirements(self) -> list[Requirement]:
        if self._peek() == "":
            return []
        found = [self._requirement()]
        while self._peek() == ",":
            self._take()
            found.append(self._requirement())
        if self._peek():
            raise ValueError(f"found '{self._peek()}', expected: ',' or 'end of string'")
        return found

    def _peek(self) -> str:
        return self._tokens[self._at]

    def _take(self) -> str:
        token = self._tokens[self._at]
        self._at += token != ""
        return token

    def _requirement(self) -> Requirement:
        if self._peek() == "!":
            self._take()
            return Requirement(self._key(), "DoesNotExist")
        key = self._key()
        if self._peek() in ("", ","):
            return Requirement(key, "Exists")
        operator = self._take()
        if operator not in OPERATORS:
            raise ValueError(f"unable to parse requirement: found '{operator}', expected: {', '.join(OPERATORS)}")
        values = self._values() if operator.endswith("in") else (self._value(),)
        return Requirement(key, "NotIn" if operator in ("!=", "notin") else "In", values)

    def _key(self) -> str:
        key = self._take()
        if key in ("", "!", ",", "(", ")", "=", "==", "!=", "<", ">"):
            raise ValueError(f"unable to parse requirement: found '{key}', expected: !, identifier, or 'end of string'")
        prefix, slash, name = key.rpartition("/")
        if not valid_label(name) or (slash and not PREFIX.fullmatch(prefix)):
            raise ValueError(f'unable to parse requirement: key: Invalid value: "{key}": is no qualified name')
        return key

    def _value(self) -> str:
        """One value after = or !=; none at all is the empty value."""
        value = "" if self._peek() in ("", ",") else self._take()
        return checked_value(value)

    def _values(self) -> tuple[str, ...]:
        if (token := self._take()) != "(":
            raise ValueError(f"unable to parse requirement: found '{token}' expected: '('")
        values = [self._listed_value()]
        while (token := self._take()) == ",":
            values.append(self._listed_value())
        if token != ")":
            raise ValueError(f"unable to parse requirement: found '{token}', expected: ',', or ')'")
        return tuple(values)

    def _listed_value(self) -> str:
        return "" if self._peek() in (",", ")") else checked_value(self._take())


def valid_label(text: str) -> bool:
    return len(text) <= MAX_LABEL and LABEL.fullmatch(text) is not None


def checked_value(value: str) -> str:
    if value and not valid_label(value):
        raise ValueError(f'unable to parse requirement: values: Invalid value: "{value}": is no label value')
    return value

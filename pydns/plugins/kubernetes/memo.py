"""Answers about Services that were made before, until one of their data changes.

They are bounded by the names that exist.  It does not know how answers are made.
"""

from __future__ import annotations

from pydns.k8s.objects import Kind
from pydns.k8s.store import Change, Key
from pydns.plugins.kubernetes.records import Outcome

Question = tuple[str, int]
"""A lower-case name and a type."""


class Memo:
    """Outcomes by question, each belonging to one Service."""

    def __init__(self) -> None:
        self._outcomes: dict[Question, Outcome] = {}
        self._questions: dict[Key, set[Question]] = {}

    def get(self, name: str, qtype: int) -> Outcome | None:
        return self._outcomes.get((name, qtype))

    def keep(self, service: Key, name: str, qtype: int, outcome: Outcome) -> None:
        """Keep what was made of a Service, its slices and its namespace, and of nothing else."""
        self._outcomes[name, qtype] = outcome
        self._questions.setdefault(service, set()).add((name, qtype))

    def forget(self, change: Change) -> None:
        """Drop what a change may have touched; namespaces come and go so rarely that they take all with them."""
        if change.kind == Kind.NAMESPACE:
            self._outcomes.clear()
            self._questions.clear()
        elif change.kind != Kind.POD:
            for question in self._questions.pop((change.namespace, change.name), ()):
                del self._outcomes[question]

"""Answers about Services that were made before, until one of their data changes.

They are bounded by the names that objects have; where a label may be anything (``zonal``), nothing is kept.  It does
not know how answers are made.
"""

from __future__ import annotations

from pydns.dns.message import Question
from pydns.dns.packed import Packed
from pydns.k8s.objects import Kind
from pydns.k8s.store import Change, Key
from pydns.plugins.kubernetes.octets import of_records
from pydns.plugins.kubernetes.records import Outcome


class Known:
    """What became of a question in ``zone``, all in lower case; and the octets of several records, once needed."""

    __slots__ = ("_is_packed", "_packed", "asked", "outcome", "zone")

    def __init__(self, zone: str, outcome: Outcome, *, asked: bool = True) -> None:
        self.zone = zone
        self.outcome = outcome
        self.asked = asked
        """Whether anybody has wanted to know, and it was not made ahead."""
        self._is_packed = False
        self._packed: Packed | None = None

    def packed(self, question: Question) -> Packed | None:
        """The octets of a reply with the several records that there are; None for fewer, and for more than fit."""
        _, _, answer, additional, _ = self.outcome
        if len(answer) < 2 and not additional:
            return None
        if not self._is_packed:
            self._is_packed = True
            self._packed = of_records(question, answer, additional)
        return self._packed and self._packed.of(question)


class Memo:
    """What is known by question, each belonging to one Service."""

    def __init__(self) -> None:
        self._known: dict[Question, Known] = {}
        self._of_service: dict[Key, list[Question]] = {}
        """The questions about a Service for which its slices do not matter."""
        self._of_endpoints: dict[Key, list[Question]] = {}
        """Those for which they do."""
        self.get = self._known.get

    def keep(self, service: Key, question: Question, known: Known, *, of_endpoints: bool) -> None:
        """Keep what was made of a Service and its namespace, and ``of_endpoints``, and is not kept yet."""
        self._known[question] = known
        (self._of_endpoints if of_endpoints else self._of_service).setdefault(service, []).append(question)

    def forget(self, change: Change) -> list[tuple[Question, Known]]:
        """Drop what a change may have touched; namespaces come and go so rarely that they take all with them.

        Returns what was known about the one Service that it touched.
        """
        dropped: list[tuple[Question, Known]] = []
        if change.kind is Kind.NAMESPACE:
            self._known.clear()
            self._of_service.clear()
            self._of_endpoints.clear()
        elif change.kind is not Kind.POD:
            dropped += self._drop(self._of_endpoints, change)
            if change.kind is Kind.SERVICE:
                dropped += self._drop(self._of_service, change)
        return dropped

    def _drop(self, questions: dict[Key, list[Question]], change: Change) -> list[tuple[Question, Known]]:
        touched = questions.pop((change.namespace, change.name), ())
        return [(question, self._known.pop(question)) for question in touched]

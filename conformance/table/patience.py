"""How long the servers of a run are waited for. Knows who was silent, and nothing of what was asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from conformance.wire.message import TIMEOUT, Reply
from conformance.wire.question import Question

SILENCES = 3
"""Questions in turn that a server leaves without a reply before its case is given up, and waits become short."""

SHORT = 0.5
"""Seconds a server is waited for that stayed silent: it would be again, in hundreds of cases."""


class Patience:
    """Waits are short over a transport over which a server stayed silent, in any case, until it replies over it."""

    def __init__(self) -> None:
        self._silent: Counter[tuple[str, str]] = Counter()

    def bounded(self, server: str, question: Question) -> Question:
        """The question with the time that the server has for it."""
        if self._silent[server, question.transport] < SILENCES:
            return question
        return replace(question, timeout=min(question.timeout, SHORT))

    def note(self, server: str, question: Question, reply: Reply) -> None:
        """Takes down whether a question had a reply; one that was not waited for long says nothing by its silence."""
        if reply != TIMEOUT:
            del self._silent[server, question.transport]
        elif question.timeout > SHORT:
            self._silent[server, question.transport] += 1

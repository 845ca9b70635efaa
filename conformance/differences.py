"""The known differences from CoreDNS: each has a name and a reason, and a case that shows it.

A case names the difference below a question (`differs NAME => …`) and says what the server under test answers there
instead, so nothing else can hide behind the name. docs/differences.md has the same names, for people.
"""

from __future__ import annotations

DIFFERENCES: dict[str, str] = {}

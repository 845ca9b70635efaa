"""The processes that others have started."""

from __future__ import annotations

from conformance.servers.namespaces import children


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    return [each for child in children(pid) for each in (child, *descendants(child))]

"""Kubernetes objects as the API writes them in JSON. Knows what all kinds have in common."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

Key = tuple[str, str, str]
"""Kind, namespace (empty for what is in none) and name."""


def key_of(object: Object) -> Key:
    """What tells an object from all others."""
    metadata = object["metadata"]
    return object["kind"], metadata.get("namespace", ""), metadata["name"]

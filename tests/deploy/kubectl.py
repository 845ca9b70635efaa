"""A kubectl with one Deployment, kept in the file that STATE names; images that begin with ``bad`` never get ready, and
``refused`` ones are not taken."""

import json
import os
import sys
from pathlib import Path
from typing import Any

FILE = Path(os.environ["STATE"])


def merge(old: Any, change: Any) -> Any:
    """A strategic merge patch as far as it is used here: null removes, lists are merged by ``name``."""
    if isinstance(old, list):
        return [merge(item, part) for item, part in zip(old, change, strict=True)]
    if not isinstance(change, dict):
        return change
    merged = {**(old or {}), **{key: merge((old or {}).get(key), value) for key, value in change.items()}}
    return {key: value for key, value in merged.items() if value is not None}


def main(words: list[str]) -> int:
    state = json.loads(FILE.read_text())
    if words[:2] == ["config", "current-context"]:
        print(state["context"])
        return 0
    context, verb = words[1], words[4]
    deployment = state["deployments"].get(context)
    if deployment is None:
        print("not found", file=sys.stderr)
        return 1
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    if verb == "get" and words[5] == "deployment":
        wanted = words[-1]
        notes = deployment["metadata"].get("annotations", {})
        _, annotation, name = wanted.rstrip("}").partition("annotations.")
        print(notes.get(name, "") if annotation else container["image"], end="")
    elif verb == "patch" and '"image": "refused' in words[-1]:
        print("Error from server (Forbidden)", file=sys.stderr)
        return 1
    elif verb == "patch":
        state["deployments"][context] = merge(deployment, json.loads(words[-1]))
        state["rollouts"] += 1
        FILE.write_text(json.dumps(state))
    elif verb == "logs":
        print(f"the log of {container['image']}")
    elif verb == "rollout":
        return int(container["image"].startswith("bad"))
    return 0


raise SystemExit(main(sys.argv[1:]))

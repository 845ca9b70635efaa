"""A kubectl with one Deployment, kept in the file that STATE names; images that begin with ``bad`` never get ready, and
``refused`` ones are not taken.  STATE may have ``says``: words with which everything at the API fails; and ``signal``:
the verb that ends by a signal to the process that called it or, ``group``, to all, as Ctrl-C sends it."""

import json
import os
import signal
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


def config(state: dict[str, Any], what: str) -> int:
    """`config current-context` and `config get-contexts -o name`."""
    if what == "get-contexts":
        print(*state["deployments"], sep="\n")
    elif state["context"]:
        print(state["context"])
    else:
        return fail("error: current-context is not set")
    return 0


def fail(words: str) -> int:
    print(words, file=sys.stderr)
    return 1


def interrupt(state: dict[str, Any], verb: str) -> None:
    """Sends the signal once; then waits, for kubectl does not end by itself."""
    wanted = state.get("signal", {})
    if wanted.get("verb") != verb:
        return
    FILE.write_text(json.dumps({**json.loads(FILE.read_text()), "signal": {}}))
    if wanted["group"]:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.killpg(os.getpgrp(), wanted["number"])
    else:
        os.kill(os.getppid(), wanted["number"])
    signal.alarm(20)
    signal.pause()


def main(words: list[str]) -> int:
    state = json.loads(FILE.read_text())
    if words[0] == "config":
        return config(state, words[1])
    context, verb = words[1], words[4]
    status = at_the_api(state, context, verb, words)
    interrupt(state, verb)
    return status


def at_the_api(state: dict[str, Any], context: str, verb: str, words: list[str]) -> int:
    if state.get("says"):
        return fail(state["says"])
    deployment = state["deployments"][context]
    if deployment is None:
        return 0 if "--ignore-not-found" in words else fail('Error from server (NotFound): "coredns" not found')
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    if verb == "get" and words[-1] == "name":
        print("deployment.apps/coredns")
    elif verb == "get" and words[5] == "deployment":
        wanted = words[-1]
        notes = deployment["metadata"].get("annotations", {})
        _, annotation, name = wanted.rstrip("}").partition("annotations.")
        print(notes.get(name, "") if annotation else container["image"], end="")
    elif verb == "patch" and '"image": "refused' in words[-1]:
        return fail("Error from server (Forbidden)")
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

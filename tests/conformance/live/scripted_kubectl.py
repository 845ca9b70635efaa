"""Stands for kubectl and the cluster behind it: objects are JSON files in the folder CLUSTER, which pydns can serve.

Understands what the suite says to kubectl and no more. Files there change it: `refuse-VERB` and `pod-status.json` make
it fail, `ipv4-only` takes IPv6 from its Services; of the two ports in `pod-port`, what a Pod sends to one gets to the
other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from conformance.kubernetes.cluster_ips import complete

Object = dict[str, Any]

CLUSTER = Path(os.environ["CLUSTER"])
PLURALS = {
    "namespace": "Namespace",
    "service": "Service",
    "pod": "Pod",
    "events": "Event",
    "endpointslice": "EndpointSlice",
}
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def objects() -> list[Object]:
    found = [json.loads(path.read_text()) for path in sorted(CLUSTER.glob("*.json"))]
    return [object for object in found if "kind" in object]


def path(object: Object) -> Path:
    metadata = object["metadata"]
    return CLUSTER / f"{object['kind']}.{metadata.get('namespace', '')}.{metadata['name']}.json"


def create(words: list[str]) -> None:
    for object in json.load(sys.stdin)["items"]:
        if object["kind"] == "Service":
            if (CLUSTER / "ipv4-only").exists():
                object["spec"].pop("ipFamilyPolicy", None)
            complete(object, None, objects())
        if object["kind"] == "Pod":
            status = CLUSTER / "pod-status.json"
            object["status"] = json.loads(status.read_text())["status"] if status.exists() else READY
        object["metadata"].setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
        path(object).write_text(json.dumps(object))


def get(words: list[str]) -> None:
    kinds = {
        PLURALS[kind.partition(".")[0].removesuffix("s") if kind != "events" else kind] for kind in words[0].split(",")
    }
    found = [object for object in objects() if object["kind"] in kinds and selected(object, words)]
    if len(words) > 1 and not words[1].startswith("-"):
        found = [object for object in found if object["metadata"]["name"] == words[1]]
        if not found:
            sys.exit(f'Error from server (NotFound): {words[0]}s "{words[1]}" not found')
        print(json.dumps(found[0]))
    elif "name" in words:
        print("".join(f"{object['kind']}/{object['metadata']['name']}\n" for object in found), end="")
    else:
        print(json.dumps({"kind": "List", "items": found}))


def selected(object: Object, words: list[str]) -> bool:
    metadata = object["metadata"]
    if "-n" in words and metadata.get("namespace") != words[words.index("-n") + 1]:
        return False
    if "-l" not in words:
        return True
    label, _, value = words[words.index("-l") + 1].partition("=")
    labels = metadata.get("labels") or {}
    return label in labels and value in ("", labels[label])


def delete(words: list[str]) -> None:
    gone = [
        object["metadata"]["name"] for object in objects() if object["kind"] == "Namespace" and selected(object, words)
    ]
    for object in objects():
        if object["metadata"].get("namespace") in gone or object["metadata"]["name"] in gone:
            path(object).unlink()


def execute(words: list[str]) -> None:
    """The Pod's python is this one."""
    command = words[words.index("--") + 1 :]
    written, meant = (CLUSTER / "pod-port").read_text().split()
    with subprocess.Popen([sys.executable, *command[1:]], stdin=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        for line in sys.stdin:
            process.stdin.write(line.replace(f'"port": {written}', f'"port": {meant}'))
            process.stdin.flush()
    sys.exit(process.returncode)


VERBS = {"create": create, "get": get, "delete": delete, "exec": execute}


def main() -> None:
    words = [word for word in sys.argv[1:] if not word.startswith(("--kubeconfig", "--context", "--request-timeout"))]
    verb = words[0]
    if (CLUSTER / f"refuse-{verb}").exists():
        sys.exit(
            f'Error from server (Forbidden): namespaces is forbidden: User "me" cannot {verb} resource "namespaces"'
        )
    VERBS[verb](words[1:])


if __name__ == "__main__":
    main()

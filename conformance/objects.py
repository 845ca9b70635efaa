"""The suite's standard objects, and objects from files: as YAML documents, as JSON, or as lists of `kubectl get`.

    python -m conformance.objects | kubectl apply -f -

prints the objects for a cluster that the suite cannot reach itself. Knows no API and no DNS.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from zlib import crc32

import yaml

from conformance.kubernetes.objects import Object

FILE = Path(__file__).parent / "spec" / "objects.yaml"

RUN = "conformance"
"""What the namespaces' names begin with where people apply the objects themselves."""


class ObjectsError(Exception):
    """A file that holds no objects; the message names it."""


def standard(run: str, zone: str) -> list[Object]:
    """The objects, in the order in which they must be created; `run` begins the names of their namespaces."""
    return _documents(_text(run, zone))


def _text(run: str, zone: str) -> str:
    number = crc32(run.encode()) % 256
    addresses = {"four": f"198.18.{number}", "many": f"198.19.{number}", "six": f"2001:db8:{number:x}"}
    return Template(FILE.read_text()).substitute(addresses, run=run, zone=zone.rstrip("."))


def _documents(text: str) -> list[Object]:
    """The objects of a text (JSON is YAML), lists taken apart."""
    return [object for document in yaml.load_all(text, Loader) for object in _items(document)]


Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C where there is one: dumps of clusters are long."""


def _items(document: object) -> Iterator[Object]:
    if document is None:
        return
    if not isinstance(document, dict) or "kind" not in document:
        raise ValueError("a document that is no Kubernetes object")
    items = document.get("items")
    if isinstance(items, list):
        kind = document["kind"].removesuffix("List")
        yield from ({"kind": kind, **item} for item in items)
    else:
        yield document


def read_file(path: Path) -> list[Object]:
    """The objects of a file. Raises `ObjectsError`."""
    try:
        objects = _documents(path.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ObjectsError(f"{path}: {error}") from error
    if not any(object["kind"] == "Service" for object in objects):
        raise ObjectsError(f"{path}: no Services in it")
    return objects


def main(words: Sequence[str]) -> int:
    """Prints the standard objects as YAML, for `kubectl apply -f -`; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m conformance.objects", description=main.__doc__)
    parser.add_argument("--zone", default="cluster.local", help="the cluster domain (default: cluster.local)")
    parser.add_argument("--without-ipv6", action="store_true", help="for a cluster whose Services have IPv4 alone")
    options = parser.parse_args(words)
    objects = [each for each in standard(RUN, options.zone) if not (options.without_ipv6 and needs_ipv6(each))]
    print(yaml.dump_all(objects, sort_keys=False), end="")
    return 0


def needs_ipv6(object: Object) -> bool:
    """Whether a cluster without IPv6 for Services refuses this object."""
    spec = object.get("spec") or {}
    return "IPv6" in (spec.get("ipFamilies") or ()) and spec.get("clusterIP") != "None"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

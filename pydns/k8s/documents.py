"""YAML files and the Kubernetes objects written in them, each with the place it was written at.

Knows what every object has (apiVersion, kind, metadata), not what the kinds mean (`derive`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import Any, Final, TypeVar

import msgspec
import yaml

from pydns.address import is_ip
from pydns.k8s.source import SourceError

SUFFIXES: Final = (".yaml", ".yml", ".json")
NULL: Final = "tag:yaml.org,2002:null"
OBJECT: Final = ("apiVersion", "metadata", "items")
FAULT = re.compile(r"(?P<what>.*?)(?: - at `(?:key` in `)?\$(?P<path>.*)`)?", re.DOTALL)
STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
PLAIN: Final = {
    "str": "a string",
    "int": "an integer",
    "bool": "true or false",
    "object": "a mapping",
    "array": "a list",
    "float": "a fraction",
}

T = TypeVar("T")


class ManifestError(SourceError):
    """A manifest that is wrong: `FILE:LINE - what is wrong and what would be right`."""


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML as Kubernetes reads it: a date is a string."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in Loader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True, slots=True)
class Document:
    """One object; `node` is what the YAML parser read it from, `data` empty where that is no Kubernetes object."""

    file: str
    data: Mapping[str, Any]
    node: yaml.Node

    @property
    def kind(self) -> str:
        return str(self.data.get("kind", ""))

    @property
    def metadata(self) -> Mapping[str, Any]:
        found = self.data.get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def name(self) -> str:
        return str(self.metadata.get("name") or "")

    @property
    def namespace(self) -> str:
        return str(self.metadata.get("namespace") or "default")

    @property
    def title(self) -> str:
        """Kind, namespace and name, for people to read."""
        return " ".join((self.kind, self.name if self.kind == "Namespace" else f"{self.namespace}/{self.name}"))

    def place(self, path: str = "") -> str:
        """File and line of the value at `path`, a path such as `.spec.ports[0].port`."""
        return f"{self.file}:{line_of(self.node, path)}"

    def remark(self, path: str, message: str) -> str:
        """Something about the value at `path`, with the place where it is written."""
        where = f"{path.lstrip('.')}: " if path else ""
        return f"{self.place(path)} - {self.title}: {where}{message}"

    def error(self, path: str, message: str) -> ManifestError:
        """What is wrong with the value at `path`."""
        return ManifestError(self.remark(path, message))

    def check_name(self) -> None:
        """Raise ManifestError unless the object says what it is called."""
        name = self.metadata.get("name")
        if not name or not isinstance(name, str):
            raise ManifestError(f"{self.place('.metadata')} - {self.kind}: metadata.name is missing, or is no string")

    def check_ip(self, path: str, address: str) -> None:
        """Raise ManifestError unless `address`, written at `path`, is an IP address."""
        if not is_ip(address):
            raise self.error(path, f"'{address}' is no IP address")

    def read(self, type_: type[T]) -> T:
        """The fields that `type_` declares; raises ManifestError for a value of another type."""
        try:
            return msgspec.convert(self.data, type_)
        except msgspec.ValidationError as error:
            fault = FAULT.fullmatch(str(error))
            assert fault is not None
            raise self.error(fault["path"] or "", in_words(fault["what"]))


def in_words(fault: str) -> str:
    """msgspec's "Expected `int | null`, got `str`" in words for somebody who writes YAML."""
    words = re.sub(r"`(\w+)(?: \| null)?`", lambda found: PLAIN.get(found[1], found[1]), fault)
    hint = " (quote it)" if words.startswith("Expected a string, got") and not words.endswith("got null") else ""
    return (words[:1].lower() + words[1:]).replace("`", "") + hint


def line_of(node: yaml.Node, path: str) -> int:
    """The line of the deepest part of `path` that is there."""
    line = first_line(node)
    for name, index in STEP.findall(path):
        child = child_of(node, name, index)
        if child is None:
            break
        line, node = child
    return line


def first_line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def child_of(node: yaml.Node, name: str, index: str) -> tuple[int, yaml.Node] | None:
    """The line on which a member begins, and the member."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == name:
                return first_line(key), value
    elif isinstance(node, yaml.SequenceNode) and index.isdigit() and int(index) < len(node.value):
        child = node.value[int(index)]
        return first_line(child), child
    return None


def manifest_files(paths: Sequence[str]) -> Iterator[Path]:
    """The files given, and the YAML and JSON files right in the directories given; raises ManifestError."""
    for path in map(Path, paths):
        try:
            yield from directory_files(path) if S_ISDIR(path.stat().st_mode) else [path]
        except OSError as error:
            raise ManifestError(f"{path}: {(error.strerror or str(error)).lower()}")


def unread_folders(paths: Sequence[str]) -> list[str]:
    """The folders in the directories given that are not given themselves; their files are not read."""
    directories = [path for path in map(Path, paths) if path.is_dir()]
    given = {path.resolve() for path in directories}
    try:
        inner = [one for path in directories for one in path.iterdir() if one.is_dir() and not one.name.startswith(".")]
    except OSError as error:
        raise ManifestError(f"{error.filename}: {(error.strerror or str(error)).lower()}")
    return sorted(str(one) for one in inner if one.resolve() not in given)


def directory_files(path: Path) -> list[Path]:
    return sorted(file for file in path.iterdir() if is_manifest(file) and file.is_file())


def is_manifest(path: Path) -> bool:
    return path.suffix in SUFFIXES and not path.name.startswith(".")


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror or error}")


def parse(file: str, text: bytes) -> Iterator[Document]:
    """The objects of one file, those of lists one by one, and what is none; raises ManifestError."""
    try:
        loader = Loader(text)
        while loader.check_node():
            node = loader.get_node()
            if node.tag != NULL:
                # What has no kind is not looked at further: other tools' YAML has tags of its own.
                data = construct(loader, file, node) if child_of(node, "kind", "") else None
                yield from objects(file, data, node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ManifestError(f"{file}:{line} - no valid YAML: {error.problem or error.context}")
    except RecursionError:
        raise ManifestError(f"{file}:1 - too many lists in one another, or one in itself")
    except yaml.YAMLError as error:
        raise ManifestError(f"{file}:1 - no valid YAML: {' '.join(str(error).split())}")


def construct(loader: Loader, file: str, node: yaml.Node) -> Any:
    """The data of a document; PyYAML raises anything for a value that is not what its tag says (``!!int x``)."""
    try:
        return loader.construct_document(node)
    except (ValueError, LookupError, AttributeError) as error:
        raise ManifestError(f"{file}:{first_line(node)} - no valid YAML: {error}")


def objects(file: str, data: Any, node: yaml.Node) -> Iterable[Document]:
    if not is_object(data):
        return [Document(file, {}, node)]
    if data["kind"].endswith("List") and "items" in data:
        return list_items(file, data, node)
    return [Document(file, data, node)]


def is_object(data: Any) -> bool:
    """Whether this is meant to be a Kubernetes object; a Helm chart's values may have a `kind` too."""
    return isinstance(data, dict) and isinstance(data.get("kind"), str) and any(field in data for field in OBJECT)


def list_items(file: str, data: Mapping[str, Any], node: yaml.Node) -> Iterator[Document]:
    items = [] if data["items"] is None else data["items"]
    found = child_of(node, "items", "")
    if found is None or not isinstance(items, list):
        raise ManifestError(f"{file}:{line_of(node, '.items')} - items: a list is needed")
    for item, child in zip(items, found[1].value, strict=False):
        yield from objects(file, item, child)

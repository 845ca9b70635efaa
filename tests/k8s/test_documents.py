"""YAML files: their objects, and the places of what is wrong."""

from errno import EACCES
from pathlib import Path
from typing import NoReturn

import pytest
from msgspec import Struct

from pydns.k8s.documents import Document, ManifestError, manifest_files, parse, read_file, unread_folders

WEB = "kind: Service\nmetadata: {name: web, namespace: shop}\n"


def documents(text: str) -> list[Document]:
    return list(parse("a.yaml", text.encode()))


def fault(text: str) -> str:
    with pytest.raises(ManifestError) as caught:
        documents(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("---\n---\n# nothing\n", []),
        (WEB, ["Service shop/web"]),
        ("---\n" + WEB + "---\n" + WEB.replace("web", "api"), ["Service shop/web", "Service shop/api"]),
        ("kind: Pod\nmetadata: {name: a}\n", ["Pod default/a"]),
        ("kind: Pod\nmetadata: {name: a, namespace: null}\n", ["Pod default/a"]),
        ('{"kind": "Pod", "metadata": {"name": "a"}}', ["Pod default/a"]),
        (
            "kind: List\nitems: [{kind: Pod, metadata: {name: a}}, {kind: Pod, metadata: {name: b}}]\n",
            ["Pod default/a", "Pod default/b"],
        ),
        ("kind: ServiceList\nitems:\n- {kind: Service, metadata: {name: a}}\n", ["Service default/a"]),
        ("kind: List\nitems: []\n", []),
        ("kind: List\nitems: null\n", []),
    ],
)
def test_documents(text: str, found: list[str]) -> None:
    assert [f"{one.kind} {one.namespace}/{one.name}" for one in documents(text)] == found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (WEB + "---\nspec: {}\n", "a.yaml:4"),
        ("just text\n", "a.yaml:1"),
        ("\n\n- a\n", "a.yaml:3"),
        ("kind: 7\n", "a.yaml:1"),
        ("kind: Pod\nreplicas: 2\n", "a.yaml:1"),
        ("{}\n", "a.yaml:1"),
        ("nav: !!python/name:material.extensions.x\n", "a.yaml:1"),
        ("kind: List\nitems:\n- kind: Pod\n  metadata: {name: a}\n- 7\n", "a.yaml:5"),
    ],
)
def test_what_is_no_object_has_a_place_and_no_kind(text: str, place: str) -> None:
    last = documents(text)[-1]
    assert (last.kind, last.name, last.place()) == ("", "", place)


@pytest.mark.parametrize(
    ("text", "line"),
    [("kind: Pod\nmetadata:\n  labels: {}\n", 2), ("apiVersion: v1\nkind: Pod\n", 1), ("kind: Pod\nmetadata: 7\n", 2),
     ("kind: Pod\nmetadata: {name: 7}\n", 2), ("kind: Pod\nmetadata: {name: ''}\n", 2)],
)  # fmt: skip
def test_objects_must_have_a_name(text: str, line: int) -> None:
    with pytest.raises(ManifestError) as caught:
        documents(text)[0].check_name()
    assert str(caught.value) == f"a.yaml:{line} - Pod: metadata.name is missing, or is no string"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("kind: List\nitems: {}\n", "a.yaml:2 - items: a list is needed"),
        ("kind: Pod\nmetadata: {name: a\n", "a.yaml:3 - no valid YAML: did not find expected ',' or '}'"),
        ("kind: Pod\n\tmetadata: a\n", "a.yaml:2 - no valid YAML: found a tab character"),
        ("kind: *a\n", "a.yaml:1 - no valid YAML: found undefined alias"),
        ("\n---\nkind: !!int x\n", "a.yaml:3 - no valid YAML: invalid literal for int()"),
        ("kind: !!bool x\n", "a.yaml:1 - no valid YAML: 'x'"),
        ("kind: !!timestamp x\n", "a.yaml:1 - no valid YAML: "),
        ("kind: " + "9" * 5000, "a.yaml:1 - no valid YAML: Exceeds the limit"),
        ("&list\nkind: List\nitems: [*list]\n", "a.yaml:1 - too many lists in one another, or one in itself"),
        ("kind: !!python/object:os.system {}\n", "a.yaml:1 - no valid YAML: could not determine a constructor"),
    ],
)
def test_errors_name_the_line(text: str, error: str) -> None:
    assert fault(text).startswith(error)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ManifestError, match=r"^a\.yaml:1 - no valid YAML: "):
        list(parse("a.yaml", b"kind: \xff\xfe\n"))


class Ports(Struct):
    ports: list[int]
    labels: dict[str, str] = {}
    date: str | None = None


class Manifest(Struct):
    spec: Ports


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("  ports:\n  - 1\n  - x\n", "6 - Service shop/web: spec.ports[1]: expected an integer, got a string"),
        ("  ports: 7\n", "4 - Service shop/web: spec.ports: expected a list, got an integer"),
        ("  ports: [{}]\n", "4 - Service shop/web: spec.ports[0]: expected an integer, got a mapping"),
        ("  labels: {}\n", "3 - Service shop/web: spec: object missing required field ports"),
        (
            "  ports: []\n  labels:\n    version: 1\n",
            "5 - Service shop/web: spec.labels[...]: expected a string, got an integer (quote it)",
        ),
    ],
)
def test_wrong_types_name_the_line_and_the_field(spec: str, error: str) -> None:
    with pytest.raises(ManifestError) as caught:
        documents(WEB + "spec:\n" + spec)[0].read(Manifest)
    assert str(caught.value).startswith("a.yaml:" + error)


def test_no_spec_at_all() -> None:
    with pytest.raises(ManifestError) as caught:
        documents("# first\n" + WEB)[0].read(Manifest)
    assert str(caught.value) == "a.yaml:2 - Service shop/web: object missing required field spec"


def test_dates_are_strings_and_anchors_are_followed() -> None:
    text = WEB + "spec: &s {ports: [80], date: 2026-01-01}\nother: {<<: *s}\n"
    assert documents(text)[0].read(Manifest).spec == Ports([80], date="2026-01-01")


def test_a_namespace_is_in_none() -> None:
    document = documents("kind: Namespace\nmetadata: {name: Shop}\n")[0]
    assert str(document.error(".metadata.name", "no")) == "a.yaml:2 - Namespace Shop: metadata.name: no"


def test_files_given_and_files_in_directories(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "c.json", "notes.txt", ".hidden.yaml", "sub/deep.yaml"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(WEB)
    found = manifest_files([str(tmp_path), str(tmp_path / "notes.txt")])
    assert [path.name for path in found] == ["a.yml", "b.yaml", "c.json", "notes.txt"]


def test_folders_in_directories_are_not_read(tmp_path: Path) -> None:
    for name in ("base", "overlay/deep", ".git", "..data"):
        (tmp_path / name).mkdir(parents=True)
    assert unread_folders([str(tmp_path)]) == [str(tmp_path / "base"), str(tmp_path / "overlay")]
    assert unread_folders([str(tmp_path), str(tmp_path / "base/../base")]) == [str(tmp_path / "overlay")]
    assert unread_folders([str(tmp_path / "base")]) == []


def test_missing_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"missing: no such file or directory$"):
        list(manifest_files([str(tmp_path / "missing")]))
    with pytest.raises(ManifestError, match=r"not a directory$"):
        list(manifest_files(["/dev/null/missing"]))
    with pytest.raises(ManifestError, match=r"Is a directory$"):
        read_file(tmp_path)


def test_a_directory_that_may_not_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> NoReturn:
        raise PermissionError(EACCES, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    for look in (manifest_files, unread_folders):
        with pytest.raises(ManifestError, match=r"permission denied$"):
            list(look([str(tmp_path)]))

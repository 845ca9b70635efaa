"""What the API sends, taken apart: lines and events."""

import json

import pytest

from pydns.k8s.objects import Kind
from pydns.k8s.stream import MAX_EVENT, ApiError, Event, Lines, read_event
from pydns.k8s.wire import INITIAL_EVENTS_END, RESOURCES
from tests.k8s.api import Wire, bookmark, error, event, service

SERVICES = RESOURCES[Kind.SERVICE]
WEB = ("shop", "web")


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"a\nb\n"], [[b"a", b"b"]]),
        ([b"a", b"b\nc", b"\n"], [[], [b"ab"], [b"c"]]),
        ([b"\n\n a \n", b"rest"], [[b" a "], []]),
    ],
)
def test_lines(chunks: list[bytes], lines: list[list[bytes]]) -> None:
    cutter = Lines()
    assert [cutter.feed(chunk) for chunk in chunks] == lines
    assert cutter.pending is not chunks[-1].endswith(b"\n")


def test_a_line_without_end_is_not_kept() -> None:
    cutter = Lines()
    assert cutter.feed(bytes(MAX_EVENT)) == []
    with pytest.raises(ApiError, match="a watch event of more than"):
        cutter.feed(b"x")


def read(line: bytes) -> Event | None:
    return read_event(SERVICES, line.strip())


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED"])
def test_an_object_comes_with_its_event(kind: str) -> None:
    found = read(event(kind, service(version=7)))
    assert found is not None
    assert found.item is not None
    assert found[:4] == (kind, WEB, "7", False)
    assert (found.item.namespace, found.item.name) == WEB


def test_a_deletion_names_the_object_alone() -> None:
    assert read(event("DELETED", service(version=7))) == Event("DELETED", WEB, "7", False, None)


@pytest.mark.parametrize("end", [False, True])
def test_bookmarks(end: bool) -> None:
    assert read(bookmark(7, end=end)) == Event("BOOKMARK", ("", ""), "7", end, None)


ODD: Wire = {"metadata": {"namespace": "shop", "name": "web", "resourceVersion": "7"}, "spec": 1}


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"])
def test_an_odd_object_still_has_a_name_and_a_version(kind: str, log_lines: list[str]) -> None:
    assert read(event(kind, ODD)) == Event(kind, WEB, "7", False, None)
    assert len(log_lines) == (kind in ("ADDED", "MODIFIED"))


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED"])
def test_an_objects_own_annotation_ends_no_list(kind: str) -> None:
    """Anybody may annotate a Service with what ends a streaming list on a bookmark, also one that cannot be decoded."""
    annotated = {**ODD, "metadata": {**ODD["metadata"], "annotations": {INITIAL_EVENTS_END: "true"}}}
    found = read(event(kind, annotated))
    assert found is not None and not found.ends_list


def test_a_nameless_object_is_nothing(log_lines: list[str]) -> None:
    assert read(event("ADDED", {"metadata": "none"})) is None
    assert log_lines[0].startswith("[WARNING] plugin/kubernetes: leaving out (no name) of the services: ")


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (error(410, "too old"), 410, "too old"),
        (json.dumps({"type": "ERROR", "object": {"metadata": {}, "message": "no"}}).encode(), 500, "no"),
        (b"no JSON", 0, "a watch event cannot be read: "),
    ],
)
def test_errors(line: bytes, code: int, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        read(line)
    assert (caught.value.code, caught.value.in_stream) == (code, True)
    assert str(caught.value).startswith(words)

"""Where built programs lie, and what is said when they cannot be built."""

import os
import time
from pathlib import Path

import pytest

from conformance.tools import build


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYDNS_CONFORMANCE_CACHE", str(tmp_path))
    return tmp_path


def test_the_place_changes_with_the_versions(empty_cache: Path) -> None:
    place = build.location("kube-apiserver")
    assert place.parent.parent == empty_cache
    assert place.parent == build.location("kubectl").parent != build.location("etcd").parent


def test_a_program_that_is_not_built_says_how() -> None:
    assert not build.built("coredns")
    with pytest.raises(FileNotFoundError, match=r"python -m conformance\.tools\.build coredns"):
        build.binary("coredns")


def test_a_cache_that_may_not_be_read_has_nothing_built_and_is_named(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = os.stat

    def forbidden(path: os.PathLike[str] | str, **options: bool) -> os.stat_result:
        if str(path).startswith(str(empty_cache)):
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, **options)

    monkeypatch.setattr(os, "stat", forbidden)
    assert not build.built("coredns")
    with pytest.raises(FileNotFoundError, match=r"not built; .* may not be read: PYDNS_CONFORMANCE_CACHE names"):
        build.binary("coredns")


def test_without_go_there_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "")
    assert build.main(["coredns"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_unknown_programs_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["bind9"]) == 1
    assert "unknown: bind9" in capsys.readouterr().err


def test_help_names_the_programs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        build.main(["--help"])
    assert end.value.code == 0
    assert "kube-apiserver" in capsys.readouterr().out


def test_a_cache_that_cannot_be_written_is_one_line(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty_cache / "file").touch()
    monkeypatch.setenv("PYDNS_CONFORMANCE_CACHE", str(empty_cache / "file"))
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/true")
    assert build.main(["coredns"]) == 1
    assert capsys.readouterr().err.startswith("the build failed: [Errno 20] Not a directory: ")


@pytest.mark.parametrize(("age", "stays"), [(0, True), (2 * build.OLD, False)])
def test_what_a_killed_build_left_goes_once_it_is_old(empty_cache: Path, age: float, stays: bool) -> None:
    (empty_cache / ".made.1").mkdir()
    (empty_cache / ".made.2").touch()
    for path in empty_cache.iterdir():
        os.utime(path, times=(time.time() - age,) * 2)
    build.remove_old(empty_cache, ".made.*")
    assert [path.exists() for path in (empty_cache / ".made.1", empty_cache / ".made.2")] == [stays, stays]


def test_a_program_that_is_there_already_is_used(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYDNS_CONFORMANCE_KUBE_APISERVER", str(empty_cache / "mine"))
    with pytest.raises(
        FileNotFoundError, match=r"^PYDNS_CONFORMANCE_KUBE_APISERVER names .*mine, and there is no such file"
    ):
        build.built("kube-apiserver")
    (empty_cache / "mine").touch()
    assert build.binary("kube-apiserver") == empty_cache / "mine"

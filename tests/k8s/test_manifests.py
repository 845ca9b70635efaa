"""Files that change while they are served."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pydns.k8s.manifests import ManifestSource, file_changes
from pydns.k8s.source import Interest, SourceError
from pydns.k8s.store import Change
from tests.support import Clock


def service(name: str, ip: str = "10.96.5.5") -> str:
    return f"kind: Service\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{clusterIP: {ip}}}\n"


class Notices:
    """Changes when the test says so."""

    def __init__(self) -> None:
        self._due: asyncio.Queue[None] = asyncio.Queue()
        self._idle = asyncio.Event()

    async def __call__(self, paths: Sequence[str]) -> AsyncGenerator[object, None]:
        while True:
            self._idle.set()
            await self._due.get()
            yield paths

    async def notice(self) -> None:
        """Report a change and wait until the source has dealt with it."""
        await self._idle.wait()
        self._idle.clear()
        self._due.put_nowait(None)
        await self._idle.wait()


@asynccontextmanager
async def following(*paths: Path) -> AsyncIterator[tuple[ManifestSource, Notices]]:
    notices = Notices()
    source = ManifestSource([str(path) for path in paths], Interest(), Clock(1000.0), notices)
    await source.start()
    yield source, notices
    await source.stop()


def names(source: ManifestSource) -> list[str]:
    return sorted(one.name for one in source.store.services() if one.namespace == "shop")


async def test_synced_once_started(tmp_path: Path) -> None:
    async with following(tmp_path) as (source, _):
        assert await source.wait_synced(0)
        assert source.store.synced
        assert source.store.service("default", "kubernetes") is not None
        assert source.store.modified == 1000
    await source.stop()


async def test_a_changed_file_is_a_changed_cluster(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{service('web')}---\n{service('old', '10.96.5.6')}")
    (tmp_path / "b.yaml").write_text(service("api", "10.96.5.7"))
    async with following(tmp_path) as (source, notices):
        assert names(source) == ["api", "old", "web"]
        changes: list[Change] = []
        source.store.on_change(changes.append)
        (tmp_path / "a.yaml").write_text(service("web"))
        (tmp_path / "c.yaml").write_text(service("new", "10.96.5.8"))
        await notices.notice()
        assert names(source) == ["api", "new", "web"]
        assert sorted(change.name for change in changes) == ["new", "old"]


async def test_broken_manifest_changes_nothing_and_is_told_once(tmp_path: Path, log_lines: list[str]) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(service("web"))
    async with following(file) as (source, notices):
        file.write_text(f"{service('web')}---\nkind: Service\nspec: {{}}\nmetadata: {{}}\n")
        await notices.notice()
        await notices.notice()
        assert names(source) == ["web"]
        file.write_text(service("api"))
        await notices.notice()
        assert names(source) == ["api"]
    assert log_lines == [
        f"[ERROR] plugin/kubernetes: manifests not reloaded, the last good ones stay: {file}:7 - "
        "Service: metadata.name is missing, or is no string",
        "[INFO] plugin/kubernetes: manifests reloaded: 1 object",
    ]


async def test_missing_file_while_running(tmp_path: Path, log_lines: list[str]) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(service("web"))
    async with following(file) as (source, notices):
        file.unlink()
        await notices.notice()
        await notices.notice()
        assert names(source) == ["web"]
    assert log_lines == [
        f"[ERROR] plugin/kubernetes: manifests not reloaded, the last good ones stay: {file}: no such file or directory"
    ]


@pytest.mark.parametrize(
    ("text", "error"), [("kind: a: b", ":1 - no valid YAML: "), (None, ": no such file or directory")]
)
async def test_broken_manifest_at_the_start(tmp_path: Path, text: str | None, error: str) -> None:
    file = tmp_path / "a.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SourceError) as caught:
        await ManifestSource([str(file)], Interest()).start()
    assert str(caught.value).startswith(f"{file}{error}")


async def test_skipped_kinds_are_told(tmp_path: Path, log_lines: list[str]) -> None:
    (tmp_path / "a.yaml").write_text("---\n".join(["kind: Job\nmetadata: {name: a}\n"] * 2 + [service("web")]))
    async with following(tmp_path):
        pass
    assert log_lines == ["[INFO] plugin/kubernetes: of 3 manifests skipped 2 Job"]


KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"
NO_OBJECT = "skipped: no Kubernetes object, which has apiVersion, kind and metadata"


async def test_other_tools_files_are_told_once_and_do_no_harm(tmp_path: Path, log_lines: list[str]) -> None:
    (tmp_path / "a.yaml").write_text(service("web"))
    (tmp_path / "kustomization.yaml").write_text(KUSTOMIZATION)
    async with following(tmp_path) as (source, notices):
        assert names(source) == ["web"]
        for text in ("image: {tag: 1}\n", "image: {tag: 2}\n"):
            (tmp_path / "values.yaml").write_text(text)
            await notices.notice()
        assert names(source) == ["web"]
    assert [line.removeprefix("[INFO] plugin/kubernetes: ") for line in log_lines] == [
        "of 2 manifests skipped 1 Kustomization",
        f"[WARNING] plugin/kubernetes: {tmp_path}/values.yaml:1 - {NO_OBJECT}",
        "manifests reloaded: 1 object",
        "manifests reloaded: 1 object",
    ]


async def test_a_folder_without_objects_and_one_that_is_not_read(tmp_path: Path, log_lines: list[str]) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "a.yaml").write_text(service("web"))
    async with following(tmp_path) as (source, _):
        assert names(source) == []
    assert log_lines == [
        f"[WARNING] plugin/kubernetes: no objects in {tmp_path}",
        f"[WARNING] plugin/kubernetes: subfolder {tmp_path}/base is not read; name it after --manifests if it is meant",
    ]


async def test_likely_mistakes_are_told(tmp_path: Path, log_lines: list[str]) -> None:
    (tmp_path / "a.yaml").write_text(service("web"))
    (tmp_path / "b.yaml").write_text(service("web"))
    async with following(tmp_path):
        pass
    place = f"{tmp_path}/a.yaml:1"
    assert log_lines == [
        f"[WARNING] plugin/kubernetes: {tmp_path}/b.yaml:1 - Service shop/web: takes the place of the one in {place}"
    ]


async def unwatchable(paths: Sequence[str]) -> AsyncGenerator[object, None]:
    if paths:
        raise OSError("inotify limit reached")
    yield paths


async def test_unwatchable_directory_is_looked_at_all_the_same(tmp_path: Path, log_lines: list[str]) -> None:
    clock, changed = Clock(), asyncio.Event()
    source = ManifestSource([str(tmp_path)], Interest(), clock, unwatchable, clock.sleep)
    await source.start()
    source.store.on_change(lambda change: changed.set())
    (tmp_path / "a.yaml").write_text(service("web"))
    await clock.advance(5)
    await asyncio.wait_for(changed.wait(), 20)
    await source.stop()
    assert names(source) == ["web"]
    assert log_lines[1] == "[ERROR] plugin/kubernetes: cannot watch the manifests: inotify limit reached"


@asynccontextmanager
async def watching(path: Path) -> AsyncIterator[AsyncIterator[object]]:
    """Real notices of the operating system; one is awaited first, so that the watch is known to be on."""
    changes = file_changes([str(path)])
    pending = asyncio.ensure_future(anext(changes))
    directory = path if path.is_dir() else path.parent
    number = 0
    while not (await asyncio.wait([pending], timeout=0.05))[0]:
        (directory / (path.name if path.is_file() else f"probe{number}.yaml")).touch()
        number += 1
    yield changes
    await changes.aclose()


async def test_operating_system_notices_a_new_file(tmp_path: Path) -> None:
    async with watching(tmp_path) as changes, asyncio.timeout(20):
        (tmp_path / "new.yaml").write_text(service("web"))
        while "new.yaml" not in str(await anext(changes)):
            pass


async def test_operating_system_notices_the_swap_of_a_mounted_config_map(tmp_path: Path) -> None:
    """As kubelet does it: files are links into ..data, a link that is replaced by a rename."""
    for version in ("..1", "..2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "a.yaml").write_text(service("web", f"10.96.5.{version[-1]}"))
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    async with following(tmp_path / "a.yaml") as (source, notices), watching(tmp_path / "a.yaml") as changes:
        (tmp_path / "..tmp").symlink_to("..2")
        (tmp_path / "..tmp").rename(tmp_path / "..data")
        async with asyncio.timeout(20):
            while "..data" not in str(await anext(changes)):
                pass
        await notices.notice()
        assert source.store.services_by_ip("10.96.5.2") != ()
        assert source.store.services_by_ip("10.96.5.1") == ()

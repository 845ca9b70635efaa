"""swap.sh: what it changes, what it puts back, and which clusters it leaves alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
COREDNS, PYDNS = "registry.k8s.io/coredns/coredns:v1.14.7", "pydns:dev"


class Cluster:
    """A cluster as `kubectl.py` has it, in a folder of its own."""

    def __init__(self, folder: Path, context: str = "kind-try") -> None:
        self._state = folder / "state.json"
        self._kubectl = folder / "kubectl"
        self._kubectl.write_text(
            f'#!/bin/sh\nSTATE="{self._state}" exec "{sys.executable}" "{ROOT}/tests/deploy/kubectl.py" "$@"\n'
        )
        self._kubectl.chmod(0o755)
        containers = [{"name": "coredns", "image": COREDNS, "args": ["-conf", "/etc/coredns/Corefile"]}]
        deployment = {"metadata": {"name": "coredns"}, "spec": {"template": {"spec": {"containers": containers}}}}
        self._write({"context": context, "deployments": {context: deployment}, "rollouts": 0})

    def _write(self, state: dict[str, Any]) -> None:
        self._state.write_text(json.dumps(state))

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self._state.read_text())
        return state

    @property
    def deployment(self) -> dict[str, Any]:
        [deployment] = self.state["deployments"].values()
        found: dict[str, Any] = deployment
        return found

    @property
    def image(self) -> str:
        image: str = self.deployment["spec"]["template"]["spec"]["containers"][0]["image"]
        return image

    def put(self, image: str, note: str = "") -> None:
        """As somebody else does it: the image alone; or with a note of it, as a swap that ends too early does."""
        state = self.state
        [deployment] = state["deployments"].values()
        if note:
            deployment["metadata"]["annotations"][note] = image
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = image
        self._write(state)

    def swap(self, *words: str) -> tuple[int, str]:
        run = subprocess.run(
            ["sh", str(ROOT / "deploy/kind/swap.sh"), *words],
            env={"KUBECTL": str(self._kubectl), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return run.returncode, run.stdout + run.stderr


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


def test_in_and_out_put_back_what_was_there(cluster: Cluster) -> None:
    before = cluster.deployment
    assert cluster.swap("in")[0] == 0
    assert cluster.image == PYDNS
    assert cluster.swap("out")[0] == 0
    assert cluster.deployment["spec"] == before["spec"]
    assert not cluster.deployment["metadata"].get("annotations")


def test_twice_makes_no_difference(cluster: Cluster) -> None:
    for _ in range(2):
        assert cluster.swap("in")[0] == 0
        assert cluster.image == PYDNS
    assert cluster.deployment["metadata"]["annotations"] == {
        "pydns/replaced-image": COREDNS, "pydns/put-image": PYDNS
    }  # fmt: skip
    assert cluster.swap("out")[0] == 0
    status, said = cluster.swap("out")
    assert (status, cluster.image) == (0, COREDNS)
    assert "nothing to put back" in said


def test_another_image_of_ours_still_knows_the_first(cluster: Cluster) -> None:
    cluster.swap("in")
    cluster.swap("in", "--image", "pydns:next")
    assert cluster.image == "pydns:next"
    cluster.swap("out")
    assert cluster.image == COREDNS


def test_what_others_put_there_since_is_what_comes_back(cluster: Cluster) -> None:
    """kubeadm upgrade puts a newer CoreDNS in the place of whatever is there."""
    newer = "registry.k8s.io/coredns/coredns:v1.15.0"
    cluster.swap("in")
    cluster.put(newer)
    status, said = cluster.swap("out")
    assert (status, cluster.image) == (0, newer)
    assert f"{newer} was not put there by swap.sh" in said
    cluster.swap("in")
    assert cluster.image == PYDNS
    cluster.swap("out")
    assert cluster.image == newer


@pytest.mark.parametrize("image", ['a"b', "a b", "$(id)", "a;b"])
def test_what_is_no_name_of_an_image_is_refused(cluster: Cluster, image: str) -> None:
    status, said = cluster.swap("in", "--image", image)
    assert (status, cluster.state["rollouts"]) == (1, 0)
    assert "is not the name of an image" in said


@pytest.mark.parametrize("before", [(), ("in",)], ids=["first", "upgrade"])
def test_what_does_not_get_ready_is_taken_back(cluster: Cluster, before: tuple[str, ...]) -> None:
    if before:
        cluster.swap(*before)
    known = cluster.deployment
    status, said = cluster.swap("in", "--image", "bad:1")
    assert status == 1
    assert "did not become ready" in said
    assert "the log of bad:1" in said
    assert cluster.deployment["spec"] == known["spec"]
    assert cluster.deployment["metadata"].get("annotations", {}) == known["metadata"].get("annotations", {})


@pytest.mark.parametrize("before", [(), ("in",)], ids=["first", "upgrade"])
def test_a_change_that_is_refused_is_told(cluster: Cluster, before: tuple[str, ...]) -> None:
    """The Deployment as it was is ready all the time."""
    if before:
        cluster.swap(*before)
    known = cluster.state
    status, said = cluster.swap("in", "--image", "refused:1")
    assert (status, cluster.state) == (1, known)
    assert "does not take the change to refused:1" in said
    assert "serves in the place of" not in said


def test_a_bad_swap_that_was_interrupted_is_taken_back_by_the_next(cluster: Cluster) -> None:
    cluster.swap("in", "--image", "good:1")
    cluster.put("bad:1", note="pydns/put-image")
    status, said = cluster.swap("in", "--image", "bad:1")
    assert (status, cluster.image) == (1, COREDNS)
    assert f"{COREDNS} is back" in said


def test_an_image_that_is_there_by_others_is_left_to_them(cluster: Cluster) -> None:
    cluster.put(PYDNS)
    status, said = cluster.swap("in")
    assert (status, cluster.state["rollouts"]) == (0, 0)
    assert "was not put there by swap.sh" in said
    assert cluster.swap("out")[0] == 0
    assert cluster.image == PYDNS


@pytest.mark.parametrize("way", ["in", "out"])
def test_a_context_that_is_not_of_kind_must_be_named(tmp_path: Path, way: str) -> None:
    cluster = Cluster(tmp_path, "production")
    status, said = cluster.swap(way)
    assert (status, cluster.state["rollouts"]) == (1, 0)
    assert "--context production" in said
    assert cluster.swap(way, "--context", "production")[0] == 0


def test_a_cluster_without_coredns_is_left_alone(cluster: Cluster) -> None:
    status, said = cluster.swap("in", "--context", "kind-other")
    assert (status, cluster.state["rollouts"]) == (1, 0)
    assert "no Deployment kube-system/coredns in kind-other" in said


@pytest.mark.parametrize("words", [(), ("up",), ("in", "--image"), ("in", "--colour", "red")])
def test_wrong_use_shows_the_usage(cluster: Cluster, words: tuple[str, ...]) -> None:
    status, said = cluster.swap(*words)
    assert (status, cluster.state["rollouts"]) == (2, 0)
    assert "swap.sh in  [--image IMAGE]" in said


@pytest.mark.parametrize("script", sorted((ROOT / "deploy").rglob("*.sh")), ids=lambda path: path.name)
def test_every_script_can_be_parsed(script: Path) -> None:
    subprocess.run(["sh", "-n", str(script)], check=True, timeout=10)

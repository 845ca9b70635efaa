"""swap.sh: what it changes, what it puts back, and which clusters it leaves alone."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SHELLS = [name for name in ("dash", "bash") if shutil.which(name)]
COREDNS, PYDNS = "registry.k8s.io/coredns/coredns:v1.14.7", "pydns:dev"


class Cluster:
    """A cluster as `kubectl.py` has it, in a folder of its own."""

    def __init__(self, folder: Path, context: str = "kind-try") -> None:
        self._state = folder / "state.json"
        self._kubectl = folder / "kubectl"
        self._kubectl.write_text(
            f'#!/bin/sh\nSTATE="{self._state}" exec "{sys.executable}" -IS "{ROOT}/tests/deploy/kubectl.py" "$@"\n'
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

    def note(self, replaced: str, put: str = COREDNS) -> None:
        """Annotations that somebody has written by hand."""
        state = self.state
        [deployment] = state["deployments"].values()
        deployment["metadata"]["annotations"] = {"pydns/replaced-image": replaced, "pydns/put-image": put}
        self._write(state)

    def be(self, **otherwise: object) -> None:
        """Changes parts of the state."""
        self._write({**self.state, **otherwise})

    def swap(self, *words: str, shell: str = "sh", kubectl: str = "") -> tuple[int, str]:
        run = subprocess.run(
            [shell, str(ROOT / "deploy/kind/swap.sh"), *words],
            env={"KUBECTL": kubectl or str(self._kubectl), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            start_new_session=True,  # a signal to all is not for pytest
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


NO_NAMES = ["a\\b", "a\nb", 'a", "command": ["b']


@pytest.mark.parametrize("image", [*NO_NAMES, "", "a b", "$(id)", "a;b"])
def test_what_is_no_name_of_an_image_is_refused(cluster: Cluster, image: str) -> None:
    status, said = cluster.swap("in", "--image", image)
    assert (status, cluster.state["rollouts"]) == (1, 0)
    assert "is not the name of an image" in said


@pytest.mark.parametrize("way", ["in", "out"])
@pytest.mark.parametrize("image", NO_NAMES)
def test_a_note_that_is_no_name_of_an_image_gets_into_no_change(cluster: Cluster, image: str, way: str) -> None:
    cluster.note(image)
    known = cluster.state
    status, said = cluster.swap(way)
    assert (status, cluster.state) == (1, known)
    assert f"'{image}', in the annotation pydns/replaced-image of kube-system/coredns, is not the name" in said


@pytest.mark.parametrize("image", NO_NAMES)
def test_what_is_there_is_put_away_only_if_it_can_come_back(cluster: Cluster, image: str) -> None:
    """The API takes a Deployment with any image; its Pods are refused later."""
    cluster.put(image)
    known = cluster.state
    status, said = cluster.swap("in")
    assert (status, cluster.state) == (1, known)
    assert f"'{image}', the image of kube-system/coredns, is not the name" in said
    cluster.note(COREDNS, put=image)
    assert cluster.swap("out")[0] == 0
    assert cluster.image == COREDNS


@pytest.mark.parametrize("time", ["90s", "1m30s", "1.5h", "500ms"])
def test_a_time_to_wait_is_one_of_kubectl(cluster: Cluster, time: str) -> None:
    assert cluster.swap("in", "--timeout", time)[0] == 0


@pytest.mark.parametrize("time", ["", "3", "3x", "-3s", "s"])
def test_what_is_no_time_is_refused_before_anything_is_changed(cluster: Cluster, time: str) -> None:
    status, said = cluster.swap("in", "--timeout", time)
    assert (status, cluster.state["rollouts"]) == (1, 0)
    assert f"'{time}' is no time to wait" in said


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


def test_what_is_put_back_and_is_not_ready_either_is_told(cluster: Cluster) -> None:
    cluster.put("bad:0")
    status, said = cluster.swap("in", "--image", "bad:1")
    assert (status, cluster.image) == (1, "bad:0")
    assert "bad:0 is put back, and is not ready either" in said
    assert "is back\n" not in said


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
    cluster.be(deployments={"kind-other": None})
    status, said = cluster.swap("in", "--context", "kind-other")
    assert (status, cluster.state["rollouts"]) == (1, 0)
    assert said == "swap.sh: no Deployment kube-system/coredns in kind-other\n"


def test_a_context_that_does_not_exist_is_named(cluster: Cluster) -> None:
    status, said = cluster.swap("in", "--context", "kind-tr.")
    assert (status, cluster.state["rollouts"]) == (1, 0)
    assert "no context kind-tr. in the kubeconfig" in said


def test_without_a_current_context_one_must_be_named(cluster: Cluster) -> None:
    cluster.be(context="")
    status, said = cluster.swap("in")
    assert (status, cluster.state["rollouts"]) == (1, 0)
    assert said.startswith("error: current-context is not set\nswap.sh: no current context")
    assert cluster.swap("in", "--context", "kind-try")[0] == 0


@pytest.mark.parametrize("words", [("in",), ("out", "--context", "kind-try")])
@pytest.mark.parametrize("kubectl", ["/nowhere/kubectl", "no-such-kubectl"])
def test_without_kubectl_that_is_said(cluster: Cluster, words: tuple[str, ...], kubectl: str) -> None:
    status, said = cluster.swap(*words, kubectl=kubectl)
    assert status == 1
    assert said == f"swap.sh: no program {kubectl}: install kubectl in PATH, or name it in KUBECTL\n"


@pytest.mark.parametrize("way", ["in", "out"])
@pytest.mark.parametrize(
    "words",
    [
        'Error from server (Forbidden): deployments.apps "coredns" is forbidden: User "me" cannot get resource',
        "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?",
    ],
    ids=["forbidden", "API away"],
)
def test_what_cannot_be_read_is_told_in_the_words_of_kubectl(cluster: Cluster, words: str, way: str) -> None:
    cluster.be(says=words)
    known = cluster.state
    status, said = cluster.swap(way)
    assert (status, cluster.state) == (1, known)
    assert said == (
        f"{words}\nswap.sh: Deployment kube-system/coredns of kind-try cannot be read; kubectl says why above\n"
    )


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("name", "verb", "group"),
    [
        *[(name, "rollout", False) for name in ("SIGINT", "SIGTERM", "SIGHUP")],
        *[("SIGINT", verb, True) for verb in ("rollout", "patch")],
    ],
)
def test_a_signal_ends_it_and_says_how_to_go_back_and_on(
    cluster: Cluster, name: str, verb: str, group: bool, shell: str
) -> None:
    """`group`: Ctrl-C, or a terminal that goes away; else somebody's `kill`."""
    number = signal.Signals[name]
    cluster.be(signal={"verb": verb, "number": number, "group": group})
    status, said = cluster.swap("in", shell=shell)
    assert (status, cluster.image) == (-number, PYDNS)
    [line] = [line for line in said.splitlines() if line.startswith("swap.sh:")]
    assert line.startswith(f"swap.sh: interrupted: {PYDNS} may be there by now; `")
    assert f"swap.sh out --context kind-try` puts back {COREDNS}" in line
    assert cluster.swap("out")[0] == 0
    assert cluster.image == COREDNS


def test_a_swap_that_was_interrupted_goes_on_with_the_next(cluster: Cluster) -> None:
    cluster.be(signal={"verb": "rollout", "number": signal.SIGINT, "group": True})
    assert cluster.swap("in")[0] == -signal.SIGINT
    status, said = cluster.swap("in")
    assert (status, cluster.image) == (0, PYDNS)
    assert f"{PYDNS} serves in the place of {COREDNS}" in said
    cluster.swap("out")
    assert cluster.image == COREDNS


def test_a_signal_on_the_way_back_leaves_what_the_next_run_makes_sure_of(cluster: Cluster) -> None:
    cluster.swap("in")
    cluster.be(signal={"verb": "rollout", "number": signal.SIGTERM, "group": False})
    status, said = cluster.swap("out")
    assert (status, cluster.image) == (-signal.SIGTERM, COREDNS)
    assert f"interrupted: {COREDNS} may be there by now" in said
    assert cluster.swap("out")[0] == 0
    assert cluster.image == COREDNS


def test_a_signal_before_anything_is_changed_says_so(cluster: Cluster) -> None:
    known = cluster.state
    cluster.be(signal={"verb": "get", "number": signal.SIGINT, "group": True})
    status, said = cluster.swap("in")
    assert (status, cluster.deployment, cluster.state["rollouts"]) == (
        -signal.SIGINT,
        *known["deployments"].values(),
        0,
    )
    assert said == "swap.sh: interrupted: nothing was changed\n"


@pytest.mark.parametrize("words", [(), ("up",), ("in", "--image"), ("in", "--colour", "red")])
def test_wrong_use_shows_the_usage(cluster: Cluster, words: tuple[str, ...]) -> None:
    status, said = cluster.swap(*words)
    assert (status, cluster.state["rollouts"]) == (2, 0)
    assert "swap.sh in  [--image IMAGE]" in said


@pytest.mark.parametrize("script", sorted((ROOT / "deploy").rglob("*.sh")), ids=lambda path: path.name)
def test_every_script_can_be_parsed(script: Path) -> None:
    subprocess.run(["sh", "-n", str(script)], check=True, timeout=10)

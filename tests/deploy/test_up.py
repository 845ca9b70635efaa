"""up.sh: which programs it calls, in which order, and what it does not do twice."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SHELLS = [name for name in ("dash", "bash") if shutil.which(name)]
SUITE = """
import os, select, signal, sys
from pathlib import Path
file = Path(sys.argv[sys.argv.index("--kubeconfig") + 1])
def stop(*_):
    select.select([caller], [], [], 0.2)  # a script that does not wait for the suite ends, and takes the file away
    os.write(calls, b"the suite cleans up with " + file.read_bytes())
    os._exit(130)
caller = os.pidfd_open(os.getppid())
calls = os.open("{here}/calls", os.O_WRONLY | os.O_APPEND)
signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
number, group = map(int, Path("{here}/signal").read_text().split())
os.killpg(os.getpgrp(), number) if group else os.kill(os.getppid(), number)
signal.alarm(20)
signal.pause()
"""
"""The suite when a signal comes: it cleans up and ends, as conformance/__main__.py does."""

FAKES = {
    "docker": 'case "$*" in *inspect*) echo sha256:0123456789abcdef ;; esac',
    "kind": """case "$*" in
        "get clusters") cat "$HERE/clusters" ;;
        create*) echo "$4" >>"$HERE/clusters" ;;
        *kubeconfig*) echo "secret of the administrator" ;;
    esac""",
    "kubectl": """case "$*" in
        *get-contexts*) sed s/^/kind-/ "$HERE/clusters" ;;
        *pydns/*) ;;
        *"get deployment"*) echo coredns:1 ;;
    esac""",
    "python3": f"""case "$*" in
        *--kubeconfig*) [ ! -e "$HERE/signal" ] || exec "{sys.executable}" -IS "$HERE/suite" "$@" ;;
    esac""",
}
"""Shell behind each program, all of which note their words in the file `calls`."""


class Machine:
    """A PATH with fakes alone, and the few real programs that the scripts use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "clusters").touch()
        (folder / "suite").write_text(SUITE.replace("{here}", str(folder)))
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        for name, body in FAKES.items():
            program = folder / name
            program.write_text(f'#!/bin/sh\nHERE={folder}\necho "{name} $*" >>"$HERE/calls"\n{body}\n')
            program.chmod(0o755)
        for name in ("sh", "sed", "cut", "grep", "mktemp", "rm", "cat", "dirname"):
            (folder / name).symlink_to(shutil.which(name) or name)

    def without(self, name: str) -> None:
        (self._folder / name).unlink()

    def does(self, name: str, case: str) -> None:
        """A program that does something else where its words match, as `case` has it."""
        program = self._folder / name
        first, rest = program.read_text().split("\n", 1)
        program.write_text(f'{first}\ncase "$*" in {case} ;; esac\n{rest}')

    def signals(self, number: int, group: bool) -> None:
        """The suite sends this signal to up.sh, or to all, as Ctrl-C does."""
        (self._folder / "signal").write_text(f"{int(number)} {int(group)}")

    def up(self, *words: str, shell: str = "sh") -> tuple[int, str, list[str]]:
        """The exit status, what was printed, and the calls."""
        calls = self._folder / "calls"
        calls.write_text("")
        run = subprocess.run(
            [shutil.which(shell) or shell, str(ROOT / "deploy/kind/up.sh"), *words],
            env={"PATH": str(self._folder), "TMPDIR": str(self.temporary)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            start_new_session=True,  # a signal to all is not for pytest
        )
        return run.returncode, run.stdout + run.stderr, calls.read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


IMAGE = "pydns:dev-0123456789ab"

STEPS = (
    "docker build -q -f deploy/image/Dockerfile -t pydns:dev .",
    f"docker tag pydns:dev {IMAGE}",
    "kind create cluster --name pydns --wait 120s",
    f"kind load docker-image {IMAGE} --name pydns",
    "kubectl --context kind-pydns -n kube-system rollout status deployment coredns --timeout 120s",
    "kind get kubeconfig --name pydns",
    "python3 -m conformance --kubeconfig",
)
"""The calls that matter, in their order, by their beginnings."""


def places(calls: list[str]) -> list[int]:
    """Where each step stands among the calls; -1: nowhere."""
    return [next((place for place, call in enumerate(calls) if call.startswith(step)), -1) for step in STEPS]


def test_every_step_in_its_order(machine: Machine) -> None:
    status, said, calls = machine.up()
    assert status == 0, said
    found = places(calls)
    assert -1 not in found
    assert found == sorted(found)
    assert calls[-1].endswith(f"--image {IMAGE}")
    assert not list(machine.temporary.iterdir())


def test_a_cluster_that_is_there_is_not_made_again(machine: Machine) -> None:
    machine.up()
    status, said, calls = machine.up()
    assert status == 0, said
    assert [step for step, place in zip(STEPS, places(calls), strict=True) if place < 0] == [STEPS[2]]


def test_name_and_image_are_parameters(machine: Machine) -> None:
    status, said, calls = machine.up("--name", "other", "--image", "corp/dns:7")
    assert status == 0, said
    assert "kind load docker-image corp/dns:7-0123456789ab --name other" in calls
    assert any(call.startswith("kubectl --context kind-other ") for call in calls)


@pytest.mark.parametrize("program", sorted(FAKES))
def test_a_missing_program_is_named_before_anything_is_done(machine: Machine, program: str) -> None:
    machine.without(program)
    status, said, calls = machine.up()
    assert (status, calls) == (1, [])
    assert f"{program} is needed" in said


def test_a_python_without_the_packages_of_the_suite_is_told_before_anything_is_done(machine: Machine) -> None:
    machine.does("python3", '*--help) echo "dnslib is missing" >&2; exit 2')
    status, said, calls = machine.up()
    assert (status, calls) == (1, ["python3 -c import sys; sys.exit(sys.version_info < (3, 11))"])
    assert "dnslib is missing\nup.sh: python3 cannot run the suite" in said


def test_a_docker_that_cannot_be_reached_says_why(machine: Machine) -> None:
    machine.does("docker", 'info) echo "permission denied" >&2; exit 1')
    status, said, _ = machine.up()
    assert (status, said) == (1, "up.sh: docker's daemon cannot be reached: permission denied\n")


def test_a_cluster_of_a_similar_name_is_another_one(machine: Machine) -> None:
    machine.up("--name", "axb")
    status, said, calls = machine.up("--name", "a.b")
    assert status == 0, said
    assert "kind create cluster --name a.b --wait 120s" in calls


def test_a_pod_without_an_answer_is_told_even_if_it_has_no_log(machine: Machine) -> None:
    machine.does("kubectl", '*" wait "*|*logs*) exit 1')
    status, said, _ = machine.up()
    assert status == 1
    assert said.endswith("up.sh: the Pod got no answer\n")


def test_how_the_suite_ends_is_how_it_ends(machine: Machine) -> None:
    machine.does("python3", "*--kubeconfig*) exit 7")
    status, _, _ = machine.up()
    assert status == 7
    assert not list(machine.temporary.iterdir())


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("name", "group"), [("SIGINT", True), ("SIGINT", False), ("SIGTERM", False), ("SIGHUP", False)]
)
def test_a_signal_leaves_no_kubeconfig_and_lets_the_suite_clean_up_with_it(
    machine: Machine, name: str, group: bool, shell: str
) -> None:
    machine.signals(signal.Signals[name], group)
    status, said, calls = machine.up(shell=shell)
    assert status == -signal.Signals[name], said
    assert calls[-1] == "the suite cleans up with secret of the administrator"
    assert not list(machine.temporary.iterdir())


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("whom", ["$PPID", "0"], ids=["up.sh", "all"])
def test_a_signal_before_the_suite_leaves_no_kubeconfig(machine: Machine, whom: str, shell: str) -> None:
    machine.does("kind", f"*kubeconfig*) echo secret; kill -s INT {whom}")
    status, said, calls = machine.up(shell=shell)
    assert status == -signal.SIGINT, said
    assert not any("conformance --kubeconfig" in call for call in calls)
    assert not list(machine.temporary.iterdir())


def test_wrong_use_shows_the_usage(machine: Machine) -> None:
    status, said, _ = machine.up("--colour", "red")
    assert status == 2
    assert "up.sh [--name NAME] [--image IMAGE]" in said

"""up.sh: which programs it calls, in which order, and what it does not do twice."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FAKES = {
    "docker": 'case "$*" in *inspect*) echo sha256:0123456789abcdef ;; esac',
    "kind": 'case "$*" in "get clusters") cat "$HERE/clusters" ;; create*) echo "$4" >>"$HERE/clusters" ;; esac',
    "kubectl": 'case "$*" in *pydns/*) ;; *"get deployment"*) echo coredns:1 ;; esac',
    "python3": "",
}
"""Shell behind each program, all of which note their words in the file `calls`."""


class Machine:
    """A PATH with fakes alone, and the few real programs that the scripts use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "clusters").touch()
        for name, body in FAKES.items():
            program = folder / name
            program.write_text(f'#!/bin/sh\nHERE={folder}\necho "{name} $*" >>"$HERE/calls"\n{body}\n')
            program.chmod(0o755)
        for name in ("sh", "sed", "cut", "grep", "mktemp", "rm", "cat", "dirname"):
            (folder / name).symlink_to(shutil.which(name) or name)

    def without(self, name: str) -> None:
        (self._folder / name).unlink()

    def up(self, *words: str) -> tuple[int, str, list[str]]:
        """The exit status, what was printed, and the calls."""
        calls = self._folder / "calls"
        calls.write_text("")
        run = subprocess.run(
            ["sh", str(ROOT / "deploy/kind/up.sh"), *words],
            env={"PATH": str(self._folder)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
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


def test_wrong_use_shows_the_usage(machine: Machine) -> None:
    status, said, _ = machine.up("--colour", "red")
    assert status == 2
    assert "up.sh [--name NAME] [--image IMAGE]" in said

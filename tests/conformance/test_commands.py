"""The commands of the suite in a Python that lacks the packages they need."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMMANDS = ["conformance", "conformance.objects", "conformance.clients.recipes", "conformance.report.page"]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """A command without the packages that are installed (`-S`)."""
    return subprocess.run([sys.executable, "-S", *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_package_is_one_line_that_says_how_to_get_it(command: str) -> None:
    ended = run("-m", command, "--help")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("conformance: the Python package ")
    assert ended.stderr.endswith("use .venv/bin/python, or pip install -e '.[dev]'\n")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["conformance.tools.build", "conformance.cluster"])
def test_what_needs_no_package_runs_without(command: str) -> None:
    assert run("-m", command, "--help").returncode == 0


def test_a_module_of_the_suite_that_is_missing_is_a_fault_of_the_suite() -> None:
    script = "import sys; sys.argv[0] = '-m'; import conformance; import conformance.nosuch"
    ended = run("-c", script)
    assert ended.returncode == 1
    assert ended.stderr.endswith("ModuleNotFoundError: No module named 'conformance.nosuch'\n")

"""Programs that people use on a cluster, run against the node's API: kubectl, and scripts that call it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.node.machine import NodeError
from conformance.servers.processes import tied
from conformance.tools.build import binary

LIMIT = 150.0
"""Seconds for one program: kubectl waits for rollouts."""


class Commands:
    """They find the API by a kubeconfig, scripts find kubectl by $KUBECTL."""

    def __init__(self, kubeconfig: Path) -> None:
        self._kubectl = str(binary("kubectl"))
        self._environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "KUBECTL": self._kubectl}

    def kubectl(self, *words: str, given: str = "") -> str:
        """What kubectl printed, `given` being its input. Raises `NodeError`."""
        return self.run([self._kubectl, *words], given)

    def apply(self, manifests: str) -> None:
        """Creates or changes objects. Raises `NodeError`."""
        self.kubectl("apply", "-f", "-", given=manifests)

    def run(self, words: Sequence[str], given: str = "") -> str:
        """What a program printed, errors included. Raises `NodeError` with that when it fails."""
        try:
            done = subprocess.run(
                tied(words), input=given, env=self._environment, text=True, check=False, timeout=LIMIT,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NodeError(f"{' '.join(words)}: not done after {LIMIT:.0f} s") from None
        if done.returncode:
            raise NodeError(f"{' '.join(words)}: {done.stdout.strip()}")
        return done.stdout

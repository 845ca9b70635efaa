"""Where pip reaches its packages on this machine, for a build that sees nothing of it: two files, never in an image."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

CERTIFICATES = "/run/secrets/ca.crt"
"""Where the build has the certificates."""

PASSED = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout")
"""Settings that say how packages are reached; the others are of this machine's own files."""


def secrets(folder: Path) -> list[str]:
    """Options of a build that hand it the settings; the files of which are written into a folder."""
    settings = _settings(_pip_config())
    certificates = settings.pop("cert", "") or os.environ.get("REQUESTS_CA_BUNDLE", "")
    lines = ["[global]", *(f"{key} = {value}" for key, value in settings.items() if key in PASSED)]
    words: list[str] = []
    if certificates:
        lines.append(f"cert = {CERTIFICATES}")
        words += ["--secret", f"id=ca.crt,src={certificates}"]
    (folder / "pip.conf").write_text("\n".join([*lines, ""]))
    return [*words, "--secret", f"id=pip.conf,src={folder / 'pip.conf'}"]


def _pip_config() -> str:
    words = [sys.executable, "-m", "pip", "config", "list"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def _settings(config: str) -> dict[str, str]:
    """What `pip config list` prints, by name: of [global], of [install], and of the environment, which wins."""
    found: dict[str, str] = {}
    for section in ("global.", "install.", ":env:."):
        for line in config.splitlines():
            key, _, value = line.partition("=")
            if key.startswith(section):
                found[key.removeprefix(section).removeprefix("default-")] = str(ast.literal_eval(value))
    return found

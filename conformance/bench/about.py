"""What must be known of a run to read it: when, where, with what. Knows no lines and no figures. Linux."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from conformance.bench import machine
from conformance.bench.contestants import PACKET_CACHE
from conformance.bench.processes import ROOT, output
from conformance.bench.setting import Options
from conformance.servers import subjects
from conformance.servers.processes import path_of


async def facts(options: Options, api: str, texts: Sequence[str]) -> dict[str, Any]:
    """Date, code, machine, programs, options; `texts` are those by which lines were chosen."""
    programs = {"subject": options.subject, "reference": "coredns"}
    return {
        "subject": Path(options.subject).name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "code": code(),
        "machine": machine.facts(),
        "pinning": machine.pinning(),
        "versions": {name: await subjects.version(program) or program for name, program in programs.items()},
        "dnsperf": await _dnsperf(),
        "uvloop": _package("uvloop"),
        "environment": {name: os.environ[name] for name in (PACKET_CACHE,) if name in os.environ},
        "api": api,
        "options": {
            "rounds": options.rounds, "seconds": options.seconds, "quick": options.quick, "load": list(texts)
        },
    }  # fmt: skip


def code(folder: Path = ROOT) -> dict[str, str | bool]:
    """The commit of a checkout and whether files differ from it; an empty commit where there is none."""
    return {"commit": _git(folder, "rev-parse", "HEAD"), "dirty": bool(_git(folder, "status", "--porcelain", "-uno"))}


def _git(folder: Path, *words: str) -> str:
    if shutil.which("git") is None:
        return ""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


async def _dnsperf() -> str:
    """The version of dnsperf; empty where there is none."""
    path = path_of("dnsperf")
    found = re.search(r"[Vv]ersion (\S+)", await output([path, "-h"], machine.cores())) if path else None
    return found[1] if found else ""


def _package(name: str) -> str:
    """The version of a package that this Python has, which is the one that pydns is started with; empty for none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""

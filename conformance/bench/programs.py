"""The small C programs beside this file, compiled when they are first needed (`cc`). Knows nothing of what they do."""

from __future__ import annotations

from pathlib import Path

from conformance.bench import machine
from conformance.bench.processes import BenchError, output

HERE = Path(__file__).parent
NEEDS = ("cc",)


async def compiled(name: str, folder: Path) -> str:
    """The path of `NAME.c`, compiled into the folder. Raises `BenchError`."""
    path = folder / name
    if not path.exists():
        if lacking := machine.missing(NEEDS):
            raise BenchError(lacking)
        unfinished = path.with_suffix(".part")
        await output(["cc", "-O2", "-o", str(unfinished), str(HERE / f"{name}.c")], machine.cores())
        unfinished.rename(path)
    return str(path)

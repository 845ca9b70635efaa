"""Processes that end with the suite, also when it is killed. Knows nothing of what they are."""

from __future__ import annotations

import shutil
from collections.abc import Sequence


def tied(words: Sequence[str]) -> list[str]:
    """A command line whose process gets SIGTERM when the thread that starts it ends (prctl(2), PR_SET_PDEATHSIG).

    Where there is no setpriv (util-linux), the command line as it is.
    """
    setpriv = shutil.which("setpriv")
    return [*((setpriv, "--pdeathsig", "TERM", "--") if setpriv else ()), *words]

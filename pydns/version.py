"""What this is and what it runs on."""

import platform
import sys

from pydns import __version__
from pydns.loop import loop_version


def version_lines() -> tuple[str, str]:
    """What ``-version`` shows and the start-up lines end with."""
    runs_on = f"{sys.platform}/{platform.machine()}", f"python{platform.python_version()}", loop_version()
    return f"pydns-{__version__}", ", ".join(filter(None, runs_on))

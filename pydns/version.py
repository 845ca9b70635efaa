"""What this is and what it runs on."""

import platform
import sys

from pydns import __version__


def version_lines() -> tuple[str, str]:
    """What ``-version`` shows and the start-up lines end with."""
    return f"pydns-{__version__}", f"{sys.platform}/{platform.machine()}, python{platform.python_version()}"

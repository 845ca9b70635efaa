"""``python -m pydns``."""

import sys

from pydns.cli import main

sys.exit(main())

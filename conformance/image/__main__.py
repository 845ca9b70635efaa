"""python -m conformance.image: builds the image, or finds it, and says where it is and how large."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from conformance.ending import INTERRUPTED, heed_signals
from conformance.image.build import DOCKERFILE, ROOT, Image, image
from conformance.image.programs import ImageError
from conformance.tools.build import cache_folder

LARGEST = 80_000_000
"""Octets that a node pulls at most."""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    return argparse.ArgumentParser(
        prog="python -m conformance.image",
        description=f"Builds the image by {DOCKERFILE.relative_to(ROOT)}, without a container engine or a registry of "
        "images (root, Debian's buildah and debootstrap), and says where its archive and its files are.",
        epilog=f"It is kept in {cache_folder()} (PYDNS_CONFORMANCE_CACHE names another folder).",
    )


def sizes(found: Image) -> str:
    """The line about its size."""
    octets = found.compressed
    verdict = "within" if octets <= LARGEST else "MORE THAN"
    return f"{octets / 1e6:.1f} MB compressed, {verdict} {LARGEST / 1e6:.0f} MB; {found.unpacked / 1e6:.0f} MB of files"


def main(words: Sequence[str]) -> int:
    """Status 1 when it cannot be built or is too large; 130 when it was interrupted."""
    arguments().parse_args(words)
    try:
        found = image(lambda line: print(line, flush=True))
    except (ImageError, OSError) as error:
        print(f"image: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    print(f"archive: {found.archive}\nfiles: {found.rootfs}\nsize: {sizes(found)}")
    return int(found.compressed > LARGEST)


if __name__ == "__main__":
    heed_signals()
    sys.exit(main(sys.argv[1:]))

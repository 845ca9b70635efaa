"""What the images on the node hold: the parts of Pods around a DNS server, real CoreDNS, the server under test.

Names are whole, as container engines complete them, so that nothing is ever pulled.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.clients import recipes
from conformance.image import build
from conformance.image.programs import ImageError
from conformance.node.images import NET_BIND_SERVICE_XATTR, Config, Layer, archive
from conformance.node.machine import NodeError, installed
from conformance.setting import Skipped
from conformance.tools.build import binary

PARTS = "localhost/parts:1"
COREDNS = "localhost/coredns:real"
NONROOT = "65532:65532"
"""The user of CoreDNS's image."""

APPLETS = ("cat", "ls", "nslookup", "sh", "sleep", "wget")
C_LIBRARIES = ("glibc", "musl")
"""The C libraries whose resolvers the clients use."""


@dataclass(frozen=True)
class Image:
    """A tar file that containerd imports, and the name it has then."""

    name: str
    file: Path

    @property
    def megabytes(self) -> float:
        """Its size, uncompressed, in millions of octets."""
        return self.file.stat().st_size / 1e6


def parts(folder: Path) -> Image:
    """Busybox, and the clients' programs with glibc and musl. It sleeps by default, and is the pause image, too."""
    layer = Layer(folder / "parts.layer")
    _add_system_files(layer)
    layer.copy(installed("busybox"), "/bin/busybox")
    for applet in APPLETS:
        layer.link(f"/bin/{applet}", "busybox")
    for library in C_LIBRARIES:
        layer.copy(_client(library), client_path(library))
    _with_libraries(layer, _client("glibc"))
    return _finished(folder, PARTS, layer, Config(["/bin/busybox", "sleep", "2147483647"]))


def subject(say: Callable[[str], None]) -> Image:
    """This checkout's image, as its Dockerfile makes it. Raises `NodeError`."""
    try:
        return Image(build.NAME, build.image(say).archive)
    except ImageError as error:
        raise NodeError(str(error)) from error


def client_path(library: str) -> str:
    """Where the client with a C library is in the image."""
    return f"/bin/steady-{library}"


def coredns(folder: Path) -> Image:
    """CoreDNS as its own image has it: a program with a file capability, run by a user that is not root."""
    layer = Layer(folder / "coredns.layer")
    _add_system_files(layer)
    layer.copy(binary("coredns"), "/coredns", NET_BIND_SERVICE_XATTR)
    _with_libraries(layer, binary("coredns"))
    return _finished(folder, COREDNS, layer, Config(["/coredns"], NONROOT))


def libraries(file: Path) -> Iterator[str]:
    """The paths at which a program looks for its shared libraries, its loader among them (ldd(1)); none if static."""
    said = subprocess.run(["ldd", str(file)], check=False, capture_output=True, text=True).stdout
    for found in re.finditer(r"(?:=> )?(/\S+) \(0x", said):
        yield found[1]


def _with_libraries(layer: Layer, file: Path) -> None:
    for path in libraries(file):
        layer.copy(Path(path).resolve(), path)


def _add_system_files(layer: Layer) -> None:
    layer.folder("/tmp", 0o1777)
    layer.text("/etc/passwd", "root:x:0:0:root:/:/bin/sh\nnonroot:x:65532:65532::/:/bin/false\n")
    layer.text("/etc/group", "root:x:0:\nnonroot:x:65532:\n")
    layer.text("/etc/nsswitch.conf", "hosts: files dns\n")


def _finished(folder: Path, name: str, layer: Layer, config: Config) -> Image:
    layer.close()
    image = Image(name, folder / f"{layer.file.stem}.tar")
    archive(image.file, name, layer.file, config)
    layer.file.unlink()
    return image


def _client(library: str) -> Path:
    try:
        return recipes.build(f"steady-{library}")
    except Skipped as reason:
        raise NodeError(f"the client with {library} cannot be compiled: {reason}") from reason

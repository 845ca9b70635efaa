"""The real resolvers: for each the program that asks by it, what it can look for, and how its output is read."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass

from conformance.clients import output
from conformance.clients.candidates import option
from conformance.clients.model import Lookup, ResolvConf, Want
from conformance.clients.recipes import PROGRAMS, build, check_glibc
from conformance.setting import Skipped

ADDRESSES = (Want.A, Want.AAAA, Want.BOTH)
ONE_TYPE = (Want.A, Want.AAAA, Want.SRV)
ALL = (*ADDRESSES, Want.SRV)

EDNS, COOKIE = "+rd +edns=1232", "+rd +edns=1232 +opt=10"
"""With an OPT record (RFC 6891), and with a cookie in it (RFC 7873), which c-ares leaves out once a server ignores it.
To a server that fails, c-ares comes back without OPT."""

JAVA_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx32m", "-XX:-UsePerfData")
"""A quick start, one look-up being all it does, and no file in /tmp that the JVMs of other sandboxes want, too."""


@dataclass(frozen=True)
class Resolver:
    """One resolver: `find` gives its program and raises `Skipped` where there is none, `command` its command line.

    `manners` are the flags and options its queries may have, in the words of `tap.manner`; one that is `told` them by
    its file adds what that says.
    """

    name: str
    wants: tuple[Want, ...]
    find: Callable[[], str]
    command: Callable[[str, Lookup], list[str]]
    read: output.Reader = output.read_json
    manners: tuple[str, ...] = ("+rd",)
    told: bool = False

    def manners_with(self, conf: ResolvConf) -> tuple[str, ...]:
        """Those with this file: glibc heeds trust-ad (resolv.conf(5), AD) and edns0 (1,200 octets)."""
        if not self.told:
            return self.manners
        added = {"trust-ad": "+ad", "edns0": "+edns=1200"}
        words = [word for name, word in added.items() if option(conf, name) is not None]
        return tuple(" ".join([each, *words]) for each in self.manners)


def _compiled(name: str) -> Callable[[], str]:
    return lambda: str(build(name))


def _installed(name: str, check: Callable[[], None] = lambda: None) -> Callable[[], str]:
    def find() -> str:
        check()
        path = shutil.which(name)
        if path is None:
            raise Skipped(f"there is no {name}")
        return path

    return find


def _python(script: str, module: str = "", check: Callable[[], None] = lambda: None) -> Callable[[], str]:
    def find() -> str:
        check()
        if module and importlib.util.find_spec(module) is None:
            raise Skipped(f"the Python package {module} is not installed")
        return str(PROGRAMS / script)

    return find


def _java() -> str:
    _installed("java")()
    return str(build("java"))


def _plain(program: str, lookup: Lookup) -> list[str]:
    return [program, lookup.name, lookup.want]


def _script(program: str, lookup: Lookup) -> list[str]:
    return [sys.executable, "-I", program, lookup.name, lookup.want]


def _node(api: str) -> Callable[[str, Lookup], list[str]]:
    return lambda program, lookup: [program, str(PROGRAMS / "lookup.js"), api, lookup.name, lookup.want]


def _jvm(classes: str, lookup: Lookup) -> list[str]:
    only_four = ["-Djava.net.preferIPv4Stack=true"] if lookup.want == Want.A else []
    return ["java", *JAVA_OPTIONS, *only_four, "-cp", classes, "Lookup", lookup.name]


def _dig(program: str, lookup: Lookup) -> list[str]:
    return [program, "+search", "-q", lookup.name, "-t", lookup.want]


def _host(program: str, lookup: Lookup) -> list[str]:
    return [program, *(() if lookup.want == Want.BOTH else ("-t", lookup.want)), lookup.name]


def _nslookup(program: str, lookup: Lookup) -> list[str]:
    return [program, *(() if lookup.want == Want.BOTH else (f"-type={lookup.want}",)), lookup.name]


def _busybox(program: str, lookup: Lookup) -> list[str]:
    return [program, *_nslookup("nslookup", lookup)]


RESOLVERS = {
    resolver.name: resolver
    for resolver in (
        Resolver("glibc", ALL, _compiled("glibc"), _plain, told=True),
        Resolver("musl-1.2.3", ADDRESSES, _compiled("musl-1.2.3"), _plain),
        Resolver("musl-1.2.5", ADDRESSES, _compiled("musl-1.2.5"), _plain),
        Resolver("go", ALL, _compiled("go"), _plain, output.read_go, (EDNS,)),
        Resolver("node-lookup", ADDRESSES, _installed("node", check_glibc), _node("lookup")),
        Resolver("node-resolve", ONE_TYPE, _installed("node"), _node("resolve")),
        Resolver("c-ares", ALL, _python("lookup_cares.py", "pycares"), _script, manners=(EDNS, COOKIE, "+rd")),
        Resolver("java", (Want.A, Want.BOTH), _java, _jvm),
        Resolver("python", ADDRESSES, _python("lookup_socket.py", check=check_glibc), _script, told=True),
        Resolver("dnspython", ONE_TYPE, _python("lookup_dnspython.py", "dns"), _script),
        Resolver("busybox", ALL, _installed("busybox"), _busybox, output.read_busybox),
        Resolver("dig", ONE_TYPE, _installed("dig"), _dig, output.read_dig, ("+rd +ad +edns=1232 +opt=10",)),
        Resolver("host", ALL, _installed("host"), _host, output.read_host),
        Resolver("nslookup", ALL, _installed("nslookup"), _nslookup, output.read_nslookup),
    )
}
"""All resolvers by name, the names of the models."""

"""Rewrites a Corefile as people have it so that it starts on this machine: free ports, loopback, no API, no files.

Addresses change, and waiting times are left out; every plugin stays.  Keys stand at the margin.  Knows no servers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from conformance.servers.ports import free_port

DNS_PORT = 53

_KEYS = re.compile(r"[^\s(}].*\{")
_PORT = re.compile(r":(\d+)$")
_PAGES = {"health": 8080, "ready": 8181, "prometheus": 9153}


class Loopback:
    """Free ports and loopback addresses in place of those written, the same one for the same one everywhere."""

    def __init__(self, nameservers: Path) -> None:
        self._ports: dict[int, int] = {}
        self._hosts: dict[str, str] = {}
        self._rewrites: dict[str, Callable[[str], str]] = {
            "bind": self._bind,
            "forward": lambda line: line.replace("/etc/resolv.conf", str(nameservers)),
            "kubernetes": _kubernetes,
            **dict.fromkeys(("endpoint", "kubeconfig", "tls", "startup_timeout", "lameduck"), lambda _: ""),
            **dict.fromkeys(_PAGES, self._page),
        }

    def port(self, written: int = DNS_PORT) -> int:
        """The free port that stands for a written one."""
        return self._ports.setdefault(written, free_port())

    def rewrite(self, text: str) -> str:
        """The Corefile, or a part of one that it imports."""
        return "".join(map(self._line, text.splitlines(keepends=True)))

    def _line(self, line: str) -> str:
        line = line.partition("#")[0].rstrip() + "\n"
        word = line.split()[0] if line.strip() else ""
        if word in self._rewrites:
            return self._rewrites[word](line)
        return self._keys(line) if _KEYS.match(line) else line

    def _keys(self, line: str) -> str:
        return " ".join(map(self._key, line.split()[:-1])) + " {\n"

    def _key(self, key: str) -> str:
        written = _PORT.search(key)
        port = self.port(int(written[1]) if written else DNS_PORT)
        return f"{_PORT.sub('', key)}:{port}"

    def _bind(self, line: str) -> str:
        addresses = [self._hosts.setdefault(host, f"127.0.0.{len(self._hosts) + 1}") for host in line.split()[1:]]
        return f"bind {' '.join(addresses)}\n"

    def _page(self, line: str) -> str:
        word, *rest = line.split()
        written = rest[0] if rest and rest[0] != "{" else f":{_PAGES[word]}"
        brace = " {" if rest[-1:] == ["{"] else ""
        return f"{word} 127.0.0.1:{self.port(int(written.rpartition(':')[2]))}{brace}\n"


def _kubernetes(line: str) -> str:
    """An API that nobody serves, and no time spent on waiting for it."""
    head = line.rstrip().removesuffix("{").rstrip()
    end = "" if line.rstrip().endswith("{") else "}\n"
    return f"{head} {{\nendpoint http://127.0.0.1:9\nstartup_timeout 1ms\n{end}"

"""lookup_cares.py NAME A|AAAA|both|SRV: what c-ares finds with the search list, as one line of JSON.

Addresses come from `ares_getaddrinfo`, SRV targets from `ares_search`.
"""

import json
import socket
import sys
from typing import Any

import pycares

FAMILIES = {"A": socket.AF_INET, "AAAA": socket.AF_INET6, "both": socket.AF_UNSPEC}


def lookup(name: str, want: str) -> dict[str, object]:
    """`found` or `error`."""
    results: list[tuple[Any, int | None]] = []
    channel = pycares.Channel()

    def take(result: Any, error: int | None) -> None:
        results.append((result, error))

    if want == "SRV":
        channel.search(name, pycares.QUERY_TYPE_SRV, callback=take)
    else:
        channel.getaddrinfo(name, None, family=FAMILIES[want], type=socket.SOCK_STREAM, callback=take)
    channel.wait()
    ((result, error),) = results
    channel.close()
    if error:
        return {"error": pycares.errno.errorcode.get(error, str(error))}
    return {"found": _targets(result) if want == "SRV" else _addresses(result)}


def _targets(result: Any) -> list[str]:
    return [record.data.target for record in result.answer if record.type == pycares.QUERY_TYPE_SRV]


def _addresses(result: Any) -> list[str]:
    return [node.addr[0].decode() for node in result.nodes]


print(json.dumps(lookup(*sys.argv[1:])))

"""lookup_socket.py NAME A|AAAA|both: what Python's `socket` finds, as one line of JSON."""

import json
import socket
import sys

FAMILIES = {"A": socket.AF_INET, "AAAA": socket.AF_INET6, "both": socket.AF_UNSPEC}
ERRORS = {number: name for name, number in vars(socket).items() if name.startswith("EAI_")}


def lookup(name: str, want: str) -> dict[str, object]:
    """`found` or `error`."""
    try:
        results = socket.getaddrinfo(name, None, FAMILIES[want], socket.SOCK_STREAM)
    except socket.gaierror as error:
        return {"error": ERRORS.get(error.errno or 0, str(error))}
    return {"found": [result[4][0] for result in results]}


print(json.dumps(lookup(*sys.argv[1:])))

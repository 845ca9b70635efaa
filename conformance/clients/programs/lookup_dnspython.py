"""lookup_dnspython.py NAME A|AAAA|SRV: what dnspython finds with the search list, as one line of JSON."""

import json
import sys

import dns.exception
import dns.resolver


def lookup(name: str, rdtype: str) -> dict[str, object]:
    """`found` or `error`."""
    try:
        answer = dns.resolver.resolve(name, rdtype, search=True)
    except dns.exception.DNSException as error:
        return {"error": type(error).__name__}
    return {"found": [str(record.target if rdtype == "SRV" else record.address) for record in answer]}


print(json.dumps(lookup(*sys.argv[1:])))

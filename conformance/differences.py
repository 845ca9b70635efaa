"""The known differences from CoreDNS: each has a name and a reason, and a case that shows it.

A case names the difference below a question (`differs NAME => …`) and says what the server under test answers there
instead, so nothing else can hide behind the name. A name that no case shows fails a run of the whole table.
docs/differences.md has the same names and reasons, for people.
"""

from __future__ import annotations

DIFFERENCES = {
    "apex-ns-letter-case": (
        "Names match without regard to letter case (RFC 1034 section 3.1): NS at the apex and ns.dns are answered "
        "however the zone is spelt."
    ),
    "cached-aa-cleared": (
        "A cached answer has the AA flag of the reply that was stored, which is clear where `forward` produced it: "
        "a cache is no authority (RFC 1035 section 4.1.1). CoreDNS sets AA on every hit."
    ),
    "client-options-not-echoed": (
        "An EDNS option this server does not implement does not come back (RFC 6891 section 6.1.2); CoreDNS mirrors "
        "NSID, EXPIRE, COOKIE, KEEPALIVE and PADDING, so a client takes its own cookie for one that the server "
        "understood."
    ),
    "log-local-address": (
        "`{local}` in the format of `log` is the address that was asked; CoreDNS writes `[::]` for every UDP query to "
        "a wildcard listener."
    ),
    "long-udp-query-read-whole": (
        "A UDP query of more than 512 octets is read whole; CoreDNS cuts it and answers FORMERR."
    ),
    "negative-ttl-minimum": (
        "A negative answer is kept, and shown, for the smaller of the SOA's TTL and its MINIMUM field (RFC 2308 "
        "section 5) within the cache's bounds; CoreDNS looks at the TTL alone."
    ),
    "query-records-unread": (
        "Of records that come with a query only OPT is read; CoreDNS reads all and answers FORMERR where the data of "
        "one is not what its type says, though nothing depends on it."
    ),
    "slice-without-service": (
        "An EndpointSlice without the label `kubernetes.io/service-name` gives its addresses no name: PTR is NXDOMAIN. "
        "CoreDNS makes a name with an empty label, cannot pack the reply and sends none."
    ),
    "udp-wrong-question-ignored": (
        "A UDP reply of an upstream with another question is ignored while the right one may still come (RFC 5452 "
        "section 9.1); CoreDNS answers FORMERR at once, so a forged packet breaks the exchange."
    ),
    "unknown-options-ignored": (
        "An EDNS option this server does not implement is ignored (RFC 6891 section 6.1.2); CoreDNS answers FORMERR to "
        "ZONEVERSION in the empty form that queries have (RFC 9660 section 2) and to REPORTING without a domain name."
    ),
    "unparsable-reload-counted": (
        "A changed Corefile that does not parse counts once in coredns_reload_failed_total and is logged once; CoreDNS "
        "logs it at every look and counts it never, so nobody's alert goes off."
    ),
}

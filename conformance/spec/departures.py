"""Where CoreDNS departs from the specification, each with a name and a reason; docs/differences.md has the same table.

A demand names its departure and what a server that departs answers: such a server passes, with the departure named, as
one that follows the specification does. A live CoreDNS must depart wherever a departure is named.
"""

from __future__ import annotations

DEPARTURES = {
    "dns-version-types-denied": (
        "`dns-version` is NXDOMAIN for every type but TXT (X11; RFC 8020 section 2): the plugin looks at the type "
        "before the name."
    ),
    "empty-non-terminals-denied": (
        "`_tcp.SERVICE` is NXDOMAIN though `_PORT._tcp.SERVICE` exists (X11; RFC 8020 section 2): only names that own "
        "records are found."
    ),
    "external-name-address-denied": (
        "An ExternalName that is an IP address is NXDOMAIN in place of a CNAME to that name (R24): it leads nowhere."
    ),
    "external-name-unresolved-dropped": (
        "A or AAAA of an ExternalName whose target is in the zone and has no such address is NODATA without the CNAME "
        "(R25; RFC 1034 section 4.3.2): the CNAME is sent with what it leads to, or not at all."
    ),
    "srv-for-unnamed-ports": (
        "Ports without a name have SRV records, at the Service's own name, which lists every port, and at "
        "`_._tcp.SERVICE`, where an empty label stands for any (R7, R20): old clients find their peers so."
    ),
    "zone-names-txt-denied": (
        "TXT of the zone, of `svc` and of a namespace is NXDOMAIN though the names exist (X11; RFC 8020 section 2): "
        "the plugin takes every TXT for a question about a Service."
    ),
}

"""What each requirement number says, in one line, and where it comes from. Knows no servers."""

from __future__ import annotations

R = {
    "R1": "TXT of dns-version.ZONE holds the version of the specification",
    "R2": "names match in any letter case",
    "R3": "A of a Service with an IPv4 ClusterIP",
    "R4": "AAAA of a Service with an IPv6 ClusterIP",
    "R5": "SRV for each named port of a ClusterIP Service; priority and weight are free",
    "R6": "the target of such an SRV is the Service's name",
    "R7": "no SRV for a port without a name",
    "R8": "the additional section may hold that target's addresses, and no others",
    "R9": "PTR of an IPv4 ClusterIP",
    "R10": "PTR of an IPv6 ClusterIP",
    "R11": "A of a headless Service: all its ready IPv4 endpoints",
    "R12": "endpoints that are not ready have no records",
    "R13": "a headless Service without a ready endpoint: A is NXDOMAIN",
    "R14": "A of an endpoint's own name, HOSTNAME.SERVICE",
    "R15": "endpoints of one host name: all their addresses",
    "R16": "an endpoint without a host name gets a name of its own, of any form",
    "R17": "AAAA of a headless Service: as R11 and R13",
    "R18": "AAAA of an endpoint's own name",
    "R19": "SRV of a headless Service: each ready endpoint with each named port",
    "R20": "no SRV for a headless Service's port without a name",
    "R21": "the additional section may hold those targets' addresses, and no others",
    "R22": "PTR of a ready IPv4 endpoint with a host name",
    "R23": "PTR of a ready IPv6 endpoint with a host name",
    "R24": "CNAME of an ExternalName Service",
    "R25": "A and AAAA of an ExternalName Service: the CNAME, and the target's addresses",
    "R26": "more records than these are allowed, fewer are not, however many endpoints there are",
}
"""Kubernetes DNS specification 1.1.0 (kubernetes/dns, docs/specification.md), in its order."""

X = {
    "X1": "a name that does not exist is NXDOMAIN, also with a search domain behind it: else no resolver walks on",
    "X2": "A and AAAA of one name have one rcode; the family that a name lacks is NODATA",
    "X3": "denials have AA or RA: glibc's walk ends at one that has neither",
    "X4": "every question can be asked over TCP (RFC 7766 section 5)",
    "X5": "several queries on one TCP connection are all answered (RFC 7766 section 6.2.1.1)",
    "X6": "what does not fit a UDP reply is cut with TC, at 512 octets without EDNS (RFC 1035, RFC 6891 section 4.3)",
    "X7": "the question comes back as it was asked, letter for letter (0x20), with its RD flag",
    "X8": "a query with OPT gets OPT, version 0, and one without gets none (RFC 6891 section 6.1.1)",
    "X9": "a Service's names lead nowhere else: no address or target but its own",
    "X10": "denials have the zone's SOA, or no resolver can keep them (RFC 2308 section 3)",
    "X11": "a name that exists, if only above others, is NODATA for the types it lacks (RFC 8020 section 2)",
    "X12": "records of one name and type have one TTL (RFC 2181 section 5.2)",
}
"""What resolvers and the RFCs need of a server beyond the specification."""

REQUIREMENTS = {**R, **X}
"""All numbers."""

"""The known differences from CoreDNS: each has a name and a reason.

`DIFFERENCES` show in replies, metrics or logs: a case names them below a question (`differs NAME => …`) and says what
the server under test answers there instead. The predicate of each must explain a part in which the two replies differ,
and no part may be left, so nothing else can hide behind a name. A name that no case shows fails a run of the whole
table; the names in a case that waits for a plugin wait with it. `CONFIGURATION` and `UNSEEN` are for people to know,
and no case shows them. docs/differences.md has the same names and reasons in the same three tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from conformance import predicates
from conformance.wire.compare import Mismatch, compare, normalise
from conformance.wire.message import Reply
from conformance.wire.question import Question


@dataclass(frozen=True)
class Difference:
    """A reason in words, and what the difference accounts for in a pair of replies.

    `explains` is None where it shows in logs or metrics, and never in a reply.
    """

    reason: str
    explains: predicates.Predicate | None


SEEN_ELSEWHERE = None
"""In place of a predicate: seen in logs or metrics."""

DIFFERENCES = {
    "apex-ns-letter-case": Difference(
        "Names match without regard to letter case (RFC 1034 section 3.1): NS at the apex and ns.dns are answered "
        "however the zone is spelt.",
        predicates.apex_letter_case,
    ),
    "cached-aa-cleared": Difference(
        "A cached answer has the AA flag of the reply that was stored, which is clear where `forward` produced it: "
        "a cache is no authority (RFC 1035 section 4.1.1). CoreDNS sets AA on every hit.",
        predicates.authority_cleared,
    ),
    "cached-owner-reverted": Difference(
        "A name that *rewrite* changed comes back as it was asked, also where the cached answer was first asked for in "
        "capitals; CoreDNS reverts a name only where it is spelt as in the rule, and shows the old owner.",
        predicates.old_owner,
    ),
    "client-options-not-echoed": Difference(
        "An EDNS option this server does not implement does not come back (RFC 6891 section 6.1.2); CoreDNS mirrors "
        "NSID, EXPIRE, COOKIE, KEEPALIVE and PADDING, so a client takes its own cookie for one that the server "
        "understood.",
        predicates.options_not_echoed,
    ),
    "cut-data-malformed": Difference(
        "Record data that ends between two of its fields is malformed: FORMERR to a query that has it, no reply where "
        "an upstream sends it. CoreDNS takes the other fields for empty, and passes on what no client can read.",
        predicates.cut_data,
    ),
    "log-local-address": Difference(
        "`{local}` in the format of `log` is the address that was asked; CoreDNS writes `[::]` for every UDP query to "
        "a wildcard listener.",
        SEEN_ELSEWHERE,
    ),
    "long-udp-query-read-whole": Difference(
        "A UDP query of more than 512 octets is read whole; CoreDNS cuts it and answers FORMERR.",
        predicates.long_query,
    ),
    "malformed-reply-truncated": Difference(
        "A reply of an upstream over UDP that does not parse becomes an empty one with TC, so that the client asks "
        "again over TCP; CoreDNS does so where data is cut short, and else answers SERVFAIL.",
        predicates.malformed_truncated,
    ),
    "negative-ttl-minimum": Difference(
        "A negative answer is kept, and shown, for the smaller of the SOA's TTL and its MINIMUM field (RFC 2308 "
        "section 5) within the cache's bounds; CoreDNS looks at the TTL alone.",
        predicates.negative_ttl,
    ),
    "other-data-unread": Difference(
        "Of records that others send only addresses and names are looked into, and in an upstream's OPT no option; "
        "nothing depends on the rest. CoreDNS reads all, and answers FORMERR or SERVFAIL where one is not what its "
        "type says.",
        predicates.data_unread,
    ),
    "records-once": Difference(
        "A record is in a section once (RFC 2181 section 5), also where an address is spelt in two ways, or an "
        "endpoint that is a name has several ports.",
        predicates.records_once,
    ),
    "root-zone-names": Difference(
        "In *kubernetes* with the zone `.` PTR records point to names below the root, and `ns.dns.` exists; CoreDNS "
        "makes names that end in two dots: it finds none and sends no reply.",
        predicates.root_names,
    ),
    "slice-without-service": Difference(
        "An EndpointSlice without the label `kubernetes.io/service-name` gives its addresses no name: PTR is NXDOMAIN. "
        "CoreDNS makes a name with an empty label, cannot pack the reply and sends none.",
        predicates.without_service,
    ),
    "udp-wrong-question-ignored": Difference(
        "A UDP reply of an upstream with another question is ignored while the right one may still come (RFC 5452 "
        "section 9.1); CoreDNS answers FORMERR at once, so a forged packet breaks the exchange.",
        predicates.wrong_question,
    ),
    "unknown-options-ignored": Difference(
        "An EDNS option this server does not implement is ignored (RFC 6891 section 6.1.2); CoreDNS answers FORMERR to "
        "ZONEVERSION in the empty form that queries have (RFC 9660 section 2) and to REPORTING without a domain name.",
        predicates.unknown_options,
    ),
    "unparsable-reload-counted": Difference(
        "A changed Corefile that does not parse counts once in coredns_reload_failed_total and is logged once; CoreDNS "
        "logs it at every look and counts it never, so nobody's alert goes off.",
        SEEN_ELSEWHERE,
    ),
    "whoami-names-too-long": Difference(
        "*whoami* leaves out the SRV record where its owner would exceed 255 octets (RFC 1035 section 2.3.4); CoreDNS "
        "sends it, and no client can read the reply.",
        predicates.names_too_long,
    ),
}
"""What a case shows."""

CONFIGURATION = {
    "addresses-in-brackets": (
        "`resolver` of *forward* takes `[::1]` and `fe80::1%eth0` as well; CoreDNS takes neither."
    ),
    "braces-on-one-line": (
        "A `}` at the end of a property's line closes the braces, with a warning: `health { lameduck 5s }`. For most "
        "properties of CoreDNS it is one more word, an error or swallowed: `hosts { ttl 30 }` starts, `kubernetes { "
        "fallthrough }` falls through for the zone `}.` alone."
    ),
    "braces-within-hosts": (
        "Braces after a line of *hosts* are an error; CoreDNS swallows a pair on that line as an entry without an "
        "address."
    ),
    "errors-with-a-place": (
        "Every error in a Corefile names file and line, where it helps the usage or a near name, and often says more "
        "than CoreDNS, which names no line for most wrong values."
    ),
    "impossible-ports": (
        "An upstream of *forward* with a port that cannot be is left out with a warning, and is an error where no "
        "other is left; such a `resolver` is an error. CoreDNS starts, and fails whenever it tries one."
    ),
    "listen-addresses-must-open": (
        "The start fails where *ready* or *prometheus* cannot have its address; CoreDNS serves DNS without them and "
        "does not say so. Their ports are numbers; CoreDNS also takes a service's name (`:http`)."
    ),
    "number-forms": (
        "`apiserver_qps` is a decimal number; CoreDNS also takes `0x1p4`, and refuses what exceeds 32 bits."
    ),
    "one-server-a-port": (
        "A port that another process serves is an error, whatever *multisocket* says; CoreDNS shares it "
        "(SO_REUSEPORT), so that two servers with different data may answer in turn."
    ),
    "plugin-list": (
        "`-plugins` lists the plugins that are served, `-version` and the start-up lines say `pydns-VERSION` and the "
        "version of Python."
    ),
    "regular-expressions": (
        "Python runs regular expressions, so a bad one can take long. Without RE2's `\\p{…}`, `(?U)`, `\\C`, names "
        "used for two groups or starting with a digit; `(?i)` knows ASCII letters only, `\\s` also matches a vertical "
        "tab, and nested repeats have no bound of 1,000."
    ),
    "root-words": ("*root* takes one word; CoreDNS takes any odd number of words and uses the last."),
    "startup-timeout-zero": ("`startup_timeout 0` waits not at all; CoreDNS panics."),
    "swallowed-words-told": (
        "What CoreDNS swallows (a bad line in *hosts*, a zone that is none, a word too many) is swallowed too, with a "
        "warning in the log and in `pydns check`."
    ),
}
"""What one server starts with and the other does not, or starts differently."""

UNSEEN = {
    "build-info": (
        "`coredns_build_info` has the version of pydns, an empty revision, and Python's version as `goversion`; "
        "`python_*` stands in place of `go_*`, and of `process_*` some are missing (see *prometheus*)."
    ),
    "cache-eviction": (
        "A full *cache* gives up the reply that was not used for longest; CoreDNS gives up any one of the same 256th "
        "part."
    ),
    "compression": (
        "Replies are always compressed; CoreDNS compresses those that would be truncated, and over UDP those of more "
        "than 1,480 octets (IPv6: 1,220)."
    ),
    "connect-timeout": (
        "A TCP connection to an upstream must open within 2 s; CoreDNS waits between 1 s and 30 s, depending on how "
        "long earlier ones took."
    ),
    "external-name-loops": (
        "An ExternalName that leads back to itself through another server block is followed for eight look-ups; "
        "CoreDNS goes on until memory ends."
    ),
    "health-check-zero": ("`health_check 0` of *forward* waits 10 ms between probes; CoreDNS does not wait at all."),
    "lists-in-pages": (
        "Where the API has no streaming lists, objects are listed in pages and as of now; CoreDNS lists all at once "
        "from the API server's cache (`resourceVersion=0`)."
    ),
    "processes-for-sockets": (
        "Each socket of *multisocket* is served by a process with a *cache*, TCP connections, and upstreams of its "
        "own; in CoreDNS all sockets share one process, and a reload keeps connections open."
    ),
    "ready-asks-all": ("*ready* asks the plugins of all blocks; CoreDNS only the last of each name."),
    "ready-when-followed": (
        "*kubernetes* is ready once all objects are listed and a watch of each kind has begun; CoreDNS once they are "
        "listed, so that without the right to watch it is ready and learns of changes by listing anew, with pauses of "
        "up to 30 s."
    ),
    "record-order": (
        "Addresses of a Service come in the order of its slices' names before *loadbalance* shuffles them; CoreDNS "
        "takes slices in any order. Of Services with one ClusterIP the first by name has the PTR record; CoreDNS takes "
        "any."
    ),
    "refusals-counted": (
        "FORMERR, NOTIMP and BADVERS count in every `coredns_dns_*` metric under the zone `dropped`, as REFUSED does "
        "in both servers (and SERVFAIL to a header without its question): each reply is counted once, so a flood of "
        "such queries shows. CoreDNS turns them away in front of its metrics."
    ),
    "replayed-durations": (
        "A reply that is sent again without asking the plugins counts in `coredns_dns_request_duration_seconds` with "
        "a duration of 0: it takes about a microsecond, and is not timed. So latency panels and objectives made of "
        "that histogram say little. The mean of the other queries can be had (see *prometheus*), "
        "`coredns_proxy_request_duration_seconds` has the upstreams' times; what clients wait is best measured at a "
        "client."
    ),
    "tcp-limits": (
        "An address has at most 1,000 TCP connections (the one silent for longest makes room) and 100 queries at a "
        "time on each (5,000 on all), taken in turns and answered as they get done; CoreDNS has any number, and "
        "answers the queries of one in turn."
    ),
    "udp-sockets": (
        "Queries to an upstream over UDP leave by eight sockets in turn (those that were read together by the same "
        "one), each closed after 128 queries or `expire` from its opening (ports must change, RFC 5452 section 9.2); "
        "CoreDNS uses a connection until it was idle for `expire`. So `coredns_proxy_conn_cache_hits_total` and "
        "`…_misses_total` differ."
    ),
    "weight-file-letter-case": ("Names in the weight file of *loadbalance* match in any letter case."),
}
"""What no reply tells."""


def unexplained(
    question: Question, reference: Reply, reply: Reply, names: Iterable[str], order: str = "any"
) -> list[str]:
    """What the named differences do not account for in two replies, and names that account for nothing there.

    `order` is that of the case (`compare`).
    """
    pair = predicates.Pair(question, normalise(reference), normalise(reply))
    mismatches = compare(reference, reply, order, question.slack)
    explained = {name: explains(pair) for name in names if (explains := DIFFERENCES[name].explains)}
    parts = {mismatch.part for mismatch in mismatches}
    idle = [f"{name} explains no part of this" for name, found in explained.items() if not found & parts]
    return [*idle, *_left(mismatches, explained.values())]


def _left(mismatches: Iterable[Mismatch], explained: Iterable[frozenset[str]]) -> list[str]:
    parts = frozenset[str]().union(*explained)
    return [f"unexplained: {mismatch}" for mismatch in mismatches if mismatch.part not in parts]

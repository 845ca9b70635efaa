"""How sequences of questions are written in these tests, and the worlds that they share.

1, 2 and 3 are the candidates that the search list makes, N is the name as typed; a, q, s and m are the types A, AAAA,
SRV and MX, over TCP in upper case. `a2` is sent twice, `a2-10` two to ten times.
"""

from collections.abc import Sequence
from itertools import groupby

from conformance.clients.model import Answer, Kind, ResolvConf, World
from conformance.clients.walks import Expectation, Question

LETTERS = {"A": "a", "AAAA": "q", "SRV": "s", "MX": "m"}


def written(expected: Expectation, name: str, search: Sequence[str]) -> str:
    """The sequence of an expectation."""
    places = {f"{name}.{domain}.": str(place) for place, domain in enumerate(search, 1)} | {
        f"{name.removesuffix('.')}.": "N"
    }
    questions = [question for wave in expected.waves for question in wave.questions]
    groups = groupby(questions, key=lambda question: (question.name, question.transport))
    return " ".join(places[name] + "".join(map(_letter, group)) for (name, _), group in groups)


def _letter(question: Question) -> str:
    letter = LETTERS[question.qtype] if question.transport == "udp" else LETTERS[question.qtype].upper()
    if question.least != question.most:
        return f"{letter}{question.least}-{question.most}"
    return letter if question.least == 1 else f"{letter}{question.least}"


# The reference, section 9: one search list, a right cluster DNS.

SEARCH = ("shop.svc.cluster.local", "svc.cluster.local", "cluster.local")
POD = ResolvConf(("10.96.0.10",), SEARCH, ("ndots:5",))
FQDN = "web.shop.svc.cluster.local"
RECORDS = {
    (f"{FQDN}.", "A"): "10.96.1.1",
    (f"{FQDN}.", "SRV"): f"{FQDN}.",
    (f"_http._tcp.{FQDN}.", "A"): "10.96.1.1",
    (f"_http._tcp.{FQDN}.", "SRV"): f"{FQDN}.",
    ("example.com.", "A"): "192.0.2.80",
    ("example.com.", "AAAA"): "2001:db8::80",
    ("www.example.com.", "A"): "192.0.2.81",
    ("www.example.com.", "AAAA"): "2001:db8::81",
}


def cluster(name: str, qtype: str) -> Answer:
    """Denies what it does not know."""
    if (name, qtype) in RECORDS:
        return Answer(Kind.ANSWER, (RECORDS[name, qtype],))
    return Answer(Kind.NODATA if any(name == known for known, _ in RECORDS) else Kind.NXDOMAIN)


PAIR = ("one.test", "two.test")
TWO = ResolvConf(("192.0.2.53",), PAIR, ("ndots:5", "timeout:1", "attempts:2"))


def always(kind: Kind) -> World:
    return lambda name, qtype: Answer(kind)

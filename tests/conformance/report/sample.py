"""A run with something of everything, made by hand; its numbers are nobody's measurements."""

from __future__ import annotations

from conformance.plan import Plan
from conformance.report.run import Run
from conformance.results import Heard, Outcome, Verdict, Walk

TEXTS = {
    "R1": "dns-version.ZONE has a TXT record with the version of the specification",
    "R2": "Names match in any letter case",
    "R3": "A Service with an IPv4 ClusterIP has an A record",
    "R7": "A port without a name has no SRV record",
    "R13": "A headless Service without ready endpoints is NXDOMAIN",
    "K5": "The names of kubernetes.default resolve",
    "K36": "needs a kubelet: the hosts file of a Pod",
    "C3": "A name in another namespace resolves",
}

BOTH: dict[str, tuple[str, ...]] = {"coredns": (), "pydns": ()}


def walk(*names: str, gap: float = 1.2, got: str = "10.96.1.1", transport: str = "udp") -> Walk:
    """A and AAAA for each name, one pair after another, the first after 40 ms."""
    asked = [Heard(40 + index * gap + shift, name, qtype, transport)
             for index, name in enumerate(names) for qtype, shift in (("A", 0.0), ("AAAA", 0.1))]  # fmt: skip
    return Walk(tuple(asked), got)


def candidates(name: str) -> list[str]:
    """What a Pod in the namespace shop tries for a name with fewer than five dots."""
    search = ("shop.svc.cluster.local.", "svc.cluster.local.", "cluster.local.")
    return [f"{name}.{domain}" for domain in search] + [f"{name}."]


def client(name: str) -> Outcome:
    """A resolver that was looked at three times."""
    outcome = Outcome(f"clients/{name}", f"{name} in a Pod", ("K10",), seconds=2.5)
    for index, typed in enumerate(("web.shop", "example.com", "drop.test")):
        seen = {server: walk(*candidates(typed)[: index + 2], gap=1000.0 if typed == "drop.test" else 1.2)
                for server in BOTH}  # fmt: skip
        row = f"{typed}, ndots 5, 3 search domains"
        outcome.verdicts.append(Verdict(outcome.name, row, "same questions", BOTH, ("K10", "search"), walks=seen))
    return outcome


def outcomes() -> list[Outcome]:
    """Jobs that pass, fail, depart, wait and are skipped."""
    service = Outcome("kubernetes/service", "Services (needs cluster standard)", ("R1", "R3"), api="real", seconds=1.5)
    service.verdicts = [
        Verdict(service.name, "kubernetes/service.case:7", "web.shop A", BOTH, ("R3",)),
        Verdict(service.name, "kubernetes/service.case:9", "dns-version TXT", BOTH, ("R1",)),
        Verdict(service.name, "kubernetes/service.case:12", "cookie", BOTH, (), ("client-options-not-echoed",)),
    ]
    spec = Outcome("spec/general", "The specification", ("R2", "R7", "R13"), seconds=0.5)
    wrong = {"coredns": (), "pydns": ("answer: web.shop. 5 A 10.96.1.1, not <nothing> & more\nand a second line",)}
    departs = {"coredns": ("srv-for-unnamed-ports",), "pydns": ()}
    spec.verdicts = [
        Verdict(spec.name, "R2", "WEB.shop A", wrong, ("R2",)),
        Verdict(spec.name, "R7", "unnamed.shop SRV", BOTH, ("R7",), departures=departs),
        Verdict(spec.name, "R13", "hlnr.shop A", BOTH, ("R13",)),
        Verdict(spec.name, "R13", "hlnr.shop AAAA", BOTH, ("R13",)),
    ]
    change = Outcome("change/scale", "A Deployment is scaled", ("K9",), api="real", seconds=4.0)
    change.verdicts = [
        Verdict(
            change.name,
            f"change/scale.case:{line}",
            f"scale to {count}",
            BOTH,
            ("K9",),
            settled={"pydns": 12.5 + line, "coredns": 20.0 + 2 * line},
        )
        for line, count in ((9, 3), (14, 1), (21, 0))
    ]
    waits = Outcome("ci/autopath", "autopath", ("C3",), waits="pydns does not serve autopath")
    waits.verdicts = [Verdict(waits.name, "ci/autopath.case:5", "a", {"coredns": ()}, ("C3",))]
    skipped = Outcome("clients/musl", "musl in a Pod", ("K11",), skipped="musl-gcc is not installed (musl-tools)")
    return [service, spec, change, waits, skipped, client("glibc"), client("go")]


def large() -> tuple[Outcome, ...]:
    """As much as a whole run finds: 2,500 checks, 800 of them look-ups with up to 33 candidates."""
    found = [Outcome(f"area{index % 20}/job{index}", "about", ("R1",)) for index in range(425)]
    for outcome in found:
        outcome.verdicts = [
            Verdict(outcome.name, f"{outcome.name}.case:{line}", f"name{line}.shop A", BOTH, ("R1",))
            for line in range(4)
        ]
    return (*found, *map(_large_client, range(16)))


def _large_client(number: int) -> Outcome:
    outcome = Outcome(f"clients/resolver{number}", "a resolver in a Pod")
    for row in range(50):
        names = [f"web.shop.search{index}.example.com." for index in range(1 + row % 33)]
        place = f"web.shop, ndots {row % 6}, {len(names)} search domains, row {row}"
        outcome.verdicts.append(Verdict(outcome.name, place, "same questions", BOTH, ("K12",),
                                        walks={server: walk(*names) for server in BOTH}))  # fmt: skip
    return outcome


def run(**changes: object) -> Run:
    """The sample as a run of pydns beside CoreDNS, with other fields where given."""
    fields: dict[str, object] = {
        "plan": Plan(),
        "outcomes": tuple(outcomes()),
        "jobs": 7,
        "seconds": 83.25,
        "started": "2026-11-30T12:00:00Z",
        "versions": {"coredns": "CoreDNS-1.14.7", "pydns": "pydns-0.1.0"},
    }
    return Run(**{**fields, **changes})  # type: ignore[arg-type]

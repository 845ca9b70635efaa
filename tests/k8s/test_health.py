"""What is logged while the API is away."""

import pytest

from pydns.k8s.health import ApiHealth, Forbidden, Unauthorized, Verb
from pydns.k8s.objects import Kind
from pydns.k8s.source import Observer
from pydns.k8s.transport import CredentialsError
from tests.support import Clock

LOST = OSError("connection refused")
URL = "https://api:6443"


class Reports(Observer):
    def __init__(self) -> None:
        self.told: list[bool] = []

    def api_up(self, up: bool) -> None:
        self.told.append(up)


def test_one_line_when_lost_one_a_minute_while_away_one_when_back(log_lines: list[str]) -> None:
    clock, reports = Clock(1000.0), Reports()
    health = ApiHealth(URL, reports, clock)
    for kind in (Kind.SERVICE, Kind.SLICE):
        health.ok(kind, "watch")
    for second in range(130):
        clock.now = 1000.0 + second
        health.failed(Kind.SERVICE, "watch", LOST)
        health.failed(Kind.SLICE, "watch", LOST)
    for kind in (Kind.SERVICE, Kind.SLICE):
        health.ok(kind, "watch")
    rest = "answering from what is known: connection refused"
    assert log_lines == [
        f"[WARNING] plugin/kubernetes: no services from the Kubernetes API at {URL}, {rest}",
        f"[WARNING] plugin/kubernetes: no services from the Kubernetes API at {URL} for 60s, {rest}",
        f"[WARNING] plugin/kubernetes: no services from the Kubernetes API at {URL} for 120s, {rest}",
        "[INFO] plugin/kubernetes: the Kubernetes API is back after 129s",
    ]
    assert reports.told == [False, True]


def test_lost_again_within_the_minute_is_told_again(log_lines: list[str]) -> None:
    health = ApiHealth(URL, Observer(), Clock())
    for _ in range(2):
        health.failed(Kind.SERVICE, "watch", LOST)
        health.ok(Kind.SERVICE, "watch")
    assert [line.split("]")[0] for line in log_lines] == ["[WARNING", "[INFO"] * 2


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (LOST, "[WARNING] plugin/kubernetes: no pods from the Kubernetes API at https://api:6443: connection refused"),
        (
            Unauthorized("Unauthorized"),
            "[ERROR] plugin/kubernetes: no pods from the Kubernetes API at https://api:6443: "
            "Unauthorized (the API does not accept the credentials)",
        ),
        (
            CredentialsError("getting credentials: exec: executable aws not found"),
            "[ERROR] plugin/kubernetes: no pods from the Kubernetes API at https://api:6443: "
            "getting credentials: exec: executable aws not found",
        ),
    ],
)
def test_before_the_first_list_nothing_is_known(error: Exception, line: str, log_lines: list[str]) -> None:
    ApiHealth(URL, Observer(), Clock()).failed(Kind.POD, "list", error)
    assert log_lines == [line]


def test_ok_is_silent_while_up(log_lines: list[str]) -> None:
    reports = Reports()
    ApiHealth(URL, reports, Clock()).ok(Kind.SERVICE, "list")
    assert log_lines == []
    assert reports.told == []


@pytest.mark.parametrize("verb", ["list", "watch"])
def test_refusal_is_told_once_a_minute_and_after_it_was_lifted(verb: Verb, log_lines: list[str]) -> None:
    clock = Clock()
    health = ApiHealth(URL, Observer(), clock)
    for seconds in (0, 1, 59):
        clock.now += seconds
        health.failed(Kind.SLICE, verb, Forbidden("no"))
    health.ok(Kind.SLICE, verb)
    health.failed(Kind.SLICE, verb, Forbidden("no"))
    refused = [line for line in log_lines if line.startswith("[ERROR]")]
    assert refused == 3 * [
        f"[ERROR] plugin/kubernetes: not allowed to {verb} endpointslices, the ClusterRole needs "
        '{apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"]}: no'
    ]


def test_lists_do_not_make_up_for_a_watch_that_is_refused(log_lines: list[str]) -> None:
    reports = Reports()
    health = ApiHealth(URL, reports, Clock())
    for _ in range(3):
        health.ok(Kind.POD, "list")
        health.failed(Kind.POD, "watch", Forbidden("no"))
    assert len(log_lines) == 1
    assert (reports.told, health.watched) == ([False], set())
    health.ok(Kind.POD, "watch")
    assert (reports.told, health.watched) == ([False, True], {Kind.POD})

from pydns.k8s.health import ApiHealth, Forbidden
from pydns.k8s.objects import Kind
from pydns.k8s.source import Observer
from tests.support import Clock

LOST = OSError("connection refused")


class Reports(Observer):
    def __init__(self) -> None:
        self.told: list[tuple[bool, float]] = []

    def api_up(self, up: bool, since: float) -> None:
        self.told.append((up, since))


def test_one_line_when_lost_one_a_minute_while_away_one_when_back(log_lines: list[str]) -> None:
    clock, reports = Clock(1000.0), Reports()
    health = ApiHealth(reports, clock)
    for second in range(130):
        clock.now = 1000.0 + second
        health.failed(Kind.SERVICE, LOST)
        health.failed(Kind.SLICE, LOST)
    for kind in (Kind.SERVICE, Kind.SLICE):
        health.ok(kind)
    rest = "answering from what is known: connection refused"
    assert log_lines == [
        f"[WARNING] plugin/kubernetes: no services from the Kubernetes API, {rest}",
        f"[WARNING] plugin/kubernetes: no services from the Kubernetes API for 60s, {rest}",
        f"[WARNING] plugin/kubernetes: no services from the Kubernetes API for 120s, {rest}",
        "[INFO] plugin/kubernetes: the Kubernetes API is back after 129s",
    ]
    assert reports.told == [(False, 1000.0), (True, 1129.0)]


def test_ok_is_silent_while_up(log_lines: list[str]) -> None:
    reports = Reports()
    ApiHealth(reports, Clock()).ok(Kind.SERVICE)
    assert log_lines == []
    assert reports.told == []


def test_refusal_is_told_again_after_it_was_lifted(log_lines: list[str]) -> None:
    health = ApiHealth(Observer(), Clock())
    for _ in range(2):
        health.failed(Kind.SLICE, Forbidden("no"))
        health.failed(Kind.SLICE, Forbidden("no"))
        health.ok(Kind.SLICE)
    refused = [line for line in log_lines if line.startswith("[ERROR]")]
    assert refused == 2 * [
        "[ERROR] plugin/kubernetes: not allowed to list and watch endpointslices, the ClusterRole needs "
        '{apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"]}: no'
    ]

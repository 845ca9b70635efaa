"""Facts about a query; expectations from the behaviour reference (1.17)."""

import pytest

from pydns.k8s.objects import Pod
from pydns.plugin import Describes
from tests.plugins.kubernetes.cluster import FixedSource, expand, make_kubernetes
from tests.support import make_query

POD = Pod("shop", "p1", "10.244.0.21", labels=(("app", "web"), ("example.com/tier", "front")))


def facts(question: str, options: str = "", client: str = "10.244.0.21") -> dict[str, str]:
    plugin = make_kubernetes(options, FixedSource([POD]))
    assert isinstance(plugin, Describes)
    found = plugin.metadata(make_query(expand(question), client=client))
    return {label.removeprefix("kubernetes/"): value() for label, value in found.items()}


NOTHING = dict.fromkeys(("port-name", "protocol", "endpoint", "service", "namespace", "kind"), "")


@pytest.mark.parametrize(
    "question, found",
    [
        ("_HTTP._tcp.web.shop.S SRV", {"port-name": "http", "protocol": "tcp", "service": "web"}),
        ("a.web.shop.S A", {"endpoint": "a", "service": "web"}),
        ("web.shop.S A", {"service": "web"}),
    ],
)
def test_the_parts_of_a_name(question: str, found: dict[str, str]) -> None:
    assert facts(question) == NOTHING | {"namespace": "shop", "kind": "svc"} | found


def test_names_without_parts() -> None:
    assert facts("Z A") == facts("S A") == NOTHING
    assert facts("x.Z A") == {"parse-error": "invalid query name"}
    assert facts("example.org. A") == {}


def test_topology_zones() -> None:
    assert facts("z.pin._zone.hl.shop.S A", "zonal")["zone"] == "z"


def test_the_pod_that_asks() -> None:
    assert facts("example.org. A", "pods verified") == {
        "client-namespace": "shop",
        "client-pod-name": "p1",
        "client-label/app": "web",
        "client-label/example.com/tier": "front",
    }
    assert facts("example.org. A", "pods verified", client="10.244.0.99") == {}
    assert facts("example.org. A", "pods insecure") == {}

"""What a person should know of a set of manifests."""

import pytest

from pydns.k8s.documents import parse
from pydns.k8s.survey import is_read, skipped_kinds, warnings


def service(name: str, spec: str = "", version: str = "v1") -> str:
    return f"apiVersion: {version}\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n"


def told(*manifests: str) -> list[str]:
    return list(warnings(list(parse("a.yaml", "---\n".join(manifests).encode()))))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("kind: Service\nmetadata: {}\n", True),
        ("kind: Service\napiVersion: v1\n", True),
        ("kind: Service\napiVersion: v1beta1\n", True),
        ("kind: Service\napiVersion: serving.knative.dev/v1\n", False),
        ("kind: EndpointSlice\napiVersion: discovery.k8s.io/v1beta1\n", True),
        ("kind: Deployment\napiVersion: v1\n", False),
        ("kind: ConfigMap\napiVersion: v1\n", False),
        ("kind: Service\n", False),
        ("a: b\n", False),
    ],
)
def test_the_kinds_that_are_read(text: str, read: bool) -> None:
    assert [is_read(one) for one in parse("a.yaml", text.encode())] == [read]


def test_skipped_kinds_are_counted() -> None:
    manifests = [service("a"), service("b", version="serving.knative.dev/v1"), "a: b\n"]
    manifests += ["kind: Job\nmetadata: {name: a}\n"] * 2
    documents = parse("a.yaml", "---\n".join(manifests).encode())
    assert skipped_kinds(documents) == {"Service.serving.knative.dev": 1, "Job": 2}


@pytest.mark.parametrize(
    ("manifests", "lines"),
    [
        ([service("a", "clusterIP: 10.96.5.5"), service("b", "clusterIP: None"), service("c", "clusterIP: None")], []),
        ([service("a", "clusterIP: 10.96.5.5, clusterIPs: [10.96.5.5]")], []),
        (["a: b\n"], ["a.yaml:1 - skipped: no Kubernetes object, which has apiVersion, kind and metadata"]),
        (
            [service("a", version="v1beta1")],
            ["a.yaml:1 - Service default/a: apiVersion: 'v1beta1' is read as v1; a cluster would refuse it"],
        ),
        (
            [service("a"), service("a").replace("Service", "Pod"), service("a")],
            ["a.yaml:11 - Service default/a: takes the place of the one in a.yaml:1"],
        ),
        (
            [service("a", "clusterIp: None, selectors: {app: a}, colour: red")],
            [
                "a.yaml:4 - Service default/a: spec.clusterIp: unknown field (did you mean 'clusterIP'?)",
                "a.yaml:4 - Service default/a: spec.selectors: unknown field (did you mean 'selector'?)",
                "a.yaml:4 - Service default/a: spec.colour: unknown field",
            ],
        ),
        (
            [service("a", "clusterIP: 10.96.5.5"), service("b", "clusterIPs: [10.96.5.5]")],
            ["a.yaml:9 - Service default/b: spec.clusterIP: 10.96.5.5 is also that of Service default/a in a.yaml:1"],
        ),
        (
            [service("a", "clusterIP: 10.96.5.5"), service("a", "clusterIP: 10.96.5.5")],
            ["a.yaml:6 - Service default/a: takes the place of the one in a.yaml:1"],
        ),
    ],
)
def test_likely_mistakes(manifests: list[str], lines: list[str]) -> None:
    assert told(*manifests) == lines

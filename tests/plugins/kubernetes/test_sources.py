"""Where objects come from: the command line before the Corefile."""

from pathlib import Path

import pytest

from pydns.k8s.client import Connection
from pydns.k8s.cluster import ApiSource
from pydns.k8s.manifests import ManifestSource
from pydns.k8s.objects import Kind
from pydns.k8s.source import Observer
from pydns.plugins.kubernetes.options import KubernetesOptions
from pydns.plugins.kubernetes.sources import connection, interest, make_source
from tests.support import corefile_lines, make_block


def options(text: str) -> KubernetesOptions:
    (line,) = corefile_lines(f"kubernetes cluster.local {{\n{text}\n}}")
    return KubernetesOptions.parse(line)


@pytest.mark.parametrize(
    "text, kubeconfig, found",
    [
        ("", None, Connection()),
        ("", "cli", Connection(kubeconfig="cli")),
        ("kubeconfig f", None, Connection(kubeconfig="f")),
        ("kubeconfig f ctx\nendpoint http://a", None, Connection(kubeconfig="f", context="ctx")),
        ("kubeconfig f ctx", "cli", Connection(kubeconfig="cli")),
        ("endpoint http://a:8001 http://b", None, Connection(endpoint="http://a:8001")),
        ("endpoint https://a\ntls c k ca", None, Connection(endpoint="https://a", tls=("c", "k", "ca"))),
    ],
)
def test_the_way_to_the_api(text: str, kubeconfig: str | None, found: Connection) -> None:
    process = make_block().process
    process.kubeconfig = Path(kubeconfig) if kubeconfig else None
    assert connection(process, options(text)) == found
    assert isinstance(make_source(process, options(text), Observer()), ApiSource)


def test_manifests_take_the_place_of_the_api() -> None:
    process = make_block().process
    process.manifests = (Path("demo.yaml"),)
    assert isinstance(make_source(process, options("endpoint http://a"), Observer()), ManifestSource)


@pytest.mark.parametrize(
    "text, kinds",
    [
        ("", (Kind.NAMESPACE, Kind.SERVICE, Kind.SLICE)),
        ("noendpoints", (Kind.NAMESPACE, Kind.SERVICE)),
        ("pods insecure", (Kind.NAMESPACE, Kind.SERVICE, Kind.SLICE)),
        ("pods verified", (Kind.NAMESPACE, Kind.SERVICE, Kind.SLICE, Kind.POD)),
    ],
)
def test_only_what_is_needed_is_watched(text: str, kinds: tuple[Kind, ...]) -> None:
    assert interest(options(text)).kinds == kinds


def test_labels_select_objects_and_namespace_labels_namespaces() -> None:
    wanted = interest(options("labels a=b\nnamespace_labels c=d"))
    assert str(wanted.selector(Kind.NAMESPACE)) == "c=d"
    assert {str(wanted.selector(kind)) for kind in (Kind.SERVICE, Kind.SLICE, Kind.POD)} == {"a=b"}

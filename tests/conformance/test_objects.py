"""Objects from files, and the standard ones."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from conformance import objects
from conformance.kubernetes.objects import Object
from conformance.objects import ObjectsError, read_file, standard

SERVICE = "{kind: Service, metadata: {name: web, namespace: shop}}"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (SERVICE, ["Service"]),
        (f"---\n{SERVICE}\n---\n---\n{{kind: Namespace, metadata: {{name: shop}}}}", ["Service", "Namespace"]),
        (f"{{kind: List, items: [{SERVICE}, {SERVICE}]}}", ["Service", "Service"]),
        ('{"kind": "ServiceList", "items": [{"metadata": {"name": "web"}}]}', ["Service"]),
    ],
)
def test_files(tmp_path: Path, text: str, kinds: list[str]) -> None:
    file = tmp_path / "objects"
    file.write_text(text)
    assert [object["kind"] for object in read_file(file)] == kinds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("values: 1", "a document that is no Kubernetes object"),
        ("[", "while parsing"),
        ("{kind: Pod, metadata: {name: a}}", "no Services in it"),
        ("", "no Services in it"),
    ],
)
def test_a_file_without_objects_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "objects"
    file.write_text(text)
    with pytest.raises(ObjectsError, match=f"^{file}: {message}"):
        read_file(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ObjectsError, match="No such file"):
        read_file(tmp_path / "none")


def test_standard_objects_lie_in_the_runs_own_namespaces_with_addresses_of_the_runs_own() -> None:
    one, two = standard("conformance-1", "k8s.test."), standard("conformance-2", "k8s.test.")
    assert {each["metadata"].get("namespace", "conformance-1-").partition("-")[0] for each in one} == {"conformance"}
    assert one[0] == {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "conformance-1-bare"}}
    assert not addresses(one) & addresses(two)
    assert "web.conformance-1-other.svc.k8s.test" in {(each.get("spec") or {}).get("externalName") for each in one}


def addresses(given: list[Object]) -> set[str]:
    return {text for each in given for endpoint in each.get("endpoints", ()) for text in endpoint["addresses"]}


@pytest.mark.parametrize(("options", "has_six"), [([], True), (["--without-ipv6"], False)])
def test_they_are_printed_for_kubectl(capsys: pytest.CaptureFixture[str], options: list[str], has_six: bool) -> None:
    assert objects.main(options) == 0
    printed = list(yaml.safe_load_all(capsys.readouterr().out))
    assert ("six" in {each["metadata"]["name"] for each in printed}) is has_six
    assert printed[-1]["metadata"]["name"] == "zz-last-1"

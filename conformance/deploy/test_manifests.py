"""Everything that is applied with `kubectl apply -k` is taken by a kube-apiserver, without a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.deploy.ground import DEPLOY, NAMESPACE, Ground
from conformance.kubernetes.objects import Object

FOLDERS = sorted(file.parent for file in DEPLOY.rglob("kustomization.yaml"))
REPLACE = DEPLOY / "overlays" / "replace"
CRDS = Path(__file__).with_name("crds.yaml")
STRICTLY = ("--dry-run=server", "--validate=strict", "--warnings-as-errors")
PART = ("--server-side", "--force-conflicts", "--field-manager=pydns-swap")
"""For what is a part of something that is there already."""

COREDNS: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "coredns", "namespace": NAMESPACE, "labels": {"k8s-app": "kube-dns"}},
    "spec": {
        "selector": {"matchLabels": {"k8s-app": "kube-dns"}},
        "template": {
            "metadata": {"labels": {"k8s-app": "kube-dns"}},
            "spec": {
                "containers": [{"name": "coredns", "image": "coredns", "args": ["-conf", "/etc/coredns/Corefile"]}]
            },
        },
    },
}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(DEPLOY)))
async def test_the_api_takes_it(bare_ground: Ground, folder: Path) -> None:
    await bare_ground.kubectl.run("apply", "-f", str(CRDS))
    await bare_ground.kubectl.run("wait", "--for=condition=Established", "--timeout=20s", "-f", str(CRDS))
    await bare_ground.apply([COREDNS])
    said = await bare_ground.kubectl.run("apply", *STRICTLY, *(PART if folder == REPLACE else ()), "-k", str(folder))
    objects = await bare_ground.objects(folder)
    assert len(said.splitlines()) == len(objects) > 0
    assert all(line.endswith("(server dry run)") for line in said.splitlines())


async def test_replacing_changes_the_image_alone(bare_ground: Ground) -> None:
    await bare_ground.apply([COREDNS])
    name = ("deployment", "coredns", "-n", NAMESPACE)
    before = await bare_ground.kubectl.read(*name)
    await bare_ground.kubectl.run("apply", *PART, "-k", str(REPLACE))
    after = await bare_ground.kubectl.read(*name)
    [container] = before["spec"]["template"]["spec"]["containers"]
    container["image"] = "pydns:dev"
    assert after["spec"] == before["spec"]
    await bare_ground.kubectl.run("delete", *name)

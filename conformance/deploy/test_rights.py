"""The rights in `deploy/base` are what pydns needs, each of them, and nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.deploy.ground import DEPLOY, NAMESPACE, Ground, Pod, serving, until
from conformance.kubernetes.objects import Object
from conformance.wire.client import ask
from conformance.wire.message import read_reply
from conformance.wire.question import parse_question

ACCOUNT = "pydns"
RESOURCES = {"namespaces": "", "services": "", "pods": "", "endpointslices": "discovery.k8s.io"}
"""What is watched, with its API group."""

COREFILE = """cluster.local:{dns} {
    kubernetes {
        pods verified
        startup_timeout 1s
    }
    ready 127.0.0.1:{ready}
    prometheus 127.0.0.1:{metrics}
}
"""
OBJECTS: list[Object] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"clusterIP": "None", "ports": [{"port": 80}]},
    },
    {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "web-1", "namespace": "shop", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.244.1.7"], "conditions": {"ready": True}}],
        "ports": [{"port": 80}],
    },
]
POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web-0", "namespace": "shop"},
    "spec": {"containers": [{"name": "web", "image": "web"}]},
    "status": {"phase": "Running", "podIP": "10.244.1.7", "podIPs": [{"ip": "10.244.1.7"}]},
}
RIGHT = {"web.shop.svc.cluster.local.": "10.244.1.7", "10-244-1-7.shop.pod.cluster.local.": "10.244.1.7"}
"""Names that need all four resources, and their addresses."""


async def addresses(pod: Pod) -> dict[str, str]:
    """The first address of each name of `RIGHT`, or the rcode."""
    found = {}
    for name in RIGHT:
        reply = read_reply(await ask(parse_question(f"{name} A", "."), pod.running.port))
        found[name] = str(reply.answer[0].rdata) if reply.answer else reply.rcode
    return found


async def with_objects(ground: Ground) -> None:
    await ground.apply(OBJECTS)
    ground.cluster.client.apply(POD)


def role_without(objects: list[Object], name: str, resource: str, verb: str) -> Iterator[Object]:
    """Account, role and binding of the base under another name, with one right less."""
    kinds = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding")
    for item in copy.deepcopy([found for found in objects if found["kind"] in kinds]):
        item["metadata"]["name"] = name
        if item["kind"] == "ClusterRole":
            item["rules"] = [rule for one in item["rules"] for rule in rules_without(one, resource, verb)]
        if item["kind"] == "ClusterRoleBinding":
            item["roleRef"]["name"] = item["subjects"][0]["name"] = name
        yield item


def rules_without(rule: Object, resource: str, verb: str) -> list[Object]:
    """A rule in parts, one of which lacks a verb."""
    if resource not in rule["resources"]:
        return [rule]
    others = [other for other in rule["resources"] if other != resource]
    left = [other for other in rule["verbs"] if other != verb]
    return [{**rule, "resources": others}] * bool(others) + [{**rule, "resources": [resource], "verbs": left}]


async def may(ground: Ground, account: str, verb: str, resource: str) -> bool:
    """Whether the API lets the account do so in all namespaces."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{NAMESPACE}:{account}",
            "resourceAttributes": {"verb": verb, "resource": resource, "group": RESOURCES[resource]},
        },
    }
    text = await ground.kubectl.run("create", "-o", "json", "-f", "-", given=json.dumps(review))
    return bool(json.loads(text)["status"]["allowed"])


def is_refusal(line: str) -> bool:
    return "not allowed to" in line


def count_of_403(metrics: str) -> float:
    lines = [line for line in metrics.splitlines() if line.startswith("coredns_kubernetes_rest_client_requests_total{")]
    return sum(float(line.split()[-1]) for line in lines if 'code="403"' in line)


async def test_the_account_may_do_nothing_else(ground: Ground) -> None:
    async def listed(account: str) -> set[str]:
        user = f"--as=system:serviceaccount:{NAMESPACE}:{account}"
        return set((await ground.kubectl.run("auth", "can-i", "--list", user)).splitlines())

    more = await listed(ACCOUNT) - await listed("another")
    assert sorted(" ".join(line.split()) for line in more) == sorted(
        f"{name}.{group}".rstrip(".") + " [] [] [list watch]" for name, group in RESOURCES.items()
    )


async def test_with_all_rights_it_answers(each_ground: Ground, tmp_path: Path) -> None:
    await with_objects(each_ground)
    patient = COREFILE.replace("startup_timeout 1s", "startup_timeout 15s")
    async with serving(each_ground, ACCOUNT, patient, tmp_path) as pod:
        assert await pod.ready() == (200, "OK")
        assert await addresses(pod) == RIGHT
        assert count_of_403(await pod.metrics()) == 0
        assert not [line for line in pod.log() if line.startswith(("[WARNING]", "[ERROR]"))]


@pytest.mark.parametrize("verb", ["list", "watch"])
@pytest.mark.parametrize("resource", RESOURCES)
async def test_each_right_that_is_missing(each_ground: Ground, resource: str, verb: str, tmp_path: Path) -> None:
    account = f"without-{verb}-{resource}"
    await each_ground.apply([*role_without(await each_ground.objects(DEPLOY / "base"), account, resource, verb)])
    rights = [(known, what) for what in RESOURCES for known in ("list", "watch") if (known, what) != (verb, resource)]
    for known, what in rights:
        assert await until(lambda known=known, what=what: may(each_ground, account, known, what))  # type: ignore[misc]
    assert not await may(each_ground, account, verb, resource)
    async with serving(each_ground, account, COREFILE, tmp_path) as pod:
        if verb == "list" and each_ground.streams:
            assert await until(lambda: is_ready(pod))  # a streaming list is a watch: nothing else was asked for
            assert not [*filter(is_refusal, pod.log())]
            return
        await shows(pod, resource, verb, account)


async def shows(pod: Pod, resource: str, verb: str, account: str) -> None:
    """`/ready` names the plugin, and one line the right, however often it was refused."""

    async def refused_often() -> bool:
        return count_of_403(await pod.metrics()) >= 3

    assert await until(refused_often)
    assert await pod.ready() == (503, "kubernetes")
    [line] = filter(is_refusal, pod.log())
    group = RESOURCES[resource]
    rule = f'{{apiGroups: ["{group}"], resources: ["{resource}"], verbs: ["list", "watch"]}}'
    assert line.startswith(f"[ERROR] plugin/kubernetes: not allowed to {verb} {resource}, the ClusterRole needs {rule}")
    assert f'"system:serviceaccount:{NAMESPACE}:{account}" cannot {verb} resource "{resource}"' in line


async def test_a_right_that_comes_later_is_used(ground: Ground, tmp_path: Path) -> None:
    await with_objects(ground)
    objects, account = await ground.objects(DEPLOY / "base"), "late"
    await ground.apply([*role_without(objects, account, "pods", "watch")])
    assert await until(lambda: may(ground, account, "watch", "services"))
    async with serving(ground, account, COREFILE, tmp_path) as pod:
        await shows(pod, "pods", "watch", account)
        assert 'coredns_kubernetes_synced{zone="cluster.local."} 0.0' in await pod.metrics()
        await ground.apply([*role_without(objects, account, "", "")])
        assert await until(lambda: is_ready(pod))
        assert 'coredns_kubernetes_synced{zone="cluster.local."} 1.0' in await pod.metrics()
        assert await addresses(pod) == RIGHT
        assert [*filter(is_refusal, pod.log())] and "the Kubernetes API is back" in pod.log()[-1]


async def is_ready(pod: Pod) -> bool:
    return await pod.ready() == (200, "OK")

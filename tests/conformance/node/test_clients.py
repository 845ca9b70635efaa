"""The Pods that look names up: their manifests, and what kubelet must have written for each dnsPolicy."""

from __future__ import annotations

import pytest

from conformance.node.clients import Client, clients

CLUSTER = "search clients.svc.cluster.local svc.cluster.local cluster.local corp.example\nnameserver 10.96.0.10\n"

FILES = {
    "cluster-first": f"{CLUSTER}options ndots:5\n",
    "with-host-net": f"{CLUSTER}options ndots:5\n",
    "default": "search corp.example\nnameserver 172.30.0.53\noptions ndots:1\n",
    "none": "search shop.svc.cluster.local\nnameserver 10.96.0.10\noptions %s\n",
}
"""As Kubernetes documents dnsPolicy, with a node whose own file has corp.example and 172.30.0.53."""


def all_clients() -> dict[str, Client]:
    return {client.name: client for client in clients(["10.244.0.5", "10.244.0.6"])}


@pytest.mark.parametrize("name", ["cluster-first", "with-host-net", "default"])
def test_resolv_conf_of_each_policy(name: str) -> None:
    assert all_clients()[name].wrong_in(FILES[name]) == ""


def test_resolv_conf_of_none_is_its_dns_config_in_any_order_of_options() -> None:
    client = all_clients()["none"]
    assert client.pod.config is not None
    options = [f"{name}:{value}" if value else name for name, value in client.pod.config.options]
    assert client.wrong_in(FILES["none"] % " ".join(options)) == ""
    assert client.wrong_in(FILES["none"] % " ".join(reversed(options))) == ""
    assert "ndots" in client.wrong_in(FILES["none"] % "edns0")


@pytest.mark.parametrize("right, wrong", [("10.96.0.10", "10.96.0.11"), ("search clients.", "search shop.")])
def test_another_server_or_domain_is_told(right: str, wrong: str) -> None:
    assert wrong.rpartition(" ")[2] in all_clients()["cluster-first"].wrong_in(
        FILES["cluster-first"].replace(right, wrong)
    )


@pytest.mark.parametrize(
    ("name", "other"), [("cluster-first", "default"), ("default", "cluster-first"), ("none", "default")]
)
def test_another_policys_file_is_told(name: str, other: str) -> None:
    wrong = all_clients()[name].wrong_in(FILES[other])
    assert "172.30.0.53" in wrong


def test_manifests_have_every_policy_and_both_libraries() -> None:
    manifests = [client.manifest() for client in all_clients().values()]
    assert [each["spec"]["dnsPolicy"] for each in manifests] == [
        "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"
    ]  # fmt: skip
    assert [each["spec"]["hostNetwork"] for each in manifests] == [False, True, False, False]
    for each in manifests:
        assert [container["name"] for container in each["spec"]["containers"]] == ["glibc", "musl"]
        assert {container["imagePullPolicy"] for container in each["spec"]["containers"]} == {"Never"}
    assert [("dnsConfig" in each["spec"]) for each in manifests] == [False, False, False, True]

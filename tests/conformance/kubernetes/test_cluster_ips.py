"""ClusterIPs that the fake API gives."""

from typing import Any

import pytest

from conformance.kubernetes.fake_api import FakeApi


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def addresses(api: FakeApi, name: str) -> list[str] | None:
    given: list[str] | None = api.objects["Service", "shop", name]["spec"].get("clusterIPs")
    return given


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({}, ["10.96.128.1"]),
        ({"ipFamilies": ["IPv6"]}, ["fd00:10:96::8001"]),
        ({"ipFamilyPolicy": "PreferDualStack"}, ["10.96.128.1", "fd00:10:96::8001"]),
        ({"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv6"]}, ["fd00:10:96::8001", "10.96.128.1"]),
        ({"clusterIP": "10.96.1.1", "clusterIPs": ["10.96.1.1"]}, ["10.96.1.1"]),
        ({"clusterIP": "None"}, None),
        ({"type": "ExternalName", "externalName": "example.com"}, None),
    ],
)
def test_a_service_gets_what_it_asks_for(spec: dict[str, Any], wanted: list[str] | None) -> None:
    api = FakeApi()
    api.apply([service("web", **spec)])
    assert addresses(api, "web") == wanted


def test_no_address_is_given_twice_and_each_stays() -> None:
    api = FakeApi()
    api.apply([service("one"), service("two"), service("one", ports=[{"port": 80}])])
    assert (addresses(api, "one"), addresses(api, "two")) == (["10.96.128.1"], ["10.96.128.2"])


def test_objects_served_as_they_are_get_none() -> None:
    api = FakeApi(defaults=False)
    api.apply([service("web")])
    assert addresses(api, "web") is None

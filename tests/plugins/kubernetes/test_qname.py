"""Names taken apart, level by level; expectations from CoreDNS's parse.go as the behaviour reference tells it."""

import pytest

from pydns.plugins.kubernetes.qname import NODE, Name, parse

Z = "cluster.local."


@pytest.mark.parametrize(
    "base, name",
    [
        ("", NODE),
        ("svc.", NODE),
        ("pod.", NODE),
        ("shop.svc.", Name("svc", "shop")),
        ("shop.pod.", Name("pod", "shop")),
        ("web.shop.svc.", Name("svc", "shop", "web")),
        ("1-2-3-4.shop.pod.", Name("pod", "shop", "1-2-3-4")),
        ("a.web.shop.svc.", Name("svc", "shop", "web", "a")),
        ("_tcp.web.shop.svc.", Name("svc", "shop", "web", "_tcp")),
        ("_http._tcp.web.shop.svc.", Name("svc", "shop", "web", "", "http", "tcp")),
        ("http.tcp.web.shop.svc.", Name("svc", "shop", "web", "", "http", "tcp")),
        ("__http.__tcp.web.shop.svc.", Name("svc", "shop", "web", "", "_http", "_tcp")),
        ("_._.web.shop.svc.", Name("svc", "shop", "web")),
        ("a\\.b.web.shop.svc.", Name("svc", "shop", "web", "a\\.b")),
        ("svc.svc.svc.", Name("svc", "svc", "svc")),
        ("x.", None),
        ("web.shop.x.", None),
        ("dns.", None),
        ("a.b.c.web.shop.svc.", None),
        ("z.pin._zone.web.shop.svc.", None),
    ],
)
@pytest.mark.parametrize("zone", [Z, "."])
def test_labels_by_their_place(base: str, name: Name | None, zone: str) -> None:
    whole = base + zone if zone != "." else base or "."
    assert parse(whole, zone) == name


@pytest.mark.parametrize(
    "base, name",
    [
        ("z.pin._zone.hl.shop.svc.", Name("svc", "shop", "hl", zone="z")),
        ("eu.1.prefer._zone.hl.shop.svc.", Name("svc", "shop", "hl", zone="eu.1", prefer=True)),
        ("pin._zone.hl.shop.svc.", Name("svc", "shop", "hl", "", "pin", "zone")),
        ("z.other._zone.hl.shop.svc.", None),
        ("z.pin._zone.hl.shop.pod.", None),
        ("z.pin.zone.hl.shop.svc.", None),
    ],
)
def test_topology_zones_where_they_are_served(base: str, name: Name | None) -> None:
    assert parse(base + Z, Z, zonal=True) == name

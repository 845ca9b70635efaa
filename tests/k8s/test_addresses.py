"""Addresses of the embedded cluster."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.k8s.addresses import IPV4, IPV6, Pool, Pools, family_of, suffix

OWNERS = [f"Pod/shop/web-{number}" for number in range(300)]


@pytest.mark.parametrize("network", ["10.244.0.0/16", "fd00:10:244::/64"])
def test_addresses_lie_in_the_network_outside_its_static_band(network: str) -> None:
    pool, inside = Pool(network, []), ip_network(network)
    for owner in OWNERS:
        address = ip_address(pool.address(owner))
        assert address in inside
        assert int(address) - int(inside.network_address) >= 256
        assert address != inside.broadcast_address


def test_no_address_is_given_twice_nor_one_that_is_taken() -> None:
    alone = Pool("10.96.0.0/22", []).address(OWNERS[0])
    pool = Pool("10.96.0.0/22", [alone])
    addresses = [pool.address(owner) for owner in OWNERS]
    assert len(set(addresses)) == len(OWNERS)
    assert alone not in addresses


@given(st.integers(0, len(OWNERS)))
def test_an_address_depends_on_its_owner_alone(at: int) -> None:
    with_all, without = Pool("10.96.0.0/12", []), Pool("10.96.0.0/12", [])
    everything = {owner: with_all.address(owner) for owner in OWNERS}
    others = {owner: without.address(owner) for owner in OWNERS[:at] + OWNERS[at + 1 :]}
    assert others.items() <= everything.items()


def test_a_pool_for_each_family() -> None:
    pools = Pools("10.96.0.0/12", "fd00:10:96::/112", taken=[])
    assert [family_of(pools.address(family, "Service/shop/web")) for family in (IPV4, IPV6)] == [IPV4, IPV6]


@pytest.mark.parametrize(("address", "family"), [("10.0.0.1", IPV4), ("fd00::1", IPV6), ("::ffff:10.0.0.1", IPV6)])
def test_family(address: str, family: str) -> None:
    assert family_of(address) == family


def test_no_address_has_no_family() -> None:
    with pytest.raises(ValueError):
        family_of("10.0.0.256")


def test_generated_names_are_written_as_kubernetes_writes_them() -> None:
    assert suffix("a", 5) == suffix("a", 5) != suffix("b", 5)
    assert len(suffix("a", 10)) == 10
    assert set(suffix("a", 20)) <= set("bcdfghjklmnpqrstvwxz2456789")

"""How servers are configured."""

from __future__ import annotations

from conformance.bench.contestants import CACHED, CLUSTER


def test_the_cluster_s_names_are_in_the_cache_plugin_in_one_of_two_corefiles() -> None:
    without = [line for line in CLUSTER.splitlines() if "disable" not in line]
    assert len(CLUSTER.splitlines()) - len(without) == 2
    assert CACHED.splitlines() == [
        line.removesuffix(" {{") if line.strip().startswith("cache") else line
        for number, line in enumerate(without)
        if not without[number - 1].strip().startswith("cache")  # the brace behind
    ]

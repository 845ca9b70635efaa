"""The init container of the cache on each node gives the node its address, in a network namespace of its own here."""

from __future__ import annotations

import json
import subprocess
import sys

from conformance.deploy.ground import DEPLOY

PROGRAM = DEPLOY / "overlays" / "nodelocal" / "address.py"
ADDRESS = "169.254.20.10"
TWICE = f'ip link set lo up && "$0" -I {PROGRAM} {ADDRESS} && "$0" -I {PROGRAM} {ADDRESS} && ip -json address show lo'


def test_the_address_is_the_loopback_interfaces_and_again_makes_no_difference() -> None:
    words = ["unshare", "--net", "sh", "-ec", TWICE, sys.executable]
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=20).stdout
    [interface] = json.loads(said)
    found = [one for one in interface["addr_info"] if one["family"] == "inet"]
    assert [(one["local"], one["prefixlen"]) for one in found] == [("127.0.0.1", 8), (ADDRESS, 32)]
    assert found[1]["label"] == "lo:pydns"

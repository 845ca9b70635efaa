"""What a server that runs already is given for real resolvers: objects to apply, and the zones outside, served."""

from __future__ import annotations

import argparse
import socket

import pytest
import yaml

from conformance.clients.setup import address, main, world_outside
from conformance.servers.upstream import serve
from conformance.wire.client import ask
from conformance.wire.message import read_reply
from conformance.wire.question import parse_question


def test_the_objects_are_yaml_without_those_every_cluster_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["objects"]) == 0
    objects = list(yaml.safe_load_all(capsys.readouterr().out))
    names = [(each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]) for each in objects]
    assert {("Namespace", "", "shop"), ("Namespace", "", "stock"), ("Service", "shop", "web")} <= set(names)
    assert [name for name in names if "default" in name] == []
    (headless,) = [each for each in objects if each["metadata"]["name"] == "peers"]
    assert headless["spec"]["clusterIP"] == "None"


@pytest.mark.parametrize(
    ("question", "rcode", "data"),
    [
        ("a.ok.test. A", "NOERROR", ["192.0.2.1"]),
        ("a.ok.test. AAAA +tcp", "NOERROR", ["2001:db8::1"]),
        ("a.truncated.test. A", "NOERROR", []),
        ("a.truncated.test. A +tcp", "NOERROR", ["192.0.2.2"]),
        ("a.servfail.test. A", "SERVFAIL", []),
        ("a.refused.test. A", "REFUSED", []),
        ("web.shop. A", "NXDOMAIN", []),
    ],
)
async def test_the_zones_are_served(question: str, rcode: str, data: list[str]) -> None:
    async with serve(world_outside()) as port:
        reply = read_reply(await ask(parse_question(question, "."), port))
    assert (reply.rcode, [record.rdata for record in reply.answer]) == (rcode, data)


def test_an_address_in_use_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert main(["zones", f"127.0.0.1:{port}"]) == 2
    assert capsys.readouterr().err == f"127.0.0.1 port {port}: Address already in use\n"


@pytest.mark.parametrize("text", ["5300", "192.0.2.7", "192.0.2.7:", "192.0.2.7:0", "192.0.2.7:65536", ":53"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is no ADDRESS:PORT"):
        address(text)


@pytest.mark.parametrize(("text", "host"), [("192.0.2.7:5300", "192.0.2.7"), ("[::1]:5300", "::1")])
def test_an_address(text: str, host: str) -> None:
    assert address(text) == (host, 5300)

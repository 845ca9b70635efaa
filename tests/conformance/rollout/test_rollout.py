"""Rules of the Service, resolv.conf files and Corefile of a rollout, and the judgement of what its clients found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from conformance.clients.setup import world_outside
from conformance.rollout.__main__ import arguments, judged, main
from conformance.rollout.clients import CLIENTS, WHOLE, Client
from conformance.rollout.network import rules
from conformance.rollout.plain import look_up
from conformance.rollout.report import terminal
from conformance.rollout.script import COREFILE, GROUPS, PHASES, Run, corefile, is_false
from conformance.servers.ports import free_port
from conformance.servers.upstream import serve
from conformance.tally import Count, LookUp, Phase


def test_each_endpoint_takes_an_equal_share_of_new_flows() -> None:
    lines = rules(["10.96.0.10"], ["10.244.1.11", "10.244.1.12", "10.244.1.13"]).splitlines()
    assert [line for line in lines if "udp -j DNAT" in line] == [
        "-A DNS -m statistic --mode random --probability 0.3333333333 -p udp -j DNAT --to-destination 10.244.1.11:53",
        "-A DNS -m statistic --mode random --probability 0.5000000000 -p udp -j DNAT --to-destination 10.244.1.12:53",
        "-A DNS -p udp -j DNAT --to-destination 10.244.1.13:53",
    ]
    assert "-A PREROUTING -d 10.96.0.10/32 -p tcp --dport 53 -j DNS" in lines
    assert not any("REJECT" in line for line in lines)


def test_a_service_without_endpoints_refuses() -> None:
    lines = rules(["10.96.0.10"], []).splitlines()
    assert "-A FORWARD -d 10.96.0.10/32 -p udp --dport 53 -j REJECT" in lines
    assert not any("DNAT" in line for line in lines)


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (Client("", "steady-musl"), "nameserver 10.96.0.10\n{search}options ndots:5\n"),
        (
            Client("", "steady-glibc", ("10.96.0.11",), ("rotate", "ndots:1")),
            "nameserver 10.96.0.10\nnameserver 10.96.0.11\n{search}options ndots:1 rotate\n",
        ),
    ],
)
def test_clients_have_the_files_of_kubelet(client: Client, expected: str) -> None:
    search = "search shop.svc.cluster.local svc.cluster.local cluster.local\n"
    assert client.resolv_conf() == expected.format(search=search)


def test_plain_clients_ask_for_whole_names_alone() -> None:
    plain = [client for client in CLIENTS if client.program == "plain"]
    assert [client.words()[3] for client in plain] == ["udp", "tcp"]
    assert all(name.endswith(".") for client in plain for name in client.answers)


def test_the_corefile_is_that_of_the_base_with_other_addresses() -> None:
    before = COREFILE.read_text().splitlines()
    after = corefile(COREFILE.read_text(), "http://10.244.1.1:1", "10.244.1.1:2").splitlines()
    assert [line for line in after if line not in before] == [
        "        endpoint http://10.244.1.1:1",
        "    forward . 10.244.1.1:2 {",
    ]
    assert any("lameduck" in line for line in after)
    with pytest.raises(ValueError, match="has not one line"):
        corefile(".:53 {\n    whoami\n}\n", "", "")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """A server of the zones outside."""
    async with serve(world_outside()) as port:
        yield port


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("mark.ok.test.", ",".join(WHOLE["mark.ok.test."])),
        ("nosuch.shop.svc.cluster.local.", "EAI_NONAME"),
        ("a.nodata.test.", "EAI_NONAME"),
        ("a.servfail.test.", "EAI_AGAIN"),
    ],
)
async def test_plain_questions(port: int, transport: str, name: str, result: str) -> None:
    assert await look_up(transport, "127.0.0.1", name, free_port(), port) == result


async def test_a_plain_question_that_is_refused_is_lost() -> None:
    assert await look_up("udp", "127.0.0.1", "web.", free_port(), free_port()) == "EAI_AGAIN"


@pytest.mark.parametrize(
    ("name", "result", "false"),
    [
        ("web", "10.96.3.1", False),
        ("web", "10.96.3.2", True),
        ("web", "EAI_NONAME", False),
        ("dual.shop.svc", "10.96.3.2", False),
        ("nosuch", "10.96.3.1", True),
        ("nosuch", "EAI_NONAME", False),
    ],
)
def test_an_address_that_is_not_there_is_false_a_part_is_not(name: str, result: str, false: bool) -> None:
    assert is_false(LookUp("glibc", 0, 0.0, 0.0, name, result)) is false


def _run(subject: str, *counts: Count) -> Run:
    """A run whose C libraries found this, phase by phase, and whose plain questions were all answered."""
    phases = [Phase(f"{name}, {subject}", subject, 0, 1, name.startswith("kill")) for name in PHASES]
    libraries, plain = GROUPS
    return Run(subject, phases, {libraries: list(counts), plain: [Count(right=1)] * len(PHASES)})


GOOD = Count(right=100)


@pytest.mark.parametrize(
    ("coredns", "pydns", "faults"),
    [
        ((GOOD, GOOD, Count(right=50, lost=9)), (GOOD, GOOD, Count(right=50, lost=9)), []),
        ((GOOD, GOOD, Count(right=50, lost=9)), (GOOD, GOOD, Count(right=50, lost=8, wrong=1)), []),
        (
            (GOOD, GOOD, Count(right=50, lost=9)),
            (GOOD, GOOD, Count(right=50, lost=60, wrong=40)),
            ["pydns lost 100 look-ups when replicas were killed, CoreDNS 9 (look-ups by C libraries)"],
        ),
        (
            (GOOD, GOOD, GOOD),
            (GOOD, Count(right=99, lost=1), GOOD),
            ["rolling restart, pydns: 1 look-ups lost (look-ups by C libraries)"],
        ),
        (
            (GOOD, GOOD, GOOD),
            (Count(right=99, wrong=2), GOOD, GOOD),
            ["nothing happens, pydns: 2 wrong answers (look-ups by C libraries)"],
        ),
    ],
)
def test_what_is_required(coredns: tuple[Count, ...], pydns: tuple[Count, ...], faults: list[str]) -> None:
    runs = [_run("CoreDNS", *coredns), _run("pydns", *pydns)]
    assert judged(runs) == faults
    said = terminal(runs, faults)
    assert [line for line in said.splitlines() if line.startswith("FAIL")] == [f"FAIL  {fault}" for fault in faults]
    assert ("passed" in said) is not bool(faults)


def test_the_table_has_one_server_beside_the_other() -> None:
    table = terminal([_run("CoreDNS", GOOD, GOOD, GOOD), _run("pydns", GOOD, Count(right=7), GOOD)], []).splitlines()
    assert [word for word in table[0].split() if word.endswith(":")] == ["CoreDNS:", "pydns:"]
    cells = [["100", "0", "0", "0", "0.00", "s"], ["7", "0", "0", "0", "0.00", "s"]]
    assert table[4].split() == ["rolling", "restart", *cells[0], *cells[1]]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--subject", "bind"], "not 'bind'"),
        (["--unknown"], "unrecognized arguments"),
    ],
)
def test_wrong_use_is_one_error(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_a_program_is_found_from_anywhere() -> None:
    assert arguments().parse_args(["--subject", "./dns"]).subject == str(Path("dns").absolute())
    assert arguments().parse_args([]).subject == "pydns"


@pytest.mark.parametrize("file", ["nosuch/counts.json", "."])
def test_a_file_that_could_not_be_written_is_told_before_the_run(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--json", file])
    assert "is no file in a folder that exists" in capsys.readouterr().err

"""The programs: what their output means, how they are found, and that each finds a name in a sandbox."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.clients import output, recipes
from conformance.clients.lab import Pod
from conformance.clients.model import Lookup, Want
from conformance.clients.recipes import PROGRAMS, Recipe
from conformance.clients.sandbox import open_sandbox
from conformance.clients.tap import Recording, Tap
from conformance.clients.toolbox import RESOLVERS, Resolver
from conformance.servers import upstream
from conformance.servers.script import Script, parse_script
from conformance.setting import Skipped
from conformance.tools.build import cache_folder
from conformance.wire.blocks import split_blocks

ZIG = "musl-1.2.5"
"""The one whose compiler is a large download."""

EMPTY = "Non-authoritative answer:\n\n"
NSLOOKUP = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\n"
DIG = ";; ->>HEADER<<- opcode: QUERY, status: {}, id: 1\n\n;; QUESTION SECTION:\n;a. IN A\n\n"


@pytest.mark.parametrize(
    ("read", "text", "want", "word"),
    [
        (output.read_json, '{"found": ["2001:db8:0:0:0:0:0:1", "192.0.2.1"]}', Want.BOTH, "192.0.2.1 2001:db8::1"),
        (output.read_json, '{"found": ["b.test", "a.test."]}', Want.SRV, "a.test. b.test."),
        (output.read_json, '{"found": []}', Want.A, "failed"),
        (output.read_json, '{"error": "EAI_NONAME"}', Want.A, "not-found"),
        (output.read_json, '{"error": "EAI_NODATA"}', Want.A, "no-data"),
        (output.read_json, '{"error": "EAI_AGAIN"}', Want.A, "try-again"),
        (output.read_json, '{"error": "EAI_SYSTEM"}', Want.A, "failed"),
        (output.read_json, '{"error": "NO_RECOVERY"}', Want.SRV, "failed"),
        (output.read_json, '{"error": "Temporary failure in name resolution"}', Want.A, "try-again"),
        (output.read_json, '{"error": "ARES_EREFUSED"}', Want.A, "refused"),
        (output.read_json, '{"error": "NoNameservers"}', Want.A, "failed"),
        (output.read_go, '{"error":"not found: no such host"}', Want.A, "not-found"),
        (output.read_go, '{"error":"timeout: i/o timeout"}', Want.A, "try-again"),
        (output.read_go, '{"error":"cannot unmarshal DNS message"}', Want.A, "refused"),
        (output.read_dig, DIG.format("NOERROR") + "a.\t60\tIN\tA\t192.0.2.1\n", Want.A, "192.0.2.1"),
        (
            output.read_dig,
            DIG.format("NOERROR") + "a. 60 IN CNAME b.\nb. 60 IN SRV 0 1 80 c.\n",
            Want.SRV,
            "c.",
        ),
        (output.read_dig, DIG.format("NOERROR"), Want.A, "no-data"),
        (output.read_dig, DIG.format("NXDOMAIN"), Want.A, "not-found"),
        (output.read_dig, DIG.format("REFUSED"), Want.A, "refused"),
        (output.read_dig, ";; no servers could be reached\n", Want.A, "try-again"),
        (
            output.read_host,
            "a has address 192.0.2.1\na has IPv6 address 2001:db8::1\n",
            Want.BOTH,
            "192.0.2.1 2001:db8::1",
        ),
        (output.read_host, "s has SRV record 0 1 80 a.test.\n", Want.SRV, "a.test."),
        (output.read_host, "a has no A record\n", Want.A, "no-data"),
        (output.read_host, "", Want.BOTH, "no-data"),
        (output.read_host, "Host a not found: 3(NXDOMAIN)\n", Want.A, "not-found"),
        (output.read_host, "Host a not found: 2(SERVFAIL)\n", Want.A, "try-again"),
        (output.read_host, ";; connection timed out; no servers could be reached\n", Want.A, "try-again"),
        (output.read_nslookup, f"{NSLOOKUP}Name:\ta\nAddress: 192.0.2.1\n\n", Want.A, "192.0.2.1"),
        (output.read_nslookup, f"{NSLOOKUP}s\tservice = 0 1 80 a.test.\n\n", Want.SRV, "a.test."),
        (output.read_nslookup, f"{NSLOOKUP}*** Can't find a: No answer\n\n", Want.A, "no-data"),
        (output.read_nslookup, f"{NSLOOKUP}** server can't find a: NXDOMAIN\n\n", Want.A, "not-found"),
        (output.read_nslookup, f"{NSLOOKUP}** server can't find a: REFUSED\n\n", Want.A, "refused"),
        (
            output.read_busybox,
            f"{NSLOOKUP}** server can't find s.x: NXDOMAIN\n\nNon-authoritative answer:\ns\tservice = 0 1 80 a\n\n",
            Want.SRV,
            "a.",
        ),
        (output.read_busybox, f"{NSLOOKUP}** server can't find a: SERVFAIL\n\n", Want.A, "try-again"),
        (output.read_busybox, f"{NSLOOKUP}** server can't find a: NXDOMAIN\n\n{EMPTY}", Want.A, "not-found"),
        (output.read_busybox, NSLOOKUP + EMPTY, Want.A, "no-data"),
        (
            output.read_busybox,
            f"{NSLOOKUP}** server can't find a.x: REFUSED\n\n** server can't find a: NXDOMAIN\n\n",
            Want.A,
            "refused",
        ),
    ],
)
def test_what_output_means(read: output.Reader, text: str, want: Want, word: str) -> None:
    assert read(text, want) == word


@pytest.mark.parametrize("name", RESOLVERS)
def test_a_missing_program_is_named(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/nosuch")
    monkeypatch.setenv("PYDNS_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setattr(recipes, "_install_zig", _no_network)
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    if name == "python":
        assert Path(RESOLVERS[name].find()).exists()
        return
    with pytest.raises(Skipped, match=r"there is no \w+|is not installed|no network"):
        RESOLVERS[name].find()


def _no_network(folder: Path) -> None:
    raise Skipped("no network")


def test_another_libc_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    with pytest.raises(Skipped, match="not glibc"):
        RESOLVERS["python"].find()


def test_another_musl_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipes, "musl_version", lambda: "1.2.5")
    with pytest.raises(Skipped, match=r"the musl of musl-gcc here is 1\.2\.5, not 1\.2\.3"):
        recipes.build("musl-1.2.3")


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A recipe whose compiler counts in a file; gives the file."""
    count = tmp_path / "count"
    script = f'echo x >> {count}; cp "$0" "$1"'
    recipe = Recipe("lookup.c", ("echo", "1"), lambda source, to: ["sh", "-c", script, str(source), str(to)])
    monkeypatch.setitem(recipes.RECIPES, "counting", recipe)
    monkeypatch.setenv("PYDNS_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return count


def test_a_program_is_built_once_and_found_again(counting: Path) -> None:
    paths = {recipes.build("counting") for _ in range(3)}
    assert ([path.read_bytes() for path in paths], counting.read_text()) == (
        [(PROGRAMS / "lookup.c").read_bytes()],
        "x\n",
    )
    assert os.listdir(paths.pop().parent) == [recipes.build("counting").name]


def test_a_build_that_fails_leaves_nothing_and_says_why(counting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Recipe("lookup.c", ("echo", "1"), lambda source, to: ["sh", "-c", "echo no such header >&2; exit 1"])
    monkeypatch.setitem(recipes.RECIPES, "counting", failing)
    with pytest.raises(Skipped, match=r"^sh fails: no such header$"):
        recipes.build("counting")
    assert os.listdir(cache_folder()) == []


def test_help_names_the_programs_and_builds_none(counting: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        recipes.main(["--help"])
    assert "glibc, musl-1.2.3, musl-1.2.5, go, java" in capsys.readouterr().out
    assert not counting.exists()


def test_named_programs_alone_are_built(counting: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recipes.main(["counting"]) == 0
    assert capsys.readouterr().out == f"counting: {recipes.location('counting')}\n"


def test_an_unknown_program_is_wrong_use(counting: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        recipes.main(["counting", "rust"])
    assert "there is no rust; there are glibc, " in capsys.readouterr().err
    assert not counting.exists()


@pytest.mark.parametrize("resolver", RESOLVERS.values(), ids=list(RESOLVERS))
async def test_each_finds_a_name_in_a_sandbox(resolver: Resolver) -> None:
    """The question that is asked first, and what the program makes of the reply."""
    (block,) = split_blocks("programs", ["upstream", "    web.x.test. 60 A 192.0.2.7", "    ? * AAAA => NODATA"])
    try:
        if resolver.name == ZIG and not recipes.location(ZIG).exists():
            pytest.skip("not built: python -m conformance.clients.recipes")
        program = resolver.find()
        async with (
            upstream.serve(upstream.Upstream(Script(parse_script(block)))) as port,
            open_sandbox() as sandbox,
            Tap(sandbox.sockets) as tap,
        ):
            name = "web.x.test." if resolver.name == "node-resolve" else "web"
            recording = Recording(("127.0.0.1", port))
            argv = resolver.command(program, Lookup(name, Want.A))
            conf = "nameserver 10.96.0.10\nsearch x.test\noptions ndots:5\n"
            ran = await Pod(sandbox, tap).run(argv, conf, recording, 20)
    except Skipped as reason:
        pytest.skip(str(reason))
    assert (resolver.read(ran.output, Want.A), recording.asked[0].name) == ("192.0.2.7", "web.x.test.")

"""The report on a Corefile."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from pydns.tools.check import check, check_all


@pytest.fixture(autouse=True)
def in_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def report(text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    Path("Corefile").write_text(text)
    status = check("Corefile")
    return status, capsys.readouterr().out.splitlines()


def test_the_order_is_the_one_in_which_plugins_run(capsys: pytest.CaptureFixture[str]) -> None:
    text = ".:53 example.org {\n    forward . 192.0.2.1\n    cache\n    ready\n    errors\n    health\n}\na {\n}\n"
    assert report(text, capsys) == (
        0,
        [
            ".:53 example.org.:53",
            "  queries pass: errors > cache > forward",
            "  beside them:  ready health",
            "",
            "a.:53",
            "  queries pass: none, so all are REFUSED",
            "",
            "no problems",
        ],
    )


def test_all_problems_are_shown_in_the_order_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        ". {\n    cache x y {\n        foo\n    }\n    errors {\n        bar\n    }\n}\n. {\n    rewrite\n    any\n}\n"
    )
    status, lines = report(text, capsys)
    assert status == 1
    assert [line.split(" - ")[0] for line in lines[:4]] == [
        "plugin/cache: Corefile:3",
        "plugin/errors: Corefile:6",
        "Corefile:9",
        "plugin/rewrite: Corefile:10",
    ]
    assert lines[4:] == [
        "",
        ".:53",
        "  queries pass: none, so all are REFUSED",
        "",
        ".:53",
        "  queries pass: any",
        "",
        "4 problems: the server would not start",
    ]


@pytest.mark.parametrize(
    "text, problems",
    [
        (
            "a {\nwhoamy\ncache {\nsucces 1\ndenial x\n}\nnosuch a {\nb\n}\n}\na b..c {\nroute53\nrewrite\n}\n",
            [
                "Corefile:2 - Error during parsing: Unknown directive 'whoamy' (did you mean 'whoami'?)",
                "plugin/cache: Corefile:4 - Error during parsing: Wrong argument count or unexpected line ending after",
                'plugin/cache: Corefile:5 - Error during parsing: denial capacity must be a whole number: "x"',
                "Corefile:7 - Error during parsing: Unknown directive 'nosuch'",
                "Corefile:11 - error inspecting server blocks: zone is not a valid domain name: b..c",
                "Corefile:11 - cannot serve dns://a.:53 - it is already defined",
                "plugin/route53: Corefile:12 - Error during parsing: plugin 'route53' is not part of pydns",
                "plugin/rewrite: Corefile:13 - Error during parsing: plugin 'rewrite' is not served by this version",
            ],
        ),
        (
            "a {\nlog {\nx\n}\nlog {\ny\n}\nhosts {\nttl x\n}\nhosts\n}\n",
            [
                "plugin/log: Corefile:3 - Error during parsing: unknown property 'x'",
                "plugin/log: Corefile:6 - Error during parsing: unknown property 'y'",
                'plugin/hosts: Corefile:9 - Error during parsing: ttl must be a whole number: "x"',
                "plugin/hosts: Corefile:11 - Error during parsing: this plugin can only be used once per Server Block",
            ],
        ),
        (
            "a {\nnosuch\n}\nb {\nwhoami\n",
            [
                "Corefile:2 - Error during parsing: Unknown directive 'nosuch'",
                "Corefile:5 - Syntax error: Unexpected token 'whoami', expecting '}'",
            ],
        ),
        ("a {\n{\nb\n}\n}\n", ["Corefile:2 - Error during parsing: Unknown directive '{'"]),
        (
            "(s) {\nnosuch\n}\na {\nimport s\n}\nb {\nimport s\n}\n",
            ["Corefile:2 - Error during parsing: Unknown directive 'nosuch'"],
        ),
        (
            "a {\nbind nosuch0\n}\na {\n}\n",
            ['plugin/bind: Corefile:2 - Error during parsing: not a valid IP address or interface name: "nosuch0"'],
        ),
    ],
)
def test_all_that_can_be_found_is_told_at_once(
    text: str, problems: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = report(text, capsys)
    assert status == 1
    found = lines[: lines.index("")]
    assert [line[: len(problem)] for line, problem in zip(found, problems, strict=True)] == problems
    assert lines[-1] == f"{len(problems)} problem{'s' * (len(problems) > 1)}: the server would not start"


def test_several_files(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    Path("good").write_text("a {\n}\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("a {\nnosuch\n}\n"))
    assert check_all(["good", "-"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "== good"
    assert lines[lines.index("== -") - 1 :][:3] == [
        "",
        "== -",
        "/dev/stdin:2 - Error during parsing: Unknown directive 'nosuch'",
    ]
    assert check_all(["good"]) == 0
    assert capsys.readouterr().out.startswith("a.:53\n")


def test_a_missing_file_is_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("nope") == 1
    assert capsys.readouterr().out == "loading Caddyfile via flag: open nope: no such file or directory\n"


def test_what_coredns_swallows_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = report("a {\n    any\n}\n}\n", capsys)
    assert status == 0
    assert lines[0] == "Corefile:4 - Warning: a '}' without '{' is taken as the zone '}'"
    assert lines[-1] == "1 warning: the server would start"


def test_no_api_is_asked_and_little_imported() -> None:
    Path("Corefile").write_text(". {\n    kubernetes cluster.local\n    health\n    prometheus\n}\n")
    code = (
        "import sys; from pydns.tools.check import check; check('Corefile'); "
        "print([name for name in ('aiohttp', 'kubernetes', 'rich') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-2:] == ["no problems", "[]"]

"""A run that is kept: JSON, picture, and the tables of the README."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.bench import report
from conformance.bench.age import since
from conformance.bench.document import SCHEMA
from conformance.bench.lines import LINES
from conformance.bench.picture import draw
from conformance.bench.report import BEGIN, END, RANGE, RANGE_END, MarkError, inserted, keep, told
from conformance.bench.table import headline, markdown
from tests.conformance.bench.sample import sample

ROOT = Path(__file__).parents[3]


def test_text_between_the_marks_is_replaced() -> None:
    page = f"# A\n{BEGIN}\nold\n{END}\nmore\n"
    once = inserted(page, "| new |")
    assert once == f"# A\n{BEGIN}| new |{END}\nmore\n"
    assert inserted(once, "| new |") == once


@pytest.mark.parametrize("page", ["", BEGIN, f"{END}\n{BEGIN}"])
def test_a_page_without_the_marks(page: str) -> None:
    with pytest.raises(MarkError):
        inserted(page, "x")


def test_three_files(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(f"{RANGE}{RANGE_END} {BEGIN}{END}")
    keep(sample(), tmp_path)
    kept = json.loads((tmp_path / "docs" / "bench.json").read_text())
    assert kept["schema"] == SCHEMA
    assert kept == json.loads(json.dumps(sample()))
    assert (tmp_path / "docs" / "bench.svg").read_text() == draw(kept)
    page = (tmp_path / "README.md").read_text()
    assert f"{RANGE}{headline(kept)}{RANGE_END}" in page
    assert markdown(kept, since(kept, LINES)) in page


def test_json_has_every_round_and_no_nan() -> None:
    text = report.as_json(sample())
    mix = json.loads(text, parse_constant=pytest.fail)["lines"][0]
    assert mix["figures"][0]["theirs"] == [20_000, 10_000, 30_000]
    assert mix["figures"][2]["ratio"] is None


def test_another_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_text('{"schema": 1}')
    assert report.main([str(tmp_path / "run.json")]) == 1
    assert capsys.readouterr().err == "schema 1 is not 2\n"


@pytest.mark.parametrize("options", [{"quick": True, "load": []}, {"quick": False, "load": ["mix"]}])
def test_a_part_of_the_lines_is_not_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: dict[str, Any]
) -> None:
    (tmp_path / "run.json").write_text(json.dumps(sample() | {"options": options}))
    assert report.main([str(tmp_path / "run.json")]) == 1
    assert capsys.readouterr().err == "this is not a run of all lines\n"


def test_the_readme_is_what_the_run_says() -> None:
    """And says where lines or their bounds are others now."""
    page, run = ROOT / "README.md", ROOT / "docs" / "bench.json"
    found = json.loads(run.read_text())
    assert told(page.read_text(), found) == page.read_text(), f"python -m conformance.bench.report {run}"
    assert draw(found) == (ROOT / "docs" / "bench.svg").read_text()

"""The named differences and their page."""

from pathlib import Path

from conformance.case import Ask, Get, load_cases
from conformance.differences import DIFFERENCES

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


def test_the_page_has_the_same_names_and_reasons() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [f"| `{name}` | {reason} |" for name, reason in DIFFERENCES.items()]
    assert list(DIFFERENCES) == sorted(DIFFERENCES)


def test_every_difference_is_shown_by_a_case() -> None:
    steps = [step for case in load_cases() for step in case.steps if isinstance(step, Ask | Get)]
    shown = {name for step in steps for name in step.differences}
    assert shown == set(DIFFERENCES)

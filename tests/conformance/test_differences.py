"""The named differences and their page."""

from pathlib import Path

import pytest

from conformance.case import Ask, Get, load_cases
from conformance.differences import CONFIGURATION, DIFFERENCES, UNSEEN

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


@pytest.mark.parametrize(
    ("section", "differences"),
    [("Replies, metrics and logs", DIFFERENCES), ("Configuration", CONFIGURATION), ("Behind the replies", UNSEEN)],
)
def test_the_page_has_the_same_names_and_reasons(section: str, differences: dict[str, str]) -> None:
    text = PAGE.read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{name}` | {reason} |" for name, reason in differences.items()]
    assert list(differences) == sorted(differences)


def test_a_name_stands_for_one_difference() -> None:
    assert not DIFFERENCES.keys() & CONFIGURATION.keys() | DIFFERENCES.keys() & UNSEEN.keys()


def test_every_difference_in_replies_is_shown_by_a_case() -> None:
    steps = [step for case in load_cases() for step in case.steps if isinstance(step, Ask | Get)]
    shown = {name for step in steps for name in step.differences}
    assert shown == set(DIFFERENCES)

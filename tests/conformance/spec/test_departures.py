"""The departures of CoreDNS and their page."""

from pathlib import Path

from conformance.spec.departures import DEPARTURES

PAGE = Path(__file__).parents[3] / "docs" / "differences.md"


def test_the_page_has_the_same_names_and_reasons() -> None:
    text = PAGE.read_text().partition("## Where CoreDNS departs from the specification\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{name}` | {reason} |" for name, reason in DEPARTURES.items()]
    assert list(DEPARTURES) == sorted(DEPARTURES)

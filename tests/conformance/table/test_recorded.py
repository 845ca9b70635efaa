"""Recordings: written, read back, kept in step with the table."""

from pathlib import Path

import pytest

from conformance.table import recorded
from conformance.table.case import Case
from conformance.table.case_file import load_cases, parse_cases
from conformance.wire.message import TIMEOUT, Reply, parse_record

CASE = parse_cases("corefile\n    .\n? b. A +do => NOERROR\n? a. TXT +slack=1 => TIMEOUT\n", "area/example")[0]
RECORDS = tuple(map(parse_record, ("b. 5 CNAME z.", "z. 5 A 10.0.0.2", "z. 5 A 10.0.0.1")))
REPLY = Reply("NOERROR", frozenset({"qr", "aa", "tc"}), question="b. IN A", answer=RECORDS)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    expected = CASE.questions[1].expected
    assert expected is not None
    recorded.save(CASE, [REPLY, expected], tmp_path)
    assert recorded.load(CASE, tmp_path) == [recorded.stable(REPLY), expected]
    assert (tmp_path / "area/example.txt").read_text() == (
        "? b. A +do => NOERROR aa tc\n"
        "    answer b. 5 IN CNAME z.\n"
        "    answer z. 5 IN A 10.0.0.1\n"
        "    answer z. 5 IN A 10.0.0.2\n"
        "    opt none\n"
        "? a. TXT +slack=1 => TIMEOUT\n"
    )


def test_a_missing_or_old_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(recorded.StaleRecording, match=r"missing: .* --record area/example`"):
        recorded.load(CASE, tmp_path)
    path = recorded.path_of(CASE, tmp_path)
    path.parent.mkdir()
    path.write_text("? b. AAAA => NOERROR none\n")
    with pytest.raises(recorded.StaleRecording, match=r"question 1 is 'b\. AAAA', .* --record area/example`"):
        recorded.load(CASE, tmp_path)


def test_prune_removes_what_belongs_to_no_case(tmp_path: Path) -> None:
    recorded.save(CASE, [REPLY, REPLY], tmp_path)
    (tmp_path / "area/gone.txt").write_text("")
    recorded.prune([CASE], tmp_path)
    assert [path.name for path in tmp_path.rglob("*.txt")] == ["example.txt"]


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.name)
def test_the_recordings_belong_to_the_table(case: Case) -> None:
    assert len(recorded.load(case)) == len(case.questions)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("NOERROR aa tc", "NOERROR ab"), r"^example\.txt:1: .*ab.* --record area/example`$"),
        (("TIMEOUT\n", "TIMEOUT\n? c. A => TIMEOUT\n"), r"question 3 is not in the case any more: .* --record area/"),
    ],
)
def test_a_recording_that_was_changed_by_hand_is_told(tmp_path: Path, change: tuple[str, str], fault: str) -> None:
    recorded.save(CASE, [REPLY, TIMEOUT], tmp_path)
    path = recorded.path_of(CASE, tmp_path)
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(recorded.StaleRecording, match=fault):
        recorded.load(CASE, tmp_path)

"""The page: what is in it as text, and, in a real browser, that its script draws what it should without an error."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.plan import Plan
from conformance.report import page
from conformance.report.document import Document, document
from conformance.results import Outcome, Verdict
from tests.conformance.report import sample

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,900",
)  # fmt: skip

in_a_browser = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")


def found(**changes: object) -> Document:
    return document(sample.run(**changes), sample.TEXTS)


def shown(folder: Path, fragment: str = "", **changes: object) -> str:
    """The page as it stands in a browser when its script has run."""
    page.write(found(**changes), folder / "page.html")
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    address = (folder / "page.html").as_uri() + fragment
    return subprocess.run([*command, address], capture_output=True, text=True, check=True, timeout=60).stdout


def requirements(html: str) -> list[tuple[str, str]]:
    """Number and states of each row."""
    return re.findall(r'<tr class="requirement" id="(\w+)" data-states="([^"]*)"', html)


def timelines(html: str) -> str:
    """What is drawn of the one look-up that is open."""
    (drawing,) = re.findall(r'<div class="drawing">(<div.*?)</details>', html, re.DOTALL)
    return str(drawing)


def test_nothing_is_loaded_from_elsewhere() -> None:
    html = page.render(found())
    loaded = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import', html)
    assert {address[:1] for address, _ in loaded} == {"#", "d"}, "links within the page, and an empty icon"
    assert "default-src 'none'" in html


def test_text_of_servers_cannot_become_markup() -> None:
    html = page.render(found())
    assert "not <nothing>" not in html
    assert "not &lt;nothing&gt; &amp; more" in html


def test_a_whole_run_fits_into_three_megabytes() -> None:
    html = page.render(found(outcomes=sample.large()))
    assert len(html.encode()) < 3_000_000


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (8.42, "8.4 s"), (59.94, "59.9 s"), (60, "1 min 0 s"), (312.7, "5 min 12 s")]
)
def test_durations(seconds: float, text: str) -> None:
    assert page.duration(seconds) == text


def test_reasons_are_set_as_in_the_documentation() -> None:
    assert page.prose("*cache* and `a < b`") == "<em>cache</em> and <code>a &lt; b</code>"
    assert page.prose("*pods insecure*: 2 * 3, *.test") == "<em>pods insecure</em>: 2 * 3, *.test"


def rendered(**changes: object) -> str:
    return page.render(found(**changes))


PROGRAM = "/srv/dns/prog"

SILENT = ("rcode: wanted NOERROR, got TIMEOUT", "question: wanted a. IN A, got -", "answer: wanted a. 5 IN A ::, got -")


def judged(place: str, *faults: str) -> tuple[Outcome, ...]:
    return (Outcome("a/b", verdicts=[Verdict("a/b", place, "a. A", {"coredns": (), PROGRAM: faults}, ("R1",))]),)


def test_counts_are_those_of_the_terminal() -> None:
    html = rendered()
    for words in ("1 fail, 6 pass; 1 wait, 1 skipped, 2 not covered", "1 depart as CoreDNS, 7 pass; 1 skipped"):
        assert f"looked at: {words}" in html
    assert "<dd>7<small> of 11</small>" in html


def test_a_server_is_named_once_above_all_its_faults() -> None:
    html = rendered(plan=Plan(PROGRAM), outcomes=judged("b.case:1", "flags: wanted aa, got -", "one more"))
    assert re.findall(r'<p class="by">(.*)</p><pre>([^<]*)</pre>', html) == [
        ("prog", "flags: wanted aa, got -\none more")
    ]


def test_no_reply_is_one_line() -> None:
    html = rendered(plan=Plan(PROGRAM), outcomes=judged("b.case:1", *SILENT))
    assert re.findall(r"<pre>([^<]*)</pre>", html) == ["no reply, wanted NOERROR"]


def test_a_program_is_called_by_its_file_and_its_path_is_a_title() -> None:
    html = rendered(plan=Plan(PROGRAM), outcomes=judged("b.case:1"))
    assert f'<h1><span title="{PROGRAM}">prog</span>' in html
    assert "<dt>requirements, prog</dt>" in html


@pytest.mark.parametrize(
    ("reference", "place", "judge", "compared"),
    [
        ("coredns", "b.case:1", "a running CoreDNS", True),
        ("recorded", "b.case:1", "recorded CoreDNS", True),
        ("expected", "b.case:1", "the specification and the cases", False),
        ("expected", "R1", "the specification", False),
    ],
)
def test_what_answers_are_judged_by(reference: str, place: str, judge: str, compared: bool) -> None:
    html = rendered(plan=Plan(PROGRAM, reference), outcomes=judged(place))
    assert f"<span>judged by {judge}</span>" in html
    assert ('<section id="differences">' in html, "<dt>named differences</dt>" in html) == (compared, compared)


def test_jobs_that_are_skipped_for_one_reason_share_a_row() -> None:
    html = rendered(outcomes=tuple(Outcome(f"a/{name}", skipped="no Go") for name in "bc"))
    assert "<th>skipped</th><td>no Go</td><td><code>a/b</code>, <code>a/c</code></td>" in html


def test_requirements_that_nothing_covers_are_folded_away() -> None:
    html = rendered()
    assert re.findall(r'id="(\w+)" data-states="[^"]*" data-idle hidden>', html) == ["K5", "K36"]
    assert re.findall(r'class="unfold"[^>]*>(.*?)<', html) == ["2 not covered"]


@in_a_browser
@pytest.mark.parametrize(("fragment", "hidden"), [("", ["K5", "K36"]), ("#R1", ["K5", "K36"]), ("#K36", [])])
def test_a_link_to_one_of_them_unfolds_them(tmp_path: Path, fragment: str, hidden: list[str]) -> None:
    rows = re.findall(r'<tr class="requirement" id="(\w+)"[^>]* hidden=', shown(tmp_path, fragment))
    assert rows == hidden


@in_a_browser
def test_the_table_of_requirements(tmp_path: Path) -> None:
    html = shown(tmp_path)
    assert requirements(html) == [
        ("R1", "|passes|passes|"),
        ("R2", "|fails|passes|"),
        ("R3", "|passes|passes|"),
        ("R7", "|passes|departs|"),
        ("R13", "|passes|passes|"),
        ("K5", "|not covered|not covered|"),
        ("K9", "|passes|passes|"),
        ("K10", "|passes|passes|"),
        ("K11", "|skipped|skipped|"),
        ("K36", "|not covered|not covered|"),
        ("C3", "|waits|passes|"),
    ]


@in_a_browser
def test_a_timeline_is_drawn_when_its_look_up_is_opened(tmp_path: Path) -> None:
    """The second look-up of glibc: three names, A and AAAA, on both servers one above the other."""
    html = shown(tmp_path, "#walk-1")
    drawing = timelines(html)
    assert len(re.findall('<svg class="timeline"', drawing)) == 2
    assert len(re.findall('class="mark q0"', drawing)) == len(re.findall('class="mark q1"', drawing)) == 6
    assert len(re.findall('class="lane"', drawing)) == 6
    assert "1. example.com.shop.svc.cluster.local. A, udp, 0.0 ms" in drawing


@in_a_browser
def test_nothing_of_a_timeline_is_drawn_before(tmp_path: Path) -> None:
    assert 'class="timeline"' not in shown(tmp_path).partition("<script")[0]


@in_a_browser
def test_the_times_of_changes_are_drawn(tmp_path: Path) -> None:
    (strip,) = re.findall(r'id="strip".*?</section>', shown(tmp_path), re.DOTALL)
    assert len(re.findall('class="mark', strip)) == 6


@in_a_browser
def test_each_change_is_drawn_when_it_is_asked_for(tmp_path: Path) -> None:
    """A link to it opens it: three changes, two servers."""
    (plot,) = re.findall(r'id="plot".*?</section>', shown(tmp_path, "#plot"), re.DOTALL)
    assert len(re.findall('class="mark', plot)) == 6


@in_a_browser
@pytest.mark.parametrize("fragment", ["", "#walk-5", "#walk-999", "#job:change/scale", "#R13", "#nosuch"])
def test_the_script_ends_without_an_error(tmp_path: Path, fragment: str) -> None:
    (attributes,) = re.findall(r"<html([^>]*)>", shown(tmp_path, fragment))
    assert 'data-ready="yes"' in attributes
    assert "data-error" not in attributes


@in_a_browser
def test_a_run_that_found_nothing_is_a_page_too(tmp_path: Path) -> None:
    html = shown(tmp_path, outcomes=())
    assert 'data-ready="yes"' in html
    assert "nothing checked" in html


@in_a_browser
def test_a_whole_run_is_drawn(tmp_path: Path) -> None:
    """Look-up 32 has 33 candidates."""
    html = shown(tmp_path, "#walk-32", outcomes=sample.large())
    assert len(re.findall('class="mark', timelines(html))) == 2 * 2 * 33

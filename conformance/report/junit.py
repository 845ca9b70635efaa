"""A run as JUnit XML, as CI systems read it: a suite for each area, a case for each check.

What was skipped or waits is a case of its own with the reason. The elements and attributes are those that Jenkins'
schema (junit-10.xsd) knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from conformance.report.document import area
from conformance.report.run import Run
from conformance.results import Outcome, Verdict

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold (section 2.2): a server under test may answer anything."""


def write(run: Run, path: Path) -> None:
    """Writes the file."""
    tree = ElementTree.ElementTree(suites(run))
    ElementTree.indent(tree)
    tree.write(path, encoding="utf-8", xml_declaration=True)


def suites(run: Run) -> ElementTree.Element:
    """The root element."""
    root = ElementTree.Element("testsuites", name=f"conformance of {run.plan.subject}", time=f"{run.seconds:.3f}")
    ordered = sorted(run.outcomes, key=lambda outcome: area(outcome.name))
    for name, outcomes in groupby(ordered, key=lambda outcome: area(outcome.name)):
        root.append(_suite(run, name, list(outcomes)))
    if run.shortcomings:
        root.append(_own_suite(run))
    _count(root, list(root.iter("testcase")))
    root.attrib.pop("skipped")  # the schema has it for suites alone
    return root


def _suite(run: Run, name: str, outcomes: list[Outcome]) -> ElementTree.Element:
    seconds = sum(outcome.seconds for outcome in outcomes)
    suite = ElementTree.Element("testsuite", name=name, time=f"{seconds:.3f}")
    if run.started:
        suite.set("timestamp", run.started.rstrip("Z"))
    for outcome in outcomes:
        suite.extend(_cases(outcome))
    _count(suite, list(suite))
    return suite


def _count(element: ElementTree.Element, cases: list[ElementTree.Element]) -> None:
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    element.set("errors", "0")
    element.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))


def _cases(outcome: Outcome) -> Iterator[ElementTree.Element]:
    """A check has its share of the job's time: nobody measured it alone."""
    share = outcome.seconds / max(len(outcome.verdicts), 1)
    for verdict in outcome.verdicts:
        case = _case(outcome.name, f"{verdict.place} {verdict.text}", share)
        if verdict.problems:
            _add(case, "failure", verdict)
        yield case
    for reason in filter(None, (outcome.skipped or outcome.absent, outcome.waits and f"waits: {outcome.waits}")):
        case = _case(outcome.name, outcome.name, 0)
        ElementTree.SubElement(case, "skipped", message=_clean(reason))
        yield case


def _case(job: str, name: str, seconds: float) -> ElementTree.Element:
    return ElementTree.Element("testcase", classname=_clean(job), name=_clean(name), time=f"{seconds:.3f}")


def _add(case: ElementTree.Element, kind: str, verdict: Verdict) -> None:
    first = verdict.problems[0].splitlines()[0]
    element = ElementTree.SubElement(case, kind, type="conformance", message=_clean(first))
    element.text = _clean("\n".join(verdict.problems))


def _own_suite(run: Run) -> ElementTree.Element:
    """What fails a run though each check holds."""
    suite = ElementTree.Element("testsuite", name="the run", time="0.000")
    for reason in run.shortcomings:
        case = _case("the run", reason, 0)
        ElementTree.SubElement(case, "failure", type="conformance", message=_clean(reason))
        suite.append(case)
    _count(suite, list(suite))
    return suite


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)

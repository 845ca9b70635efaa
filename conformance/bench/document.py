"""A run as plain values, as it is written in JSON; tables and pictures are made of it, now or later. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.bench.contestants import SUBJECT
from conformance.bench.finding import Result, Row

SCHEMA = 2

Document = dict[str, Any]


def document(results: Sequence[Result], about: Mapping[str, Any]) -> Document:
    """`about` is when, where and with what was measured (`about.facts`)."""
    return {"schema": SCHEMA, **about, "lines": [_line(result, about["subject"]) for result in results]}


def _line(result: Result, subject: str) -> Document:
    finding = result.finding
    return {
        "line": result.line,
        "passed": result.passed,
        "left_out": named(finding.left_out, subject),
        "faults": [named(text, subject) for text in finding.faults],
        "remarks": [named(text, subject) for text in finding.remarks],
        "seconds": round(result.seconds, 1),
        "their_faults": finding.their_faults,
        "others": finding.others,
        "others_are": finding.others_are,
        "curves": {named(name, subject): points for name, points in finding.curves.items()},
        "samples": {named(name, subject): [_number(one) for one in values] for name, values in finding.samples.items()},
        "figures": [_figure(row, subject) for row in result.rows],
    }


def _figure(row: Row, subject: str) -> Document:
    figure = row.figure
    return {
        "what": figure.what,
        "unit": figure.unit,
        "beside": named(figure.beside, subject),
        "ours": [_number(value) for value in figure.ours],
        "theirs": [_number(value) for value in figure.theirs],
        "value": _number(figure.value),
        "their_value": _number(figure.their_value),
        "ratio": _number(figure.ratio),
        "bounds": [
            {"limit": bound.limit, "at_most": bound.at_most, "absolute": bound.absolute} for bound in row.bounds
        ],
        "bounds_text": row.bounds_text,
        "mark": row.mark,
        "left_out": figure.left_out,
    }


def named(text: str, subject: str) -> str:
    """What begins with the server under test, with the name of that server."""
    return f"{subject}{text.removeprefix(SUBJECT)}" if re.match(rf"{SUBJECT}\b", text) else text


def _number(value: float) -> float | None:
    """Six digits at the most, more are noise; None for NaN, which JSON does not have."""
    return float(f"{value:.6g}") if math.isfinite(value) else None

"""A run as text: all figures for a terminal, and the tables of the README. Pure; reads a `document`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from conformance.bench.contestants import ECHO
from conformance.bench.document import Document
from conformance.bench.finding import COREDNS, FAIL, FAULT, LEFT_OUT, PASS, PER_CPU, RATE, TWO_CORES, VOID

BUSY = 0.2
"""Cores: what other processes may use without a word."""

IN_LOADS = {(PER_CPU, COREDNS), (RATE, TWO_CORES)}
"""The figures of a load's row."""

UNTOLD = {(RATE, COREDNS), (PER_CPU, TWO_CORES)}
"""Figures that say nothing new beside those, unless they have a bound."""

TOLD = {"mix": "for a mix of what Pods ask", "mix, no packet cache": "with each reply made anew"}
"""The lines that the first words of the README name."""

MISSED = {
    FAIL: "missed", FAULT: "but the line failed", LEFT_OUT: "left out", VOID: "void: what it is beside failed"
}  # fmt: skip

Cells = Sequence[str]


def number(value: float | None) -> str:
    """As many digits as mean something: 131,000; 96.3; 0.042; a dash for none."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio(value: float | None) -> str:
    """Two digits behind the point below ten."""
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def terminal(found: Document) -> str:
    """Every figure with its ratio, bound and mark; then what was left out, failed, or is worth telling."""
    head = ("line", "figure", found["subject"], "beside", "", "ratio", "bound", "")
    rows = [head, *_rows(found)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    text.insert(1, "─" * len(text[0]))
    return "\n".join([*text, "", *_remarks(found), _summary(found)])


def _rows(found: Document) -> Iterator[Cells]:
    for line in found["lines"]:
        name = line["line"]
        if line["left_out"] or not line["figures"]:
            yield (name, "", "", "", "", "", "", LEFT_OUT if line["left_out"] else FAULT)
        for figure in line["figures"]:
            yield (name, *_figure(figure))
            name = ""


def _figure(figure: Mapping[str, Any]) -> Cells:
    values = (_with_unit(figure, "value"), figure["beside"], _with_unit(figure, "their_value"), ratio(figure["ratio"]))
    return (figure["what"], *values, figure["bounds_text"], figure["mark"])


def _with_unit(figure: Mapping[str, Any], which: str) -> str:
    if figure[which] is None:
        return "" if which == "their_value" and not figure["left_out"] else "–"
    return f"{number(figure[which])} {figure['unit']}".rstrip()


def _remarks(found: Document) -> Iterator[str]:
    if found["pinning"]:
        yield f"note  {found['pinning']}"
    for line in found["lines"]:
        yield from (f"FAIL  {line['line']}: {text}" for text in line["faults"])
        yield from (f"note  {line['line']}: {text}" for text in notes(line))


def notes(line: Mapping[str, Any]) -> Iterator[str]:
    """What a reader must know of a line beside its figures and faults."""
    for name, faults in line["their_faults"].items():
        yield f"{name} failed: {'; '.join(faults)}"
    yield from line["remarks"]
    if (line["others"] or 0) > BUSY:
        whose = f", {line['others_are']} among them" if line["others_are"] else ""
        yield f"other processes used {line['others']:.1f} cores{whose}"
    if line["left_out"]:
        yield f"left out: {line['left_out']}"
    for figure in line["figures"]:
        if figure["left_out"]:
            yield f"beside {figure['beside']} left out: {figure['left_out']}"


def _summary(found: Document) -> str:
    out = sum(bool(line["left_out"]) for line in found["lines"])
    failed = sum(not line["passed"] for line in found["lines"])
    free = sum(line["passed"] and not line["left_out"] and not any(map(_bounds, line["figures"]))
               for line in found["lines"])  # fmt: skip
    within = len(found["lines"]) - out - failed - free
    return f"\nLines: {within} within bounds, {failed} beyond them or failed, {free} without a bound, {out} left out"


def _bounds(figure: Mapping[str, Any]) -> Sequence[Any]:
    bounds: Sequence[Any] = figure["bounds"]
    return bounds


def headline(found: Document) -> str:
    """The range of the ratios to CoreDNS that have a bound, that of the mix, and that with each reply made anew."""
    figures = {line["line"]: _by_place(line).get((PER_CPU, COREDNS)) for line in found["lines"]}
    bounded = [figure["ratio"] for figure in figures.values() if figure and figure["bounds"] and figure["ratio"]]
    if not bounded:
        return "not measured"
    more = "".join(f", {ratio(figure['ratio'])} {text}" for name, text in TOLD.items() if (figure := figures.get(name)))
    return f"{ratio(min(bounded))} to {ratio(max(bounded))} times the queries per CPU-second of CoreDNS{more}"


def markdown(found: Document, since: Sequence[str] = ()) -> str:
    """What the README shows: how it was measured, a table of loads, one of all else, notes.

    `since` says what has changed since the run.
    """
    parts = (_measured(found), met(found), _loads(found), _others(found), _notes(found, since))
    return "\n\n".join(filter(None, parts))


def met(found: Document) -> str:
    """How many figures are within their bounds, and what became of the others."""
    marks = [figure["mark"] for line in found["lines"] for figure in line["figures"] if figure["bounds"]]
    others = [f"{marks.count(mark)} {text}" for mark, text in
              ((FAIL, "missed"), (FAULT, "of lines that failed"), (VOID, "void"), (LEFT_OUT, "left out"))
              if mark in marks]  # fmt: skip
    within = f"**{marks.count(PASS)} of {len(marks)} figures with a bound are within it**"
    return f"{within}; {', '.join(others) or 'none missed'}."


def _notes(found: Document, since: Sequence[str]) -> str:
    told = [f"{line['line']}: {text}" for line in found["lines"] for text in (*line["faults"], *notes(line))]
    return "\n".join(f"* {text}" for text in (*since, *told))


def _measured(found: Document) -> str:
    options = found["options"]
    versions = ", ".join(found["versions"].values())
    api = "a kube-apiserver" if found["api"] == "real" else "a fake API"
    return (
        f"{found['date'][:10]}, {_commit(found)}, {versions}; {_machine(found)}; {api}, kubeadm's Corefile without"
        " *forward*, *loop* and *lameduck* (forwarded: `cache 30` and `forward` alone);"
        f" medians (least–most) of {_rounds(options['rounds'])} of {options['seconds']:g} seconds in turns"
        f"{_busy(found)}.{_sharing(found)}"
    )


def _rounds(count: int) -> str:
    return "1 round" if count == 1 else f"{count} rounds"


def _commit(found: Document) -> str:
    code = found["code"]
    return f"commit {code['commit'][:10] or 'not recorded'}{' with changes' if code['dirty'] else ''}"


def _machine(found: Document) -> str:
    machine = found["machine"]
    kind = "a virtual machine with" if machine["virtual"] else "with"
    environment = "".join(f", {name}={value}" for name, value in found["environment"].items())
    return (
        f"{machine['cpu']} (family/model {machine['family_model']}), {kind} {machine['cores']} cores,"
        f" Linux {machine['kernel']}, Python {machine['python']}"
        f" {'with uvloop ' + found['uvloop'] if found['uvloop'] else 'without uvloop'}{environment},"
        f" dnsperf {found['dnsperf'] or '–'}"
    )


def _sharing(found: Document) -> str:
    """Where cores are shared that should not be."""
    if found["pinning"]:
        return f" {found['pinning'].capitalize()}."
    if found["machine"]["cores"] > 2:
        return ""
    return " The load shares the second core with CoreDNS on both cores, and with multisocket 2."


def _busy(found: Document) -> str:
    """What other processes used during most loads, where that is too much."""
    others = [line["others"] for line in found["lines"] if line["others"] is not None]
    middle = median(others) if others else 0
    return f", while other processes used {middle:.1f} of the cores" if middle > BUSY else ""


def beside(found: Document, figure: Mapping[str, Any]) -> str:
    """What a figure is beside, with what a reader must know of that."""
    name: str = figure["beside"]
    return _two_cores(found) if name == TWO_CORES else name


def _two_cores(found: Document) -> str:
    return TWO_CORES if found["machine"]["cores"] > 2 else f"{COREDNS} on both cores, the load beside it"


def _loads(found: Document) -> str:
    ours = found["subject"]
    rows = [(line, figures) for line in found["lines"] if (figures := _by_place(line)).get((PER_CPU, COREDNS))]
    if not rows:
        return ""
    head = [f"| load | {ours}, queries per CPU-second | CoreDNS | ratio | bound | q/s, {ours} on one core |"
            f" q/s, {_two_cores(found)} |", "|---|---|---|---|---|---|---|"]  # fmt: skip
    return "\n".join([*head, *(_load(line["line"], figures) for line, figures in rows)])


def _load(name: str, figures: Mapping[tuple[str, str], Any]) -> str:
    speed = figures[PER_CPU, COREDNS]
    rate = figures.get((RATE, TWO_CORES)) or figures.get((RATE, COREDNS)) or EMPTY
    both = rate if rate["beside"] == TWO_CORES else EMPTY
    missed = MISSED.get(rate["mark"])
    served = f"**{_spread(rate, 'value')}, {missed}**" if missed else _spread(rate, "value")
    speeds = (_spread(speed, "value"), _spread(speed, "their_value"), ratio(speed["ratio"]), _bound(speed))
    return f"| {' | '.join((name, *speeds, served, _spread(both, 'their_value')))} |"


EMPTY: Mapping[str, Any] = {"value": None, "their_value": None, "ours": [], "theirs": [], "beside": "", "mark": ""}
"""In place of a figure that a line does not have."""


def _spread(figure: Mapping[str, Any], which: str) -> str:
    """The median, and behind it the least and the most where there are several values."""
    values = [value for value in figure["ours" if which == "value" else "theirs"] if value is not None]
    text = number(figure[which])
    return f"{text} ({number(min(values))}–{number(max(values))})" if len(values) > 1 else text


def _by_place(line: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    return {(figure["what"], figure["beside"]): figure for figure in line["figures"]}


def _others(found: Document) -> str:
    rows = [(line, figure) for line in found["lines"] for figure in line["figures"] if _is_other(line, figure)]
    head = [f"| | {found['subject']} | beside | ratio | bound |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(_other(found, line, figure) for line, figure in rows)]) if rows else ""


def _is_other(line: Mapping[str, Any], figure: Mapping[str, Any]) -> bool:
    """Whether a figure has a row of its own: all have but those of the loads' rows, and what says nothing new."""
    place = figure["what"], figure["beside"]
    if place in IN_LOADS and (PER_CPU, COREDNS) in _by_place(line):
        return False
    return bool(figure["bounds"]) or (place not in UNTOLD and figure["beside"] != ECHO.name)


def _other(found: Document, line: Mapping[str, Any], figure: Mapping[str, Any]) -> str:
    theirs = _spread(figure, "their_value") if figure["their_value"] is not None else ""
    unit = f" {figure['unit']}".rstrip()
    ours, other = (
        f"{_spread(figure, 'value')}{unit}",
        f"{beside(found, figure)} {theirs}{unit if theirs else ''}".strip(),
    )
    cells = (
        f"{line['line']}: {figure['what']}",
        ours,
        f"{other}{_floor(line, figure)}",
        ratio(figure["ratio"]),
        _bound(figure),
    )
    return f"| {' | '.join(cells)} |"


def _floor(line: Mapping[str, Any], figure: Mapping[str, Any]) -> str:
    """What the echo had in the place of CoreDNS, where that has no row of its own: none can be below it."""
    echo = _by_place(line).get((figure["what"], ECHO.name))
    if figure["beside"] != COREDNS or echo is None or echo["bounds"]:
        return ""
    return f"; {ECHO.name} {_spread(echo, 'their_value')} {echo['unit']}".rstrip()


def _bound(figure: Mapping[str, Any]) -> str:
    """The bound, and what became of the figure where it is not within it."""
    if not figure["bounds"]:
        return "none"
    missed = MISSED.get(figure["mark"])
    return f"**{figure['bounds_text']}, {missed}**" if missed else str(figure["bounds_text"])

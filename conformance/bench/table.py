"""A run as text: all figures for a terminal, and the tables of the README. Pure; reads a `document`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from conformance.bench.document import Document
from conformance.bench.finding import COREDNS, FAIL, FAULT, LEFT_OUT, PER_CPU, RATE, TWO_CORES

BUSY = 0.2
"""Cores: what other processes may use without a word."""

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
    """Every figure with its ratio, floor and mark; then what was left out, failed, or is worth telling."""
    head = ("line", "figure", found["subject"], "beside", "", "ratio", "floor", "")
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
    return (figure["what"], *values, figure["bounds"], figure["mark"])


def _with_unit(figure: Mapping[str, Any], which: str) -> str:
    if figure[which] is None:
        return "" if which == "their_value" and not figure["left_out"] else "–"
    return f"{number(figure[which])} {figure['unit']}".rstrip()


def _remarks(found: Document) -> Iterator[str]:
    for line in found["lines"]:
        yield from (f"FAIL  {line['line']}: {text}" for text in line["faults"])
        yield from (f"note  {line['line']}: {text}" for text in line["remarks"])
        if (line["others"] or 0) > BUSY:
            yield f"note  {line['line']}: other processes used {line['others']:.1f} cores"
        if line["left_out"]:
            yield f"note  {line['line']}: left out: {line['left_out']}"
        for figure in line["figures"]:
            if figure["left_out"]:
                yield f"note  {line['line']}: beside {figure['beside']} left out: {figure['left_out']}"


def _summary(found: Document) -> str:
    out = sum(bool(line["left_out"]) for line in found["lines"])
    failed = sum(not line["passed"] for line in found["lines"])
    passed = len(found["lines"]) - out - failed
    return f"\n{passed} lines meet their floors, {failed} do not, {out} left out"


def markdown(found: Document) -> str:
    """The tables of the README: loads in one, all else that has a floor in another; how it was measured above them."""
    return "\n\n".join(filter(None, (_measured(found), _loads(found), _others(found))))


def _measured(found: Document) -> str:
    machine, options = found["machine"], found["options"]
    versions = ", ".join(found["versions"].values())
    api = "a kube-apiserver" if found["api"] == "real" else "a fake API"
    return (
        f"{found['date'][:10]}, {versions}; {machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']},"
        f" Python {machine['python']}; {api}, kubeadm's Corefile;"
        f" medians of {options['rounds']} rounds of {options['seconds']:g} seconds in turns{_busy(found)}."
    )


def _busy(found: Document) -> str:
    """What other processes used during most loads, where that is too much."""
    others = [line["others"] for line in found["lines"] if line["others"] is not None]
    middle = median(others) if others else 0
    return f", while other processes used {middle:.1f} of the cores" if middle > BUSY else ""


def _loads(found: Document) -> str:
    ours = found["subject"]
    rows = [(line, figures) for line in found["lines"] if (figures := _by_place(line)).get((PER_CPU, COREDNS))]
    if not rows:
        return ""
    head = [f"| load | {ours}, queries per CPU-second | CoreDNS | ratio | floor | q/s, {ours} on one core |"
            " q/s, CoreDNS on two cores |", "|---|---|---|---|---|---|---|"]  # fmt: skip
    return "\n".join([*head, *(_load(line["line"], figures) for line, figures in rows)])


def _load(name: str, figures: Mapping[tuple[str, str], Any]) -> str:
    speed = figures[PER_CPU, COREDNS]
    rate = figures.get((RATE, TWO_CORES), {"value": None, "their_value": None, "mark": ""})
    cells = (name, number(speed["value"]), number(speed["their_value"]), _marked(speed), speed["bounds"])
    served = _with_mark(number(rate["value"]), rate["mark"])
    return f"| {' | '.join((*cells, served, number(rate['their_value'])))} |"


def _by_place(line: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    return {(figure["what"], figure["beside"]): figure for figure in line["figures"]}


def _others(found: Document) -> str:
    loads = {(PER_CPU, COREDNS), (RATE, TWO_CORES)}
    rows = [
        (line, figure)
        for line in found["lines"]
        for figure in line["figures"]
        if figure["floors"] and ((figure["what"], figure["beside"]) not in loads or "multisocket" in line["line"])
    ]
    head = [f"| | {found['subject']} | beside | ratio | floor |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(_other(line["line"], figure) for line, figure in rows)]) if rows else ""


def _other(name: str, figure: Mapping[str, Any]) -> str:
    theirs = f"{figure['beside']} {_with_unit(figure, 'their_value')}".strip()
    cells = (f"{name}: {figure['what']}", _with_unit(figure, "value"), theirs, _marked(figure), figure["bounds"])
    return f"| {' | '.join(cells)} |"


def _marked(figure: Mapping[str, Any]) -> str:
    """The ratio, or why there is none; what missed its floor is marked."""
    return LEFT_OUT if figure["mark"] == LEFT_OUT else _with_mark(ratio(figure["ratio"]), figure["mark"])


def _with_mark(text: str, mark: str) -> str:
    missed = {FAIL: "misses its floor", FAULT: "but the line failed"}.get(mark)
    return f"**{text}, {missed}**" if missed else text

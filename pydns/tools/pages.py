"""The plugins' manual pages, made of what the code says: a module's docstring and its declared options.

``python -m pydns.tools.pages docs/plugins`` writes them, ``pydns plugins NAME`` shows one.  A docstring begins with one
sentence; what follows up to the first heading is the description.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from pydns.corefile.describe import Row, rows
from pydns.corefile.options import Options, declarations
from pydns.registry import PLUGINS, load

_DESCRIPTION = "## Description"


def show(name: str | None) -> int:
    """Print the page of a plugin, or of all plugins the first sentence; the exit status."""
    if name is None:
        width = max(map(len, PLUGINS))
        print(*(f"{each:{width}}  {_docstring(each)[0]}" for each in sorted(PLUGINS)), sep="\n")
        return 0
    if name not in PLUGINS:
        print(f"no plugin '{name}' in this version; `pydns plugins` lists them", file=sys.stderr)
        return 1
    _print_page(page(name))
    return 0


def _print_page(text: str) -> None:
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))


def page(name: str) -> str:
    """A plugin's page in Markdown."""
    summary, description, sections = _docstring(name)
    options = load(name).options
    parts = [f"# {name}", summary]
    if description:
        parts += [_DESCRIPTION, description]
    parts += ["## Syntax", f"```\n{options.syntax(name)}\n```"]
    rows = list(_rows(options))
    if rows:
        parts.append("\n".join(_table(rows)))
    if sections:
        parts.append(sections)
    return "\n\n".join(parts) + "\n"


def _docstring(name: str) -> tuple[str, str, str]:
    """First sentence, description and the sections behind it."""
    module = import_module(load(name).__module__)
    summary, _, rest = inspect.cleandoc(module.__doc__ or "").partition("\n\n")
    rest = rest.removeprefix(_DESCRIPTION).strip()
    description, heading, sections = rest.partition("\n## ") if not rest.startswith("## ") else ("", "", rest)
    return summary.replace("\n", " "), description.strip(), (heading + sections).strip()


def _rows(options: type[Options], prefix: str = "") -> Iterator[Row]:
    """The rows of a plugin's options; those of a property with arguments of its own follow where they say something."""
    for row, declared in zip(rows(options), declarations(options).values(), strict=True):
        yield row._replace(name=prefix + row.name)
        if declared.is_options:
            yield from (inner for inner in _rows(declared.convert, f"{declared.name} ") if inner.help)


def _table(rows: list[Row]) -> Iterator[str]:
    yield "| option | default | meaning |"
    yield "|---|---|---|"
    for row in rows:
        remark = row.arguments.startswith("(")
        option = row.name if remark else f"{row.name} {row.arguments}".strip()
        help = f"{row.help} {row.arguments}".strip() if remark else row.help
        yield f"| `{_cell(option)}` | {_cell(row.default)} | {_cell(help)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def write(folder: Path) -> None:
    """Write the pages of all plugins; pages of plugins that are no more go."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for name in PLUGINS:
        (folder / f"{name}.md").write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

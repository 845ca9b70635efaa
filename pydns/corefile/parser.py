"""Tokens of a Corefile to server blocks.

Duty: CoreDNS's grammar (core/caddyfile): keys, braces, snippets, imports and variables, with its errors.  Rules:

* ``{`` and ``}`` are braces only as whole tokens; ``{`` ends the keys wherever it stands.
* A block without braces goes on to the end of the file or to a ``}``.
* An import is replaced in place; what it brings may import again, `MAX_EXPANSIONS` times in all.
* A block without keys is dropped; a Corefile without blocks is the built-in one.

It does not know what any plugin's words mean.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from pydns.corefile.cursor import Cursor
from pydns.corefile.imports import NoMatch, import_files, read_text
from pydns.corefile.keys import DEFAULT_PORT, Key, parse_key
from pydns.corefile.lexer import Token, tokenize
from pydns.corefile.line import CorefileError, Findings, Line, located_warning, near_name
from pydns.corefile.tree import build_lines
from pydns.corefile.variables import expand

MAX_EXPANSIONS = 10000
DEFAULT_FILE = "Corefile"
_NO_DEFAULTS = "as in CoreDNS, a variable can have no default in the Corefile"
_IMPORT_HINT = "CoreDNS gives snippets no arguments; a variable such as {$NAME} can carry one"


@dataclass(frozen=True)
class ServerBlock:
    """A server block: the zones it serves and its plugin lines in file order."""

    keys: tuple[Key, ...]
    lines: tuple[Line, ...]
    file: str
    line: int


@dataclass(frozen=True)
class Corefile:
    """A parsed Corefile.

    ``warnings`` grows while plugins read their lines (`Line.warn`).  ``problems`` has what does not parse, where the
    parser was told to go on; ``blocks`` is then what is left without it.
    """

    blocks: tuple[ServerBlock, ...]
    warnings: list[str] = field(default_factory=list, compare=False)
    problems: Sequence[CorefileError] = ()

    def digest(self) -> str:
        """SHA-512 of the parsed content, imports and line numbers included, in hex."""
        return hashlib.sha512(repr(self.blocks).encode(errors="surrogatepass")).hexdigest()


def load(
    path: str | None,
    *,
    environ: Mapping[str, str],
    plugins: Sequence[str],
    dns_port: int = DEFAULT_PORT,
    go_on: bool = False,
) -> Corefile:
    """Read and parse the file ``path`` as `parse` does; "stdin" is standard input.  Raises `CorefileError`.

    None is ``Corefile`` in the working directory, or the built-in Corefile when there is none.
    """
    return parse(_read(path), _name(path), environ=environ, plugins=plugins, dns_port=dns_port, go_on=go_on)


def _read(path: str | None) -> str:
    try:
        return sys.stdin.read() if path == "stdin" else read_text(path or DEFAULT_FILE)
    except OSError as error:
        if path is None and isinstance(error, FileNotFoundError):
            return ""
        how = "flag" if path else "default"
        reason = (error.strerror or str(error)).lower()
        message = f"loading Caddyfile via {how}: open {path or DEFAULT_FILE}: {reason}"
        raise CorefileError(message, path or DEFAULT_FILE, 0, kind="") from None


def _name(path: str | None) -> str:
    return "/dev/stdin" if path == "stdin" else path or DEFAULT_FILE


def parse(
    text: str,
    file: str = DEFAULT_FILE,
    *,
    environ: Mapping[str, str],
    plugins: Sequence[str],
    dns_port: int = DEFAULT_PORT,
    go_on: bool = False,
) -> Corefile:
    """Parse ``text``; raises the first `CorefileError`, or with ``go_on`` puts all that are found into ``problems``.

    ``plugins`` are the words that may start a plugin line; ``dns_port`` is the port of dns:// keys that name none.
    """
    warnings: list[str] = []
    findings = Findings()
    blocks = _Parser(text, file, environ, plugins, warnings, findings).run()
    if not blocks and not findings.errors:
        text = f".:{dns_port} {{\nwhoami\nlog\n}}\n"
        blocks = _Parser(text, DEFAULT_FILE, environ, (*plugins, "whoami", "log"), warnings, findings).run()
    corefile = Corefile(tuple(_server_blocks(blocks, dns_port, findings)), warnings, findings.errors)
    if not go_on:
        findings.close()
    return corefile


class _Block(NamedTuple):
    """A server block whose keys are still words."""

    keys: list[Token]
    lines: list[Line]


def _server_blocks(blocks: Iterable[_Block], dns_port: int, findings: Findings) -> Iterator[ServerBlock]:
    """The blocks with their keys read; one without any that can be read is left out."""
    for block in blocks:
        first = block.keys[0]
        keys: list[Key] = []
        for word in block.keys:
            with findings.part():
                keys += parse_key(word.text, word.file, word.line, dns_port)
        if keys:
            yield ServerBlock(tuple(keys), tuple(block.lines), first.file, first.line)


class _Parser(Cursor):
    """One pass over the tokens; imports change them in place.  It goes on after an unknown directive alone."""

    def __init__(
        self,
        text: str,
        file: str,
        environ: Mapping[str, str],
        plugins: Sequence[str],
        warnings: list[str],
        findings: Findings,
    ) -> None:
        super().__init__(tokenize(text, file), file)
        self.environ = environ
        self.plugins = plugins
        self.warnings = warnings
        self.findings = findings
        self.snippets: dict[str, list[Token]] = {}
        self.snippet_expansions = 0
        self.file_expansions = 0

    def run(self) -> list[_Block]:
        """The blocks that are whole; what is wrong goes into the findings."""
        blocks: list[_Block] = []
        with self.findings.part():
            self._read_blocks(blocks)
        return blocks

    def _read_blocks(self, blocks: list[_Block]) -> None:
        while self.advance():
            keys, at_end = self._keys()
            if not at_end and _is_snippet(keys):
                self._define_snippet(keys[0].text[1:-1])
                continue
            block = _Block(keys, [] if at_end else self._contents())
            if any(key.text == "}" for key in keys):
                self._warn("a '}' without '{' is taken as the zone '}'")
            if keys:
                blocks.append(block)
            elif not at_end:
                self._warn("a server block without zones is dropped")

    def _keys(self) -> tuple[list[Token], bool]:
        """The keys of a block, and whether the file ends with them."""
        keys: list[Token] = []
        another = False
        while True:
            word = self._expand(self.current)
            if word == "import" and self.on_new_line():
                self._import()
                continue
            if word == "{":
                if another:
                    raise self.error("Expected another address but had '{' - check for extra comma")
                return keys, False
            if word:
                another = word.endswith(",")
                keys.append(self.current._replace(text=word.removesuffix(",")))
            if not self.advance():
                if another:
                    raise self.error("Unexpected EOF")
                return keys, True
            if not another and self.on_new_line():
                return keys, False

    def _contents(self) -> list[Line]:
        """The plugin lines of a block, to its closing brace."""
        opening = self.current
        braces = opening.text == "{"
        if not braces:
            self.at -= 1
        lines: list[Line] = []
        closed = False
        while not closed and self.advance():
            closed = self.current.text == "}"
            if self.current.text == "import":
                self._import()
                self.at -= 1
            elif not closed:
                lines += self._plugin_lines()
        if braces and self.current.text != "}":
            raise self.unexpected("}")
        if braces and not closed:
            self._warn(f"the '{{' of line {opening.line} has no closing '}}'")
        return lines

    def _plugin_lines(self) -> list[Line]:
        """The lines of the plugin at the cursor; none for an unknown one, which is noted."""
        name = self._expand(self.current)
        if name in self.plugins:
            return build_lines(self._plugin_tokens(name), name, self.warnings)
        unknown = self.error(f"Unknown directive '{name}'", near_name(name, self.plugins))
        if name == "{":  # whose braces would be mistaken for the block's
            raise unknown
        self.findings.errors.append(unknown)
        self._plugin_tokens(name)
        return []

    def _plugin_tokens(self, name: str) -> list[Token]:
        tokens = [self.current._replace(text=name)]
        nesting = 0
        while self.advance():
            text = self.current.text
            if text == "{":
                nesting += 1
            elif not nesting and self.on_new_line():
                self.at -= 1  # read too far
                break
            elif text == "}" and not nesting:
                raise self.error("Unexpected '}' because no matching opening brace")
            elif text == "}":
                nesting -= 1
            elif text == "import" and self.on_new_line():
                self._import()
                self.at -= 1
                continue
            tokens.append(self._expand_in_place())
        if nesting:
            raise self.error("Unexpected EOF", "a '}' is missing")
        return tokens

    def _expand_in_place(self) -> Token:
        """The current token with its variables replaced; a value of several lines counts as such afterwards."""
        self.tokens[self.at] = self.current._replace(text=self._expand(self.current))
        return self.current

    def _expand(self, token: Token) -> str:
        try:
            return expand(token.text, partial(self._value, token))
        except ValueError as error:
            raise self.error(str(error)) from None

    def _value(self, token: Token, variable: str) -> str:
        if variable not in self.environ:
            hint = f" ({_NO_DEFAULTS})" if ":" in variable else ""
            self._warn(f"environment variable {variable} is not set{hint}", token)
        return self.environ.get(variable, "")

    def _warn(self, message: str, token: Token | None = None) -> None:
        """Note it once, for ``token`` or the current one."""
        place = token or self.current
        warning = located_warning(message, place.file, place.line)
        if warning not in self.warnings:
            self.warnings.append(warning)

    # Snippets and imports.

    def _define_snippet(self, name: str) -> None:
        if name in self.snippets:
            raise self.error(f"redeclaration of previously declared snippet {name}")
        body = self._snippet_body()
        if self._imports(body, name):
            raise self.error(f"maximum snippet import depth ({MAX_EXPANSIONS}) exceeded", f"{name} imports itself")
        self.snippets[name] = body

    def _snippet_body(self) -> list[Token]:
        if self.current.text != "{":
            raise self.unexpected("{")
        body: list[Token] = []
        nesting = 1
        while self.advance():
            nesting += {"{": 1, "}": -1}.get(self.current.text, 0)
            if not nesting:
                return body
            body.append(self.current)
        raise self.unexpected("}")

    def _imports(self, body: list[Token], name: str) -> bool:
        lines = zip([None, *body], body, body[1:], strict=False)
        return any(
            word.text == "import" and self._expand(argument) == name
            for before, word, argument in lines
            if before is None or (before.file, before.line) != (word.file, word.line)
        )

    def _import(self) -> None:
        """Replace the import at the cursor by what it names; the cursor is then at the first token of that."""
        if not self.advance_on_line():
            raise self.error(f"Wrong argument count or unexpected line ending after '{self.current.text}'")
        pattern = self._expand(self.current)
        if not pattern:
            raise self.error("Import requires a non-empty filepath")
        if self.advance_on_line():
            raise self.error("Import takes only one argument (glob pattern or file)", _IMPORT_HINT)
        self.splice(self._imported(pattern))

    def _imported(self, pattern: str) -> list[Token]:
        if pattern in self.snippets:
            self.snippet_expansions += 1
            if self.snippet_expansions > MAX_EXPANSIONS:
                raise self.error(f"maximum snippet import depth ({MAX_EXPANSIONS}) exceeded")
            return self.snippets[pattern]
        self.file_expansions += 1
        if self.file_expansions > MAX_EXPANSIONS:
            raise self.error(f"maximum file import depth ({MAX_EXPANSIONS}) exceeded")
        try:
            return import_files(pattern, self.current.file)
        except NoMatch as nothing:
            self._warn(str(nothing))
            return []
        except ValueError as error:
            raise self.error(str(error), near_name(pattern, self.snippets)) from None


def _is_snippet(keys: list[Token]) -> bool:
    return len(keys) == 1 and keys[0].text.startswith("(") and keys[0].text.endswith(")")

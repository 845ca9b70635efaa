"""One server of a case on its stage: own ports, files and upstreams; its Corefile filled in; started and asked.

Knows one server; what its replies mean is the runner's business.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from conformance.servers import subjects, upstream
from conformance.servers.ports import free_port
from conformance.servers.script import Script
from conformance.table.case import Case, Get
from conformance.table.patience import Patience
from conformance.wire.client import ask
from conformance.wire.message import Reply, read_reply
from conformance.wire.question import Question
from conformance.wire.transfer import is_transfer, transfer

PLACE = re.compile(r"\{(PORT\d*|API|DIR|UPSTREAM(?:\.\w+)?)\}")

PAGE_TIMEOUT = aiohttp.ClientTimeout(total=5)
"""Seconds a page over HTTP may take."""

VOLATILE = (
    (re.compile(r"(127\.0\.0\.\d+|\[::1\]):\d+"), r"\1:PORT"),
    (re.compile(r"\b\d+(\.\d+)?(e-\d+)?s\b"), "DURATION"),
)
"""What differs from run to run in a log line, and what stands for it in a case."""


@dataclass
class Stage:
    """A running server, or none yet. `places` maps a placeholder's name to its text."""

    subject: str
    folder: Path
    places: dict[str, str]
    environment: Mapping[str, str]
    upstreams: list[upstream.Upstream] = field(default_factory=list)
    running: subjects.Running | None = None
    log_read: int = 0
    patience: Patience = field(default_factory=Patience)

    def fill(self, text: str) -> str:
        """A text of the case with its placeholders replaced; a new {PORTn} gets a free port."""

        def place(match: re.Match[str]) -> str:
            name = match[1]
            if name.startswith("PORT"):
                return self.places.setdefault(name, str(free_port()))
            return self.places[name]

        return PLACE.sub(place, text)

    def port(self, number: int) -> int:
        """The port behind {PORT} (1), {PORT2}, …"""
        return int(self.places["PORT" if number == 1 else f"PORT{number}"])

    def write(self, name: str, text: str) -> Path:
        """Writes a file of the case, at once for whoever reads it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.new")
        unfinished.write_text(self.fill(text))
        return unfinished.replace(path)

    async def ask(self, question: Question) -> Reply:
        """The reply to a question, as `read_reply` has it."""
        bounded, port = self.patience.bounded(self.subject, question), self.port(question.port)
        reply = await transfer(bounded, port) if is_transfer(question) else read_reply(await ask(bounded, port))
        self.patience.note(self.subject, bounded, reply)
        return reply

    async def get(self, page: Get) -> tuple[int, str]:
        """Status and text of an HTTP page; status 0 and the reason when the connection fails or the page never ends."""
        url = f"http://127.0.0.1:{self.port(page.port)}{page.path}"
        try:
            async with aiohttp.ClientSession(timeout=PAGE_TIMEOUT) as session, session.get(url) as response:
                return response.status, await response.text(errors="replace")
        except aiohttp.ClientError as error:
            return 0, str(error)
        except TimeoutError:
            return 0, f"no whole page after {PAGE_TIMEOUT.total:g} s"

    def take_heard(self) -> list[str]:
        """What the upstreams were asked since the last call."""
        return [words for server in self.upstreams for words in server.take_heard()]

    def take_log(self) -> list[str]:
        """The lines logged since the last call, with ports and durations replaced by PORT and DURATION."""
        if self.running is None:
            return []
        text = self.running.log.read_text(errors="replace")
        new, self.log_read = text[self.log_read :], len(text)
        for pattern, word in VOLATILE:
            new = pattern.sub(word, new)
        return new.splitlines()


@asynccontextmanager
async def prepare(case: Case, subject: str, api_line: str, environment: Mapping[str, str]) -> AsyncIterator[Stage]:
    """A stage with its files and upstreams, the server not started yet."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"conformance-{Path(subject).name[:8]}-")))
        places = {"DIR": str(folder), "API": api_line}
        stage = Stage(subject, folder, places, {**case.environment, **environment})
        for name, rules in case.upstreams.items():
            server = upstream.Upstream(Script(rules))
            port = await stack.enter_async_context(upstream.serve(server))
            stage.upstreams.append(server)
            places[f"UPSTREAM.{name}" if name else "UPSTREAM"] = f"127.0.0.1:{port}"
        for name, text in case.files.items():
            stage.write(name, text)
        yield stage


@asynccontextmanager
async def perform(case: Case, subject: str, api_line: str, environment: Mapping[str, str]) -> AsyncIterator[Stage]:
    """A stage with the server running until the block ends. Raises `subjects.StartError`."""
    async with prepare(case, subject, api_line, environment) as stage:
        corefile = stage.write("Corefile", case.corefile)
        async with subjects.start(subject, corefile, stage.port(1), stage.environment) as stage.running:
            stage.take_log()
            yield stage

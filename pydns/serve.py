"""The server as a command: a Corefile, the command line's options and the process that runs them."""

from __future__ import annotations

import os
import pickle
import resource
from dataclasses import dataclass
from pathlib import Path

from pydns import build, loop, registry
from pydns.corefile.keys import DEFAULT_PORT
from pydns.corefile.parser import DEFAULT_FILE, Corefile
from pydns.http import HttpListeners, NoHttpListeners, import_early
from pydns.log import Log, take_over_libraries
from pydns.metrics import Metrics
from pydns.plugin import Process
from pydns.server.instance import Instance
from pydns.server.lifecycle import Server

_log = Log()


@dataclass(frozen=True)
class Options:
    """What the command line says.  ``conf`` is the Corefile's name, "stdin", or None for the default one."""

    conf: str | None = None
    dns_port: int = DEFAULT_PORT
    quiet: bool = False
    pidfile: Path | None = None
    kubeconfig: Path | None = None
    manifests: tuple[Path, ...] = ()


class Configuration:
    """Makes instances of the Corefile as it is on disk; what came through standard input stays as it was."""

    def __init__(self, options: Options, process: Process) -> None:
        self._options = options
        self._process = process
        self._stdin: Corefile | None = None

    def make(self) -> Instance:
        """Read the Corefile and make what it describes; its warnings are logged.  Raises CorefileError, ValueError."""
        corefile = self._stdin or build.load(self._options.conf, self._options.dns_port, go_on=True)
        if self._options.conf == "stdin":
            self._stdin = corefile
        if any(line.name in registry.HTTP for block in corefile.blocks for line in block.lines):
            import_early()
        instance = build.build(corefile, self._process)
        instance.recipe = pickle.dumps((corefile, self._options))
        for warning in corefile.warnings:
            _log.warning(warning)
        if not build.remembers():
            _log.info(f"{build.PACKET_CACHE}=0: every query passes the plugins")
        self._warn_of_unused_objects(instance)
        return instance

    def _warn_of_unused_objects(self, instance: Instance) -> None:
        given = [name for name in ("kubeconfig", "manifests") if getattr(self._options, name)]
        if given and not any("kubernetes" in block.plugins for block in instance.blocks):
            _log.warning(f"--{given[0]} is not used: no server block has kubernetes")


def serve(options: Options) -> int:
    """Run until a signal ends it; the exit status."""
    open_standard_streams()
    _raise_file_limit()
    take_over_libraries()
    return loop.run(_serve(options))


def open_standard_streams() -> None:
    """Put /dev/null in the place of those that are closed, as Go does: no socket may get their numbers."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def _raise_file_limit() -> None:
    """Allow as many open files as the process may have: each connection is one (Go programs do so by themselves)."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _serve(options: Options) -> int:
    process = _process(options, HttpListeners())
    configuration = Configuration(options, process)
    server = Server(process, configuration.make, quiet=options.quiet, pidfile=options.pidfile)
    return await server.run()


def _process(options: Options, http: HttpListeners) -> Process:
    return Process(
        metrics=Metrics(),
        http=http,
        corefile=options.conf or DEFAULT_FILE,
        kubeconfig=options.kubeconfig,
        manifests=options.manifests,
    )


def worker_instance(recipe: bytes, common: int) -> tuple[Process, Instance]:
    """What a worker process serves, made of its parent's `Instance.recipe`.  Raises CorefileError."""
    corefile, options = pickle.loads(recipe)
    process = _process(options, NoHttpListeners())
    process.worker = True
    process.common = common
    return process, build.build(corefile, process)

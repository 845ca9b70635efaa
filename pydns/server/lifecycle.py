"""The life of the process: start, signals, reload, stop.

Rules (CoreDNS ``caddy`` and ``coremain``):

1. Plugins start, then sockets open, then the banner says so on standard output.  What fails is told in one line on
   standard error, nothing stays half started, and the exit status is 1.
2. A reload builds and starts the new configuration beside the old one, and hands it the sockets of addresses that stay;
   what fails leaves the old one as it is.
3. SIGTERM and SIGINT go through lameduck, let queries in flight end and stop the plugins; a second SIGINT and SIGQUIT
   do not wait.  SIGUSR1 reloads.  SIGHUP is ignored, and SIGUSR2 (CoreDNS: upgrade in place) has a log line only.
4. After a fatal error nothing more is answered; the exit status is 1.

How a configuration is made is its caller's business.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pydns import garbage, log
from pydns.plugin import Process
from pydns.query import Address
from pydns.server.crew import STOPS, Crew
from pydns.server.endpoint import Endpoint
from pydns.server.instance import Instance, StartError
from pydns.server.tally import Adder
from pydns.tasks import Tasks
from pydns.version import version_lines
from pydns.workforce import Workers

_log = log.Log()

Errors = (StartError, ValueError, OSError)
"""What making or starting a configuration may raise: each tells what is wrong in one line."""


@dataclass
class Server:
    """Runs what ``make`` makes (again at each reload)."""

    process: Process
    make: Callable[[], Instance]
    quiet: bool = False
    pidfile: Path | None = None
    instance: Instance | None = None
    crew: Crew | None = None
    endpoints: dict[Address, Endpoint] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._changing = asyncio.Lock()
        self._exit: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._tasks = Tasks()
        self._stopping = False
        self._starting: Crew | None = None
        self._adder = Adder(self.process.metrics)
        self._reload_failed = self.process.metrics.counter(
            "reload_failed_total", "Counter of the number of failed reload attempts."
        )
        self._last_successful = self.process.metrics.gauge(
            "reload_last_successful",
            "Whether what is served is the Corefile as it was last loaded (1), or an older one (0).",
        )
        self._last_successful.set(1)
        self.process.fatal = self._fatal
        self.process.reload = self.reload

    async def run(self) -> int:
        """Serve until a signal says otherwise; the exit status."""
        self._trap_signals()
        starting: asyncio.Future[Any] = self._tasks.run(self.start())
        await asyncio.wait({starting, self._exit}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            try:
                await starting
            except Errors as error:
                print(error, file=sys.stderr)
                return 1
            garbage.set_apart()
        status = await self._exit
        if self.instance is not None and not self._stopping:
            await self.instance.stop()
        self._remove_pidfile()
        return status

    async def start(self) -> None:
        """Start plugins, open sockets, say so.  Raises one of `Errors`; nothing is started then."""
        instance = self._make()
        log.OUTPUT.debug = instance.debug
        await instance.start()
        try:
            self.endpoints = _bind(instance, {})
            self.crew = await self._serve(instance, self.endpoints.values())
        except Errors:
            _close(self.endpoints)
            await _discard(instance)
            raise
        self.process.workers = self.crew or Workers()
        self.instance = instance
        self._print(instance.banner())
        await instance.serving()
        self._print(version_lines())
        self._write_pidfile()

    def _make(self) -> Instance:
        self.process.common = self.process.random.getrandbits(64)
        return self.make()

    async def _serve(self, instance: Instance, endpoints: Iterable[Endpoint]) -> Crew | None:
        """Have everything answered by ``instance``: in this process, or by workers, which are returned."""
        if instance.workers:
            return await self._man(Crew(instance, list(endpoints), self.process, self._adder))
        for endpoint in endpoints:
            endpoint.listener = instance.listeners[endpoint.address]
            endpoint.serve()
        return None

    async def _man(self, crew: Crew) -> Crew:
        """Start a crew; it fails when the server is stopped meanwhile, whatever its workers wait for."""
        if self._stopping:
            raise StartError(STOPS)
        self._starting = crew
        try:
            await crew.start()
        finally:
            self._starting = None
        return crew

    async def reload(self) -> bool:
        """Replace the configuration by what ``make`` makes now; False, and nothing is changed, where that fails.

        Before the start and after the stop there is nothing to replace.
        """
        async with self._changing:
            if self.instance is None:
                return False
            _log.info("Reloading")
            try:
                new = self._make()
                await new.start()
            except Errors as error:
                return self._reload_fails(error)
            try:
                await self._replace(new)
            except Errors as error:
                await _discard(new)
                return self._reload_fails(error)
            garbage.set_apart()
            self._last_successful.set(1)
            _log.info("Reloading complete")
            return True

    def _reload_fails(self, error: Exception) -> bool:
        _log.error(f"Restart failed: {error}")
        self._reload_failed.inc()
        self._last_successful.set(0)
        return False

    async def _replace(self, new: Instance) -> None:
        """Have ``new`` serve, then retire what served before.  Raises one of `Errors`; nothing is changed then."""
        before = {address: len(endpoint.sets) for address, endpoint in self.endpoints.items()}
        added = _bind(new, self.endpoints)
        stays = {address: endpoint for address, endpoint in self.endpoints.items() if address in new.listeners}
        try:
            crew = await self._serve(new, [*stays.values(), *added.values()])
        except Errors:
            _close(added)
            _shrink(self.endpoints, before)
            raise
        await self._swap(new, crew, stays | added)

    async def _swap(self, new: Instance, crew: Crew | None, endpoints: dict[Address, Endpoint]) -> None:
        old, self.instance = self.instance, new
        old_crew, self.crew = self.crew, crew
        removed = [endpoint for address, endpoint in self.endpoints.items() if address not in endpoints]
        self.endpoints = endpoints
        self.process.workers = crew or Workers()
        log.OUTPUT.debug = new.debug
        for address, endpoint in endpoints.items():
            endpoint.leave(new.listeners[address].settings.sockets)
            if crew is not None:
                endpoint.pause()
            endpoint.listener = new.listeners[address]
        await new.serving()
        if old is not None:
            await _retire(old, removed, old_crew)
        _shrink(endpoints, {address: listener.settings.sockets for address, listener in new.listeners.items()})

    async def stop(self) -> None:
        """Lameduck, then the sockets, then the plugins; workers that do not serve yet end at once."""
        if self._starting is not None:
            self._starting.kill()
        async with self._changing:
            if self.instance is not None:
                await self.instance.lameduck()
                await _retire(self.instance, self.endpoints.values(), self.crew)
            self.instance = self.crew = None
            self.endpoints = {}

    # Signals.

    def _trap_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._on_sigterm)
        loop.add_signal_handler(signal.SIGINT, self._on_sigint)
        loop.add_signal_handler(signal.SIGQUIT, self._on_sigquit)
        loop.add_signal_handler(signal.SIGUSR1, self._on_sigusr1)
        loop.add_signal_handler(signal.SIGUSR2, _log.warning, "SIGUSR2: upgrading in place is not supported")
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _on_sigterm(self) -> None:
        _log.info("SIGTERM: Shutting down servers then terminating")
        self._shut_down()

    def _on_sigint(self) -> None:
        if self._stopping:
            _log.info("SIGINT: Force quit")
            self._quit(2)
        _log.info("SIGINT: Shutting down")
        self._shut_down()

    def _on_sigquit(self) -> None:
        _log.info("SIGQUIT: Quitting process immediately")
        self._quit(0)

    def _on_sigusr1(self) -> None:
        _log.info("SIGUSR1: Reloading")
        self._tasks.run(self.reload())

    def _shut_down(self) -> None:
        if not self._stopping:
            self._stopping = True
            self._tasks.run(self._stop_and_exit())

    async def _stop_and_exit(self) -> None:
        try:
            await self.stop()
        finally:
            self._set_exit(0)

    def _fatal(self) -> None:
        for endpoint in self.endpoints.values():
            endpoint.stop()
            endpoint.close()
        self.endpoints.clear()
        for crew in (self.crew, self._starting):
            if crew is not None:
                crew.kill()
        if self.instance is not None:
            self.instance.cancel()
        self._set_exit(1)

    def _set_exit(self, status: int) -> None:
        if not self._exit.done():
            self._exit.set_result(status)

    def _quit(self, status: int) -> NoReturn:
        self._remove_pidfile()
        os._exit(status)

    # Small things.

    def _print(self, lines: Iterable[str]) -> None:
        if not self.quiet:
            log.STDOUT("\n".join(lines))

    def _write_pidfile(self) -> None:
        if self.pidfile is not None:
            try:
                self.pidfile.write_text(f"{os.getpid()}\n")
            except OSError as error:
                _log.error(f"Could not write pidfile: {error}")

    def _remove_pidfile(self) -> None:
        if self.pidfile is not None:
            self.pidfile.unlink(missing_ok=True)


def _bind(instance: Instance, existing: Mapping[Address, Endpoint]) -> dict[Address, Endpoint]:
    """Endpoints that hold the addresses which no existing one has; all get the sockets that ``instance`` wants.

    Raises OSError; no address and no set of sockets is added then.
    """
    bound: dict[Address, Endpoint] = {}
    before = {address: len(endpoint.sets) for address, endpoint in existing.items()}
    try:
        for address, listener in instance.listeners.items():
            neighbours = [
                other
                for other in (*existing.values(), *bound.values())
                if other.address[1] == address[1] and other.address != address
            ]
            endpoint = existing.get(address)
            if endpoint is None:
                endpoint = bound[address] = Endpoint(address, listener)
                endpoint.bind(neighbours)
            endpoint.grow(listener.settings.sockets, neighbours)
    except OSError:
        _close(bound)
        _shrink(existing, before)
        raise
    return bound


def _shrink(endpoints: Mapping[Address, Endpoint], counts: Mapping[Address, int]) -> None:
    """Give up the sets of sockets behind the first ``counts`` of each endpoint."""
    for address, endpoint in endpoints.items():
        endpoint.leave(counts[address])
        endpoint.shrink(counts[address])


def _close(endpoints: Mapping[Address, Endpoint]) -> None:
    for endpoint in endpoints.values():
        endpoint.close()


async def _discard(instance: Instance) -> None:
    """Stop a configuration that could not take over, though it may have stood in for workers meanwhile."""
    await instance.finish()
    await instance.stop()


async def _retire(instance: Instance, endpoints: Iterable[Endpoint], crew: Crew | None) -> None:
    """Stop a configuration, its workers, and the endpoints that nobody takes over."""
    endpoints = list(endpoints)
    for endpoint in endpoints:
        endpoint.stop()
    if crew is not None:
        await crew.finish()
    await instance.finish()
    for endpoint in endpoints:
        endpoint.close()
    await instance.stop()

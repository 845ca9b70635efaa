"""Probing an upstream that failed."""

from __future__ import annotations

from pydns.upstream.health import Health
from pydns.upstream.reply import ExchangeError
from tests.support import Clock, settle


class Patient:
    """An upstream that replies to probes while ``is_up``."""

    def __init__(self, interval: float = 0.5) -> None:
        self.is_up = False
        self.probed_at: list[float] = []
        self.failures = 0
        self.clock = Clock(0)
        self.health = Health(self._probe, interval, self._failed, self.clock.sleep)

    async def _probe(self) -> None:
        self.probed_at.append(self.clock())
        if not self.is_up:
            raise ExchangeError("i/o timeout")

    def _failed(self) -> None:
        self.failures += 1


async def test_nobody_is_probed_without_reason() -> None:
    patient = Patient()
    await patient.clock.advance(60)
    assert patient.probed_at == []


async def test_probes_go_on_until_the_upstream_replies() -> None:
    patient = Patient()
    patient.health.check()
    await patient.clock.advance(1.2)
    assert (patient.probed_at, patient.health.fails, patient.failures) == ([0, 0.5, 1.0], 3, 3)
    patient.is_up = True
    await patient.clock.advance(10)
    assert (patient.probed_at[3:], patient.health.fails, patient.failures) == ([1.5], 0, 3)


async def test_one_check_at_a_time() -> None:
    patient = Patient()
    patient.health.check()
    patient.health.check()
    await settle()
    patient.health.check()
    await patient.clock.advance(0.5)
    assert patient.probed_at == [0, 0.5]
    await patient.health.stop()


async def test_a_new_failure_starts_a_new_check() -> None:
    patient = Patient()
    patient.is_up = True
    for _ in range(2):
        patient.health.check()
        await settle()
    assert patient.probed_at == [0, 0]


async def test_stop_ends_the_probes() -> None:
    patient = Patient()
    patient.health.check()
    await settle()
    await patient.health.stop()
    await patient.clock.advance(60)
    assert patient.probed_at == [0]


async def test_an_interval_of_zero_does_not_keep_the_processor_busy() -> None:
    patient = Patient(interval=0)
    patient.health.check()
    await patient.clock.advance(0.0105)
    assert patient.probed_at == [0, 0.01]
    await patient.health.stop()

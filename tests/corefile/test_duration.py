"""Durations as Go writes them; expectations from Go's ``time.Duration.String``."""

import pytest

from pydns.corefile.duration import format_duration
from pydns.corefile.types import parse_duration


@pytest.mark.parametrize(
    "seconds, text",
    [
        (0, "0s"),
        (1e-9, "1ns"),
        (1.1e-6, "1.1µs"),
        (0.0022, "2.2ms"),
        (0.5, "500ms"),
        (1, "1s"),
        (3.3, "3.3s"),
        (60, "1m0s"),
        (90, "1m30s"),
        (300, "5m0s"),
        (3600, "1h0m0s"),
        (5405.001, "1h30m5.001s"),
        (-2, "-2s"),
    ],
)
def test_format(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
    assert parse_duration(text) == pytest.approx(seconds)

"""Durations as Go writes them, for log lines that CoreDNS's users know: ``1m30s``, ``500ms``, ``0s``."""

_SMALL = ((1_000_000, "ms"), (1_000, "µs"), (1, "ns"))


def format_duration(seconds: float) -> str:
    """The text of Go's ``time.Duration.String`` for ``seconds``, to the nanosecond."""
    nanoseconds = round(abs(seconds) * 1e9)
    sign = "-" if seconds < 0 and nanoseconds else ""
    return sign + (_below_second(nanoseconds) if nanoseconds < 10**9 else _from_second(nanoseconds))


def _below_second(nanoseconds: int) -> str:
    for size, unit in _SMALL:
        if nanoseconds >= size:
            return _decimal(nanoseconds, size) + unit
    return "0s"


def _from_second(nanoseconds: int) -> str:
    minutes, rest = divmod(nanoseconds, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    seconds = _decimal(rest, 10**9) + "s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _decimal(value: int, unit: int) -> str:
    """``value / unit`` without trailing zeros."""
    whole, rest = divmod(value, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)

"""Times in words."""

from __future__ import annotations

import math

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def duration(seconds: float) -> str:
    """A time with its unit: `10 µs`; nothing where it isn't finite."""
    unit, name = next((each for each in _UNITS if seconds >= each[0] * (1 - 1e-9)), _UNITS[-1])
    return f"{seconds / unit:.3g} {name}" if math.isfinite(seconds) else ""

"""Numbers and points in the words of the page."""

from __future__ import annotations

from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.reporting.page.content import EXCLUDED, MEASURED, Point


def ratio(value: float) -> str:
    """A speed-up to three digits: measurements are no more precise."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def interval(gain: Speedup) -> str:
    """The bounds of a 95 % interval."""
    return f"{ratio(gain.low)} to {ratio(gain.high)}"


def percent(share: float) -> str:
    """A share of 1 as per cent."""
    return f"{100 * share:.0f} %"


def moment(text: str) -> str:
    """A time in ISO 8601 as day and minute, UTC."""
    return f"{text[:10]} {text[11:16]}".rstrip()


def point_text(point: Point) -> str:
    """A point of a curve in one line."""
    head = f"factor {point.factor}{' (best)' if point.is_best else ''}"
    if point.speedup is None:
        return f"{head}: {'left out' if point.state == EXCLUDED else 'failed'}, {point.reason}"
    return f"{head}: {gain_text(point.speedup)}; {point.configuration}"


def gain_text(gain: Speedup) -> str:
    """A speed-up with its interval, which factor 1 of its own curve does not have."""
    if gain.low == gain.high == gain.ratio == 1:
        return "1 by definition"
    return f"{ratio(gain.ratio)} times as fast ({interval(gain)})"


def is_tie(gain: Speedup) -> bool:
    """Return True if the speed-up can't be told from 1."""
    return not gain.significant


def state_word(point: Point) -> str:
    """Return in a word why a point has no speed-up."""
    return {MEASURED: "", EXCLUDED: "left out"}.get(point.state, "failed")

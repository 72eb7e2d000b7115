"""Selection of the baseline: the fastest uncoarsened configuration, which every speed-up is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.opencl_bench.records.measurement import Invalidity, Measurement
from coarsen.opencl_bench.sweep.confirmation import speedup
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class Selected:
    """The result of a selection.

    Attributes:
        baseline: the fastest uncoarsened configuration; None where none runs correctly.
        problem: why there is none; empty where there is one.
        rows: of all uncoarsened configurations, each timed against the first that ran.
    """

    baseline: Variant | None
    problem: str
    rows: tuple[Measurement, ...]


def select_baseline(measurer: RowMeasurer, candidates: Sequence[Variant]) -> Selected:
    """Measure uncoarsened configurations, and select the fastest.

    Each is timed against the first that ran: comparisons across time would compare the machine's moods.

    Args:
        measurer: gives the rows.
        candidates: uncoarsened ones that no constraint rules out.

    Raises:
        DeviceError: the device can't be opened.
        InvalidInputError: the kernel doesn't compile, or isn't what it was.
    """
    first: Variant | None = None
    rows: list[Measurement] = []
    for candidate in candidates:
        row = measurer.selected(candidate, first or candidate)
        rows.append(row)
        if row.invalidity is Invalidity.CORRECT and first is None:
            first = candidate
    correct = [row for row in rows if row.invalidity is Invalidity.CORRECT]
    if not correct:
        problem = rows[0].reason if rows else "no uncoarsened configuration fits the device"
        return Selected(None, problem, tuple(rows))
    return Selected(max(correct, key=speedup).candidate, "", tuple(rows))

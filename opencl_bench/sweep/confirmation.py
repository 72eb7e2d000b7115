"""Which configurations of a sweep are confirmed, each in several processes, before one is named the best.

    rows of a sweep ─▶ the fastest coarsened ones, the baseline, the fastest launch beside it ─▶ 3 new processes

In each process each of them is timed in turns with the baseline, which is loaded anew there: how fast code runs
changes from process to process with the memory that it gets, and the largest of many noisy numbers is too large.
What the baseline has against itself says how far such a ratio can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.variant.variant import Variant

# So many processes; in each so many coarsened configurations and uncoarsened launches, the baseline among these.
PROCESSES = 3
CANDIDATES = 3
LAUNCHES = 2


def to_confirm(rows: Iterable[Measurement], baseline: Variant) -> tuple[Variant, ...]:
    """Return the configurations that are to be confirmed.

    Args:
        rows: of comparisons with the baseline.
        baseline: the launch that they were timed against.
    """
    correct = [row for row in rows if row.invalidity is Invalidity.CORRECT and row.candidate != baseline]
    ordered = sorted(correct, key=speedup, reverse=True)
    coarsened = [row.candidate for row in ordered if not row.candidate.is_original]
    launches = [baseline, *(row.candidate for row in ordered if row.candidate.is_original)]
    return (*coarsened[:CANDIDATES], *launches[:LAUNCHES])


def confirm(measurer: RowMeasurer, candidates: Sequence[Variant], baseline: Variant) -> tuple[Measurement, ...]:
    """Time these once more in each of several new processes; what fails in one is not timed in the next.

    Returns the rows of all.

    Args:
        measurer: gives the rows.
        candidates: see `to_confirm`.
        baseline: the launch that all are timed against.

    Raises:
        DeviceError: the device can't be opened, or the baseline does not run on it any more.
        InvalidInputError: the kernel isn't what it was.
    """
    confirmed: list[Measurement] = []
    for invocation in range(PROCESSES):
        if not all(measurer.is_confirmed(each, baseline, invocation) for each in candidates):
            measurer.start_afresh()
        rows = [measurer.confirmed(each, baseline, invocation) for each in in_turn(candidates, invocation)]
        confirmed += rows
        failed = {row.candidate for row in rows if row.invalidity is not Invalidity.CORRECT}
        candidates = [candidate for candidate in candidates if candidate not in failed]
    return tuple(confirmed)


def in_turn(candidates: Sequence[Variant], invocation: int) -> tuple[Variant, ...]:
    """Return the configurations in the order of a process: another one begins in each."""
    start = invocation % len(candidates) if candidates else 0
    return (*candidates[start:], *candidates[:start])


def most_rows(coarsened: int, launches: int) -> int:
    """Return how many rows are confirmed at most.

    Args:
        coarsened: how many coarsened configurations can run.
        launches: how many uncoarsened ones, the baseline among them.
    """
    return PROCESSES * (min(coarsened, CANDIDATES) + min(launches, LAUNCHES))


def speedup(row: Measurement) -> float:
    """Return how many times as fast as its baseline a correct row was."""
    return median(row.baseline_nanoseconds) / max(median(row.nanoseconds), 1.0)

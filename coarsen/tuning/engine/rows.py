"""The one loop of all sweeps: select the baseline, measure what is proposed against it, confirm the best.

    uncoarsened configurations ──▶ the best of them is the baseline
    what is proposed           ──▶ verified, timed against the baseline ──▶ store
    the best of these          ──▶ confirmed in several new processes (below)

Every point of a space is proposed by `measure_points`, what a search asks for by `search_sweep`. Where versions of
a kernel are compared with a default one, that is the baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.tuning.engine.finalists import PROCESSES, confirm
from coarsen.tuning.engine.plan import Point
from coarsen.tuning.engine.row_measurer import RowMeasurer, SweepContext
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.records.measurement import Invalidity, Measurement
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
    """Measure uncoarsened configurations, and select the fastest; or the default version, where there is one.

    Each is timed against the first that ran: comparisons across time would compare the machine's moods.

    Args:
        measurer: gives the rows.
        candidates: uncoarsened ones that no constraint rules out.

    Raises:
        DeviceError: the device can't be opened.
        InvalidInputError: the kernel doesn't compile, or isn't what it was.
    """
    default = measurer.context.default
    if default is not None:
        row = measurer.compared(default, default)
        if row.invalidity is Invalidity.CORRECT:
            return Selected(default, "", (row,))
        return Selected(None, f"the default version, {default}: {row.invalidity}: {row.reason}", (row,))
    first: Variant | None = None
    rows: list[Measurement] = []
    for candidate in candidates:
        row = measurer.selected(candidate, first or candidate)
        rows.append(row)
        if row.invalidity is Invalidity.CORRECT and first is None:
            first = candidate
    correct = [row for row in rows if row.invalidity is Invalidity.CORRECT]
    if not correct:
        none = "no local size to try fits the kernel's rules and the device: give others (--space local-size)"
        problem = rows[0].reason if rows else none
        return Selected(None, problem, tuple(rows))
    return Selected(max(correct, key=speedup).candidate, "", tuple(rows))


# Measures configurations against the baseline that was selected, and returns their rows.
Propose = Callable[[RowMeasurer, Selected], Sequence[Measurement]]


def measure_best(
    context: SweepContext, name: str, launches: Sequence[Variant], rows: int, propose: Propose
) -> str:
    """Measure what is proposed and confirm the best; return why there is no baseline, empty where there is one.

    Args:
        context: what measuring works with.
        name: of the benchmark.
        launches: the uncoarsened configurations that may be the baseline.
        rows: how many rows there will be at most.
        propose: measures configurations against the baseline.

    Raises:
        DeviceError: the device can't be opened, or the baseline does not run on it any more.
        InvalidInputError: the kernel doesn't compile, or isn't what it was.
    """
    context.observer.planned(name, context.device, rows)
    measurer = RowMeasurer(context)
    selected = select_baseline(measurer, launches)
    if selected.baseline is None:
        return selected.problem
    measured = propose(measurer, selected)
    if context.confirms:
        best = to_confirm(measured, selected.baseline)
        confirm(best, selected.baseline, _afresh(measurer, best, selected.baseline))
    return ""


def measure_points(context: SweepContext, space: Sequence[Point]) -> str:
    """Measure every point of a space; what breaks a constraint becomes a row that says so.

    Returns and raises as `measure_best`; also raises InvalidInputError where there are no points.
    """
    if not space:
        raise InvalidInputError("there is no configuration to measure")
    default = context.default
    others = [point for point in space if point.candidate != default]
    feasible = [point.candidate for point in others if point.violation is None]
    launches = [candidate for candidate in feasible if candidate.is_original] if default is None else [default]
    confirmed = most_rows(len(feasible) - len(launches), len(launches)) if context.confirms else 0

    def propose(measurer: RowMeasurer, selected: Selected) -> Sequence[Measurement]:
        assert selected.baseline is not None
        measurer.compile_ahead(feasible, selected.baseline)
        return [_compared(measurer, point, selected.baseline) for point in others]

    name = context.subjects.of(space[0].candidate.definitions).benchmark
    return measure_best(context, name, launches, len(launches) + len(others) + confirmed, propose)


def _compared(measurer: RowMeasurer, point: Point, baseline: Variant) -> Measurement:
    if point.violation is not None:
        return measurer.excluded(point.candidate, baseline, point.violation)
    return measurer.compared(point.candidate, baseline)


# Which configurations of a sweep are confirmed, each in several processes, before one is named the best.
#
#     rows of a sweep ─▶ the fastest coarsened ones, the baseline, the fastest launch beside it ─▶ 3 new processes
#
# In each process each of them is timed in turns with the baseline, which is loaded anew there: how fast code runs
# changes from process to process with the memory that it gets, and the largest of many noisy numbers is too large.
# What the baseline has against itself says how far such a ratio can be trusted.

# In each process so many coarsened configurations and uncoarsened launches, the baseline among these.
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


def _afresh(measurer: RowMeasurer, candidates: Sequence[Variant], baseline: Variant) -> Iterator[RowMeasurer]:
    """The measurer with a new process each time, as far as the store hasn't got all rows of that process."""
    for invocation in range(PROCESSES):
        if not all(measurer.is_confirmed(each, baseline, invocation) for each in candidates):
            measurer.start_afresh()
        yield measurer


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

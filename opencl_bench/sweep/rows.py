"""The one loop of all sweeps: select the baseline, measure what is proposed against it, confirm the best.

    uncoarsened configurations ──▶ the best of them is the baseline
    what is proposed           ──▶ verified, timed against the baseline ──▶ store
    the best of these          ──▶ confirmed in several new processes (see `confirmation`)

Every point of a space is proposed by `measure_points`, what a search asks for by `search_sweep`; versions of a
kernel are measured by `measure_against_default`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement
from coarsen.opencl_bench.sweep.confirmation import confirm, most_rows, to_confirm
from coarsen.opencl_bench.sweep.points import Point
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.opencl_bench.sweep.selection import Selected, select_baseline
from coarsen.opencl_bench.sweep.sweep_context import SweepContext
from coarsen.variant.variant import Variant

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
        confirm(measurer, to_confirm(measured, selected.baseline), selected.baseline)
    return ""


def measure_points(context: SweepContext, space: Sequence[Point]) -> str:
    """Measure every point of a space; what breaks a constraint becomes a row that says so.

    Returns and raises as `measure_best`; also raises InvalidInputError where there are no points.
    """
    if not space:
        raise InvalidInputError("there is no configuration to measure")
    feasible = [point.candidate for point in space if point.violation is None]
    launches = [candidate for candidate in feasible if candidate.is_original]
    confirmed = most_rows(len(feasible) - len(launches), len(launches)) if context.confirms else 0

    def propose(measurer: RowMeasurer, selected: Selected) -> Sequence[Measurement]:
        assert selected.baseline is not None
        measurer.compile_ahead(feasible, selected.baseline)
        return [_compared(measurer, point, selected.baseline) for point in space]

    name = context.subjects.of(space[0].candidate.definitions).benchmark
    return measure_best(context, name, launches, len(launches) + len(space) + confirmed, propose)


def measure_against_default(context: SweepContext, versions: Sequence[Point]) -> str:
    """Measure versions of a kernel at one input, each verified against and timed in turns with the default one.

    So all rows of an input are ratios to the same version in the same process. Where the default version doesn't
    run, no other is measured: there would be nothing to compare it with.

    Args:
        context: what measuring works with; it says which version is the default.
        versions: points, the default one among them or not.

    Returns:
        Why the default version doesn't run, empty where it does.

    Raises:
        DeviceError: the device can't be opened, or the default version does not run on it any more.
        InvalidInputError: the context names no default version; the kernel doesn't compile, or isn't what it was.
    """
    default = context.default
    if default is None:
        raise InvalidInputError("say which version is the default one, which others are compared with")
    measurer = RowMeasurer(context)
    others = [point for point in versions if point.candidate != default]
    name = context.subjects.of(default.definitions).benchmark
    context.observer.planned(name, context.device, 1 + len(others))
    feasible = [point.candidate for point in others if point.violation is None]
    measurer.compile_ahead([default, *feasible], default)
    row = measurer.compared(default, default)
    if row.invalidity is not Invalidity.CORRECT:
        return f"the default version, {default}: {row.invalidity}: {row.reason}"
    for point in others:
        _compared(measurer, point, default)
    return ""


def _compared(measurer: RowMeasurer, point: Point, baseline: Variant) -> Measurement:
    if point.violation is not None:
        return measurer.excluded(point.candidate, baseline, point.violation)
    return measurer.compared(point.candidate, baseline)

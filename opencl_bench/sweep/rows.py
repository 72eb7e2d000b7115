"""Measures the points of a space one after the other and stores each as a row, whatever happens.

uncoarsened configurations ──▶ the best of them is the baseline
every configuration        ──▶ verified, timed against the baseline ──▶ store
the best of these          ──▶ confirmed in several new processes (see `confirmation`)
"""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.sweep.confirmation import confirm, most_rows, to_confirm
from coarsen.opencl_bench.sweep.points import Point
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.opencl_bench.sweep.selection import select_baseline
from coarsen.opencl_bench.sweep.sweep_context import SweepContext
from coarsen.variant.variant import Variant


class RowSweep:
    """One run over a space."""

    def __init__(self, context: SweepContext) -> None:
        self._context = context
        self._measurer = RowMeasurer(context)

    def run(self, space: Sequence[Point]) -> str:
        """Measure all; returns why there is no baseline, empty where there is one.

        Raises:
            DeviceError: the device can't be opened, or the baseline does not run on it any more.
            InvalidInputError: the kernel doesn't compile, or isn't what it was; there are no points.
        """
        if not space:
            raise InvalidInputError("there is no configuration to measure")
        uncoarsened = [p.candidate for p in space if p.candidate.is_original and p.violation is None]
        name = self._context.subjects.of(space[0].candidate.definitions).benchmark
        coarsened = sum(not p.candidate.is_original and p.violation is None for p in space)
        confirmed = most_rows(coarsened, len(uncoarsened)) if self._context.confirms else 0
        self._context.observer.planned(name, self._context.device, len(uncoarsened) + len(space) + confirmed)
        selected = select_baseline(self._measurer, uncoarsened)
        baseline = selected.baseline
        if baseline is None:
            return selected.problem
        feasible = [point.candidate for point in space if point.violation is None]
        self._measurer.compile_ahead(feasible, baseline)
        rows = [self._compared(point, baseline) for point in space]
        if self._context.confirms:
            confirm(self._measurer, to_confirm(rows, baseline), baseline)
        return ""

    def _compared(self, point: Point, baseline: Variant) -> Measurement:
        if point.violation is not None:
            return self._measurer.excluded(point.candidate, baseline, point.violation)
        return self._measurer.compared(point.candidate, baseline)

"""Measures versions of a kernel at one input, each verified against and timed in turns with the default one.

the default version    ──▶ timed against itself: that it runs, and how long it takes
every other version    ──▶ verified, timed against the default one ──▶ store

So all rows of an input are ratios to the same version in the same process.
"""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Invalidity
from coarsen.opencl_bench.sweep.points import Point
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.opencl_bench.sweep.sweep_context import SweepContext


class VersionRows:
    """One run over versions.

    Args:
        context: what it works with; it says which version is the default.

    Raises:
        InvalidInputError: it says none.
    """

    def __init__(self, context: SweepContext) -> None:
        if context.default is None:
            raise InvalidInputError("say which version is the default one, which others are compared with")
        self._default = context.default
        self._context = context
        self._measurer = RowMeasurer(context)

    def run(self, versions: Sequence[Point]) -> str:
        """Measure all; return why the default version doesn't run, empty where it does.

        Where it doesn't, no other version is measured: there would be nothing to compare it with.

        Raises:
            DeviceError: the device can't be opened, or the default version does not run on it any more.
            InvalidInputError: the kernel doesn't compile, or isn't what it was.
        """
        others = [point for point in versions if point.candidate != self._default]
        name = self._context.subjects.of(self._default.definitions).benchmark
        self._context.observer.planned(name, self._context.device, 1 + len(others))
        feasible = [point.candidate for point in others if point.violation is None]
        self._measurer.compile_ahead([self._default, *feasible], self._default)
        row = self._measurer.compared(self._default, self._default)
        if row.invalidity is not Invalidity.CORRECT:
            return f"the default version, {self._default}: {row.invalidity}: {row.reason}"
        for point in others:
            if point.violation is not None:
                self._measurer.excluded(point.candidate, self._default, point.violation)
            else:
                self._measurer.compared(point.candidate, self._default)
        return ""

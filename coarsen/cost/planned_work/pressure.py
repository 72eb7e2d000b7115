"""Live words of a kernel that is coarsened along several axes, from its register pressure along each."""

from __future__ import annotations

import math

from coarsen.cost.plan_walk import planned_blocks
from coarsen.cost.planned_work.axes import Axes, Axis
from coarsen.cost.register_pressure import RegisterPressure
from coarsen.variant.coarsening import Configuration


class Pressure:
    """The register pressure of a kernel's configurations.

    Args:
        axes: of the kernel.
        alone: the words that are live in the original kernel.
    """

    def __init__(self, axes: Axes, alone: int) -> None:
        self._axes = axes
        self._alone = alone
        self._along: dict[Axis, RegisterPressure] = {}
        self._found: dict[tuple[Axis, int], int] = {}

    def of(self, chosen: Configuration) -> int:
        """Return the words that are live at once: along several axes each multiplies what it is alone."""
        growth = (self._at(Axis.of(each), each.factor) / max(1, self._alone) for each in chosen)
        return round(max(1, self._alone) * math.prod(growth)) if chosen else self._alone

    def _at(self, axis: Axis, factor: int) -> int:
        if (axis, factor) not in self._found:
            if axis not in self._along:
                self._along[axis] = RegisterPressure(planned_blocks(self._axes.analysed(axis)), rescaled=True)
            self._found[axis, factor] = self._along[axis].maximum(factor)
        return self._found[axis, factor]

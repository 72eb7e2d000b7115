"""The replicas of an id: values that stand the same distance apart."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.ir.graph.operands import Operand


@dataclass(frozen=True, slots=True)
class Progression:
    """Values that stand the same distance apart: the first and the distance, of one type."""

    first: Operand
    distance: Operand


@dataclass(frozen=True, slots=True)
class Replicas:
    """What stands for an id in each replica, and the distance from one to the next."""

    values: tuple[Operand, ...]
    distance: Operand

    @property
    def progression(self) -> Progression:
        """The first and the distance."""
        return Progression(self.values[0], self.distance)

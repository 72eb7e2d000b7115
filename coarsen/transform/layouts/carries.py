"""Coordinates built from sums that may be beside their row: what is too little or too much is carried.

column - 1 of rows of W     before = column - 1 < 0
                            column = before ? W - 1 : column - 1
                            row    = before ? row - 1 : row

A sum is beside its row by less than the row's length (`digits.py`), so that one row up or down mends it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Value
from coarsen.transform.layouts.demands import Coordinate
from coarsen.transform.layouts.operand_arithmetic import OperandArithmetic
from coarsen.transform.names import own


@dataclass(frozen=True)
class _Carry:
    """What is carried to a slower dimension: 1 is taken from it, or added, where that holds; None for never."""

    taken: Operand | None = None
    added: Operand | None = None


class Carries:
    """Builds coordinates at one place of a function.

    Args:
        build: puts them there.
        operand_of: returns what a value is in that function.
    """

    def __init__(self, build: Builder, operand_of: Callable[[Value], Operand]) -> None:
        self._build = build
        self._arithmetic = OperandArithmetic(build)
        self._operand_of = operand_of

    def coordinates(self, coordinates: Sequence[Coordinate], extents: Sequence[Operand]) -> list[Operand]:
        """Return the coordinates of an element of the array, each less than its extent.

        Args:
            coordinates: proved ones, the slowest dimension first.
            extents: the array's.
        """
        found: list[Operand] = []
        carry = _Carry()
        for dimension in reversed(range(len(coordinates))):
            coordinate = coordinates[dimension]
            total = self._with_carry(self._total(coordinate), carry)
            if dimension:
                total, carry = self._mended(total, coordinate, carry, extents[dimension])
            found.insert(0, total)
        return found

    def _total(self, coordinate: Coordinate) -> Operand:
        value = coordinate.value
        if not value.is_local:
            return self._arithmetic.number(int(value.text) + coordinate.shift)
        wide = self._arithmetic.resized(Opcode.ZEXT, self._operand_of(value))
        return self._arithmetic.plus(wide, self._arithmetic.number(coordinate.shift))

    def _with_carry(self, total: Operand, carry: _Carry) -> Operand:
        for condition, number in ((carry.taken, -1), (carry.added, 1)):
            if condition is not None:
                changed = self._arithmetic.plus(total, self._arithmetic.number(number))
                total = self._build.select(condition, changed, total, own("position"))
        return total

    def _mended(
        self, total: Operand, coordinate: Coordinate, carry: _Carry, extent: Operand
    ) -> tuple[Operand, _Carry]:
        """Return a sum in its row, and what is carried instead."""
        lowest = coordinate.least + coordinate.shift - (carry.taken is not None)
        highest = coordinate.shift - coordinate.room + (carry.added is not None)
        taken, added = None, None
        mended = total
        if lowest < 0:
            taken = self._build.compare("slt", total, self._arithmetic.number(0), own("before"))
            moved = self._arithmetic.computed(Opcode.ADD, total, extent)
            mended = self._build.select(taken, moved, mended, own("position"))
        if highest > 0:
            added = self._build.compare("sge", total, extent, own("beyond"))
            moved = self._arithmetic.computed(Opcode.SUB, total, extent)
            mended = self._build.select(added, moved, mended, own("position"))
        return mended, _Carry(taken, added)

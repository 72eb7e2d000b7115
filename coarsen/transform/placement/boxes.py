"""A box of an array's elements that a work-group reads: its axes, and which cells each read takes, and when."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.loop_counters import Counter
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import IntegerType


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a box: what a step multiplies in the core, its first cell, and how many it has."""

    factor: Polynomial
    least: int
    extent: int


@dataclass(frozen=True, slots=True)
class Span:
    """The cells of a read along an axis: `offset`, and a sum of ids in the group and counters, each so many times.

    Attributes:
        offset: in cells.
        ids: dimensions, each with the cells that a step of the id makes.
        counters: each with the cells that a step of it makes.
    """

    offset: int
    ids: tuple[tuple[int, int], ...]
    counters: tuple[tuple[Counter, int], ...]

    @property
    def least(self) -> int:
        """The first cell."""
        return self.offset + sum(scale * counter.least for counter, scale in self.counters)

    def greatest(self, sizes: Sequence[int]) -> int:
        """Return the last cell in a work-group of a size."""
        return self.offset + sum(
            (scale * (sizes[dimension] - 1) for dimension, scale in self.ids),
            start=sum(scale * counter.greatest for counter, scale in self.counters),
        )

    def cells(self, sizes: Sequence[int]) -> NDArray[np.int64]:
        """Return the cells in a work-group of a size, ascending."""
        found = np.array([self.offset])
        steps = [(np.arange(sizes[dimension]), scale) for dimension, scale in self.ids]
        steps += [(np.arange(each.least, each.greatest + 1), scale) for each, scale in self.counters]
        for values, scale in steps:
            found = np.unique(found[:, None] + scale * values[None, :])
        return found

    @property
    def carrier(self) -> tuple[int | str, int]:
        """The id or counter (a dimension, a name) that makes the shortest steps, and the cells of one."""
        known: list[tuple[int | str, int]] = [*self.ids, *((each.phi, scale) for each, scale in self.counters)]
        return min(known, key=lambda each: each[1])


_CLAMPING = frozenset({"min", "max", "clamp"})


def is_clamp(instruction: Instruction) -> bool:
    """Return True for a call of `min`, `max` or `clamp` of whole numbers."""
    is_whole = instruction.opcode is Opcode.CALL and isinstance(instruction.type, IntegerType)
    return is_whole and builtin_name(instruction.callee) in _CLAMPING


def is_signed(extension: Instruction) -> bool:
    """Return True for an extension of a number with its sign, or of one that has none where it's executed."""
    return extension.opcode is Opcode.SEXT or "nneg" in extension.flags


Conditions = tuple[tuple[str, bool], ...]
"""Names of conditions on the way to a read, each with what it must be; the first is the outermost."""


@dataclass(frozen=True, slots=True)
class Taking:
    """The cells that a read takes, along each axis, in the work-items that come to it.

    Attributes:
        spans: along each axis.
        conditions: that a work-item must meet; each axis has one of the ids that they are made of, if it has any.
        counters: of those that the conditions are made of, the one value for which this holds, by name.
    """

    spans: tuple[Span, ...]
    conditions: Conditions = ()
    counters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Footprint:
    """A box.

    Attributes:
        axes: of it.
        spans: of each read, along each axis.
        model: the number of the read by whose address cells are found: it varies along every axis.
        takings: the cells that reads take, and by which work-items.
    """

    axes: tuple[Axis, ...]
    spans: tuple[tuple[Span, ...], ...]
    model: int
    takings: tuple[Taking, ...]

    @property
    def cells(self) -> int:
        """Return their number."""
        return math.prod(axis.extent for axis in self.axes)

    def places(self, spans: Sequence[Span], ids: Sequence[int]) -> list[int]:
        """Return where along each axis a read takes its first cell, from 0 on, for ids in the group."""
        return [
            span.least - axis.least + sum(scale * ids[dimension] for dimension, scale in span.ids)
            for axis, span in zip(self.axes, spans, strict=True)
        ]

    def is_read_whole(self, sizes: Sequence[int]) -> bool:
        """Return True if a work-group of a size reads every cell, whatever the conditions on the way are."""
        read = np.zeros([axis.extent for axis in self.axes], dtype=np.bool_)
        for taking in self.takings:
            if taking.conditions:
                continue
            along = zip(self.axes, taking.spans, strict=True)
            read[np.ix_(*(span.cells(sizes) - axis.least for axis, span in along))] = True
        return bool(read.all())

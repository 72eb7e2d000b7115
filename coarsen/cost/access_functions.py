"""A kernel's memory accesses as functions of the sizes of its launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.analysis.access_footprints import AccessFootprint, access_footprints
from coarsen.analysis.algebra.affine import INDIRECT, Access
from coarsen.analysis.executions import Executions
from coarsen.analysis.expressions import Expression, Quantity, evaluate
from coarsen.analysis.loop_counts import LoopCounts
from coarsen.cost.sibling_accesses import nearest_siblings
from coarsen.cost.work_counts import AccessCount
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel

ASSUMED_STRIDE = 4096
"""Bytes that stand for a regular stride that no size says: far enough that neighbours share nothing."""


@dataclass(frozen=True, slots=True)
class AccessFunction:
    """A memory access: how often a work-item makes it, and where it goes.

    Attributes:
        count: times for each work-item.
        footprint: its strides and the bytes that it touches.
        replica_stride: bytes to the nearest access that differs by a constant alone; None where there is none.
        dependent_on_load: whether its address was loaded.
    """

    count: Expression
    footprint: AccessFootprint
    replica_stride: int | None
    dependent_on_load: bool

    @property
    def access(self) -> Access:
        """The access."""
        return self.footprint.access

    @property
    def names(self) -> frozenset[str]:
        """The sizes that it depends on."""
        footprint = self.footprint
        touched = (footprint.of_item, footprint.of_group, footprint.of_launch)
        parts = (self.count, *footprint.strides, *footprint.iteration_strides.values(), *touched)
        return frozenset().union(*(part.names for part in parts if part is not None))

    def at(self, sizes: Mapping[str, Quantity]) -> AccessCount:
        """Return the access in numbers. Raises InvalidInputError for sizes that give none."""
        footprint = _value(self.footprint.of_launch, sizes)
        return AccessCount(
            count=evaluate(self.count, sizes),
            bytes=self.access.access_bytes,
            address_space=self.access.address_space,
            lane_stride=self._lane_stride(sizes),
            replica_stride=self.replica_stride,
            store=self.access.is_store,
            footprint=None if footprint is None else float(footprint),
            dependent_on_load=self.dependent_on_load,
        )

    def _lane_stride(self, sizes: Mapping[str, Quantity]) -> int | None:
        if self.access.stride_along(0) is INDIRECT:
            return None
        stride = _value(self.footprint.strides[0], sizes)
        return ASSUMED_STRIDE if stride is None else round(stride)


def accesses_of(counts: LoopCounts, runs: Executions) -> tuple[AccessFunction, ...]:
    """Return a kernel's accesses to memory of any kind, in the order of its instructions."""
    found = access_footprints(counts)
    siblings = nearest_siblings([footprint.access for footprint in found])
    return tuple(
        AccessFunction(
            runs.of(footprint.access.block),
            footprint,
            siblings.get(index),
            _is_loaded(counts, footprint.access),
        )
        for index, footprint in enumerate(found)
    )


def _value(expression: Expression | None, sizes: Mapping[str, Quantity]) -> Quantity | None:
    """Return an expression's value, None where it or one of its names has none."""
    if expression is None or not expression.names <= sizes.keys():
        return None
    return evaluate(expression, sizes)


def _is_loaded(counts: LoopCounts, access: Access) -> bool:
    """Return True if anything that an address is computed from was loaded."""
    kernel = counts.forms.kernel
    names = (symbol.removeprefix("%") for symbol in counts.forms.symbols.origins(access.form))
    pending = [kernel.definition[name] for name in names if name in kernel.definition]
    seen: set[str] = set()
    while pending:
        instruction = pending.pop()
        if instruction.opcode == "load":
            return True
        if instruction.name not in seen:
            seen.add(instruction.name)
            pending.extend(_sources(kernel, instruction))
    return False


def _sources(kernel: Kernel, instruction: Instruction) -> list[Instruction]:
    operands = (operand for operand in instruction.operands if operand.kind is ValueKind.INSTRUCTION)
    return [kernel.definition[operand.text] for operand in operands]

"""The instructions by which a coarsened kernel computes its ids and sizes at its start.

What the transform writes grows evenly with the factor, so that it is written twice and read: at factors 2 and 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from coarsen.features.planned_work.axes import Axis
from coarsen.features.work_counts import InstructionClass
from coarsen.ir.kernel import Kernel
from coarsen.transform.group_ids import GroupIdRewriter
from coarsen.transform.ids import IdRewriter
from coarsen.transform.names import NameSupply
from coarsen.variant.coarsening import Coarsening, Level

Classes = Counter[InstructionClass]
_CONVERSIONS = frozenset({"trunc", "zext", "sext"})


class Prologues:
    """The starts of a kernel's coarsened forms.

    Args:
        kernel: uncoarsened.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._found: dict[tuple[Axis, bool], tuple[Classes, Classes]] = {}

    def of(self, coarsening: Coarsening) -> Mapping[InstructionClass, int]:
        """Return the instructions at the start for one coarsening."""
        axis, is_strided = Axis.of(coarsening), coarsening.stride > 1
        if (axis, is_strided) not in self._found:
            stride = 2 if is_strided else 1
            at = [self._written(Coarsening(factor, axis.dimension, stride, axis.level)) for factor in (2, 3)]
            self._found[axis, is_strided] = at[0], at[1]
        at_two, at_three = self._found[axis, is_strided]
        more = coarsening.factor - 2
        return {kind: at_two[kind] + more * (at_three[kind] - at_two[kind]) for kind in at_two | at_three}

    def _written(self, coarsening: Coarsening) -> Classes:
        """The instructions at a factor; a query of a dimension that is known only at run time counts as well."""
        rewriters = {Level.ITEM: IdRewriter, Level.GROUP: GroupIdRewriter}
        rewriter = rewriters[coarsening.level](self._kernel, coarsening, NameSupply(self._kernel))
        for instruction in self._kernel.instructions():
            if not rewriter.answered_at_start(instruction) and rewriter.handles(instruction):
                list(rewriter.selection(instruction, instruction.name, 0, {}))
        return Counter(filter(None, (_class_of(line) for line in rewriter.prologue)))


def _class_of(line: str) -> InstructionClass | None:
    opcode = line.partition(" = ")[2].partition(" ")[0]
    if opcode in ("call", "tail"):
        return None
    return InstructionClass.CONVERSION if opcode in _CONVERSIONS else InstructionClass.INTEGER

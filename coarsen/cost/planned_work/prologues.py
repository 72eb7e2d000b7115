"""The instructions by which a coarsened kernel computes its ids and sizes at its start.

What the transform builds grows evenly with the factor, so that it is built twice and counted: at factors 2 and 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from coarsen.cost.planned_work.axes import Axis
from coarsen.cost.rewritten_ids import id_rewriter, selection
from coarsen.cost.work_counts import InstructionClass
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import CASTS, Opcode
from coarsen.ir.kernel import Kernel
from coarsen.variant.coarsening import Coarsening

Classes = Counter[InstructionClass]


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
            at = [self._built(Coarsening(factor, axis.dimension, stride, axis.level)) for factor in (2, 3)]
            self._found[axis, is_strided] = at[0], at[1]
        at_two, at_three = self._found[axis, is_strided]
        more = coarsening.factor - 2
        return {kind: at_two[kind] + more * (at_three[kind] - at_two[kind]) for kind in at_two | at_three}

    def _built(self, coarsening: Coarsening) -> Classes:
        """Return the instructions at a factor.

        A query of a dimension that is known only at run time counts as well.
        """
        rewriter = id_rewriter(self._kernel, coarsening)
        for instruction in self._kernel.instructions():
            if not rewriter.answered_at_start(instruction) and rewriter.handles(instruction):
                selection(rewriter, instruction)
        return Counter(filter(None, map(_class_of, rewriter.prologue.instructions)))


def _class_of(instruction: Instruction) -> InstructionClass | None:
    if instruction.opcode is Opcode.CALL:
        return None
    return InstructionClass.CONVERSION if instruction.opcode in CASTS else InstructionClass.INTEGER

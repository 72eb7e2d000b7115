"""How far apart two addresses are that a loop does not change.

c[i].x and c[i].y       the same variable steps from the same pointer: 4 bytes
c[i] and c[i + 1]       for indices of 64 bits: 4 bytes (`exact_forms.py`); for 32 bits not known, i + 1 may wrap
c[i] and c[j]           not known
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from coarsen.analysis.algebra.addresses import address_steps
from coarsen.analysis.algebra.exact_forms import ExactForms
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel, Value
from coarsen.transform.accumulators.invariants import Invariants
from coarsen.transform.index_type import INDEX

# Beyond, addresses of 32 bits might come round.
_FURTHEST = 2**31
_ADDRESSES = 2**64


@dataclass(frozen=True)
class _Steps:
    """An address: from what, by which bytes times values, and how many bytes more."""

    base: Hashable
    variable: Counter[tuple[int, Hashable]]
    constant: int


class Distances:
    """Finds the distances between addresses of one loop.

    Args:
        kernel: in normal form.
        forms: of the kernel.
        invariants: of the loop, in the graph of the kernel.
    """

    def __init__(self, kernel: Kernel, forms: ExactForms, invariants: Invariants) -> None:
        self._kernel = kernel
        self._forms = forms
        self._invariants = invariants

    def between(self, first: Operand, second: Operand) -> int | None:
        """Return how many bytes the second address lies after the first; None where that isn't known."""
        distance = self._by_steps(first, second)
        if distance is None:
            distance = self._by_forms(first, second)
        return distance if distance is not None and abs(distance) < _FURTHEST else None

    def _by_steps(self, first: Operand, second: Operand) -> int | None:
        one, other = self._steps(first), self._steps(second)
        if one is None or other is None or one.base != other.base or one.variable != other.variable:
            return None
        return other.constant - one.constant

    def _steps(self, pointer: Operand) -> _Steps | None:
        variable: Counter[tuple[int, Hashable]] = Counter()
        constant = 0
        while isinstance(pointer, Instruction) and pointer.opcode is Opcode.GETELEMENTPTR:
            viewed = self._kernel.definition.get(pointer.name)
            steps = None if viewed is None else address_steps(viewed, self._kernel.structures)
            if steps is None:
                return None
            for step, operand in zip(steps, pointer.operands[1:], strict=True):
                factor = 1 if step.index is None else step.index.number
                if factor is not None:
                    constant += step.bytes * factor
                    continue
                index, more = _without_constant(operand)
                constant += step.bytes * more
                key = self._invariants.key(index)
                if key is None:
                    return None
                variable[step.bytes, key] += 1
            pointer = pointer.operands[0]
        base = self._invariants.key(pointer)
        return None if base is None else _Steps(base, variable, constant)

    def _by_forms(self, first: Operand, second: Operand) -> int | None:
        if not {first.text, second.text} <= self._kernel.type_of.keys():
            return None
        one, other = (self._forms.address(_view(pointer)) for pointer in (first, second))
        if one.form != other.form or one.wrap is not None or other.wrap is not None:
            return None
        distance = (other.offset - one.offset) % _ADDRESSES
        return distance if distance < _ADDRESSES // 2 else distance - _ADDRESSES


def _without_constant(index: Operand) -> tuple[Operand, int]:
    """Return what an index of 64 bits is the sum of: a value, and a constant if it is one's last operand."""
    total = 0
    while isinstance(index, Instruction) and index.opcode is Opcode.ADD and index.type == INDEX:
        value, last = index.operands
        number = _view(last).number
        if number is None:
            break
        index, total = value, total + number
    return index, total


def _view(operand: Operand) -> Value:
    return Value(operand.kind, operand.type, operand.text)

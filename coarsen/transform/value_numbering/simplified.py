"""Results that are a number, or another value, whatever the operands are.

    %item = mul i64 %call, 8            %first = icmp eq i64 %item.1, 0     false: %item.1 is 8·call + 1
    %item.1 = add i64 %item, 1          %all = and i1 %c, false             false

So of the replicas of `if (item == 0)` only the first is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.ir.graph.details import Comparison
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Constant, Operand
from coarsen.ir.types import IntegerType
from coarsen.transform.value_numbering.constants import FALSE, TRUE
from coarsen.transform.value_numbering.known_bits import known_bits

_CONDITION = IntegerType(1)
# The constant that decides the result alone, if there is one, and the one that leaves the other operand as it is.
_LOGIC: dict[Opcode, tuple[Constant | None, Constant]] = {
    Opcode.AND: (FALSE, TRUE),
    Opcode.OR: (TRUE, FALSE),
    Opcode.XOR: (None, FALSE),
}


def simplified(instruction: Instruction, operands: Sequence[Operand]) -> Operand | None:
    """Return the operand that stands for a result, if it is that simple.

    Args:
        instruction: computes the result.
        operands: those that now stand for its operands.
    """
    opcode = instruction.opcode
    if opcode is Opcode.ICMP:
        return _comparison(instruction, operands)
    if opcode in _LOGIC and instruction.type == _CONDITION:
        return _logic(opcode, *operands)
    if opcode is Opcode.SELECT and operands[0].type == _CONDITION:
        return _choice(*operands)
    return None


def _comparison(instruction: Instruction, operands: Sequence[Operand]) -> Operand | None:
    """`false` where values that are compared differ in a bit."""
    predicate = instruction.detail.predicate if isinstance(instruction.detail, Comparison) else ""
    if predicate not in ("eq", "ne") or not isinstance(operands[0].type, IntegerType):
        return None
    left, right = map(known_bits, operands)
    if not left.differs_from(right):
        return None
    return FALSE if predicate == "eq" else TRUE


def _logic(opcode: Opcode, left: Operand, right: Operand) -> Operand | None:
    if left in (TRUE, FALSE):
        left, right = right, left
    absorbing, neutral = _LOGIC[opcode]
    if right == absorbing:
        return absorbing
    return left if right == neutral else None


def _choice(condition: Operand, left: Operand, right: Operand) -> Operand | None:
    if condition in (TRUE, FALSE):
        return left if condition == TRUE else right
    if (left, right) == (TRUE, FALSE):
        return condition
    return left if left == right else None

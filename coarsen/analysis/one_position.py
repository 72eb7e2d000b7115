"""Branches that at most one of the merged work-items takes, as they ask for one position: `if (item == 0) …`."""

from __future__ import annotations

from coarsen.analysis.divergence import Divergence
from coarsen.ir.details import predicate
from coarsen.ir.kernel import Instruction, Value
from coarsen.ir.opencl.queries import SIZES_IN_ITEMS, query_of
from coarsen.ir.types import IntegerType

_SHIFTS = frozenset({"add", "sub", "trunc", "zext", "sext"})
# Ids of fewer bits may be the same for several of the merged work-items.
_ID_WIDTH = 32


def side_of_one(divergence: Divergence, branch: str) -> str | None:
    """Return the side of a branch that one replica takes at most, as it asks for one position; or None."""
    terminator = divergence.kernel.block[branch].terminator
    condition = difference_of(divergence, terminator.arguments[0])
    if condition is None or asked_id(divergence, condition) is None:
        return None
    return terminator.targets[0 if predicate(condition) == "eq" else 1]


def asked_id(divergence: Divergence, condition: Instruction) -> Value | None:
    """Return the id that a condition compares with one position, at most shifted by what replicas share; or None.

    The condition tells whether the two are equal, or whether they are not.
    """
    if condition.opcode != "icmp" or predicate(condition) not in ("eq", "ne"):
        return None
    differing = [each for each in condition.operands if difference_of(divergence, each) is not None]
    return differing[0] if len(differing) == 1 and _is_shifted_id(divergence, differing[0]) else None


def _is_shifted_id(divergence: Divergence, value: Value) -> bool:
    """Return True if a value is an id, at most shifted by something that the replicas share."""
    instruction = difference_of(divergence, value)
    while instruction is not None and instruction.opcode in _SHIFTS:
        differing = [operand for operand in instruction.operands if difference_of(divergence, operand) is not None]
        instruction = difference_of(divergence, differing[0]) if len(differing) == 1 else None
    return instruction is not None and instruction.opcode == "call" and is_id(instruction)


def is_id(call: Instruction) -> bool:
    """Return True for a query of an id."""
    query = query_of(call)
    return query is not None and query not in SIZES_IN_ITEMS


def is_wide_id(divergence: Divergence, value: Value) -> bool:
    """Return True if an id, at most shifted, is nowhere cut to so few bits that another could equal it."""
    instruction = difference_of(divergence, value)
    while instruction is not None and instruction.opcode in _SHIFTS:
        if isinstance(instruction.type, IntegerType) and instruction.type.width < _ID_WIDTH:
            return False
        instruction = next(filter(None, (difference_of(divergence, each) for each in instruction.operands)), None)
    return True


def difference_of(divergence: Divergence, value: Value) -> Instruction | None:
    """Return the instruction that computes a value in which replicas differ; None where they share it."""
    return divergence.kernel.definition[value.text] if value.text in divergence.values and value.is_local else None

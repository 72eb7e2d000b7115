"""Whether the replicas of a work-item are likely to take the same side of a branch.

They are where the branch compares positions: neighbouring work-items differ at a border, and borders are few.

    likely      x < width,  row >= rows,  x > 0 && x < width - 1,  item == 0,  id / width < height
    unknown     data[x] > 0,  x % 2 == 0

Where a branch asks for one position (`item == 0`) they agree not to be there, or one of them goes alone.
"""

from __future__ import annotations

from coarsen.analysis.builtins import Effect, effect_of
from coarsen.analysis.divergence import Divergence
from coarsen.ir.details import predicate
from coarsen.ir.kernel import Instruction, Value, ValueKind

_KEEPS_ORDER = frozenset({"add", "sub", "mul", "shl", "trunc", "zext", "sext", "sitofp", "uitofp", "freeze"})
_SHIFTS = frozenset({"add", "sub", "trunc", "zext", "sext"})
_COMBINES = frozenset({"and", "or", "xor", "select", "freeze"})
_FOLDS = frozenset({"udiv", "sdiv", "urem", "srem", "lshr", "ashr", "and"})
# Below this many neighbours between two borders (`x % 8`, `x & 15`) too many replicas stand on both sides of one.
_FAR_APART = 64


def is_agreement_likely(divergence: Divergence, branch: str) -> bool:
    """Whether the divergent branch of a block depends on positions alone."""
    condition = divergence.kernel.block[branch].terminator.arguments[0]
    return _is_likely_condition(divergence, condition)


def side_of_one(divergence: Divergence, branch: str) -> str | None:
    """The side of a branch that at most one of the replicas takes, since it asks for one position; else None."""
    terminator = divergence.kernel.block[branch].terminator
    condition = _definition(divergence, terminator.arguments[0])
    if condition is None or condition.opcode != "icmp" or predicate(condition) not in ("eq", "ne"):
        return None
    differing = [operand for operand in condition.operands if _definition(divergence, operand) is not None]
    if len(differing) != 1 or not _is_shifted_id(divergence, differing[0]):
        return None
    return terminator.targets[0 if predicate(condition) == "eq" else 1]


def _is_shifted_id(divergence: Divergence, value: Value) -> bool:
    """Whether a value is an id, at most shifted by something that the replicas share."""
    instruction = _definition(divergence, value)
    if instruction is None:
        return False
    if instruction.opcode == "call":
        return _is_id(instruction)
    if instruction.opcode not in _SHIFTS:
        return False
    differing = [operand for operand in instruction.operands if _definition(divergence, operand) is not None]
    return len(differing) == 1 and _is_shifted_id(divergence, differing[0])


def _is_id(call: Instruction) -> bool:
    return effect_of(call) in (Effect.WORK_ITEM_ID, Effect.UNCHANGED)


def _is_likely_condition(divergence: Divergence, condition: Value) -> bool:
    instruction = _definition(divergence, condition)
    if instruction is None:
        return True
    if instruction.opcode in ("icmp", "fcmp"):
        return all(_is_position(divergence, operand, frozenset()) for operand in instruction.operands)
    if instruction.opcode in _COMBINES:
        return all(_is_likely_condition(divergence, operand) for operand in instruction.operands)
    return False


def _is_position(divergence: Divergence, value: Value, counting: frozenset[str]) -> bool:
    """Whether a value grows evenly from work-item to work-item, but for places that are far apart.

    `counting` names the counters of loops, phis, that the value is part of.
    """
    instruction = _definition(divergence, value)
    if instruction is None or instruction.name in counting:
        return True
    if instruction.opcode == "phi":
        counting |= {instruction.name}
        return all(_is_position(divergence, operand, counting) for operand in instruction.operands)
    if instruction.opcode == "call":
        return _is_id(instruction)
    if instruction.opcode in _FOLDS:
        is_position = _is_position(divergence, instruction.operands[0], counting)
        return is_position and _is_far_apart(divergence, instruction)
    if instruction.opcode in _KEEPS_ORDER:
        return all(_is_position(divergence, operand, counting) for operand in instruction.operands)
    return False


def _is_far_apart(divergence: Divergence, instruction: Instruction) -> bool:
    """Whether a quotient or remainder has its borders far apart.

    A divisor that is known only at run time is taken to be large.
    """
    by = instruction.operands[1]
    if by.kind is not ValueKind.CONSTANT:
        return _definition(divergence, by) is None
    if not by.text.isdigit():
        return False
    distance = 1 << int(by.text) if instruction.opcode in ("lshr", "ashr") else int(by.text)
    return distance >= _FAR_APART


def _definition(divergence: Divergence, value: Value) -> Instruction | None:
    """The instruction behind a value that differs between replicas; None for one that they share."""
    return divergence.kernel.definition[value.text] if value.text in divergence.values and value.is_local else None

"""Whether the replicas of a work-item are likely to take the same side of a branch.

They are where the branch compares positions: neighbouring work-items differ at a border, and borders are few.

    likely      x < width,  row >= rows,  x > 0 && x < width - 1,  item == 0,  id / width < height
    unknown     data[x] > 0,  x % 2 == 0

Where a branch asks for one position (`item == 0`) they agree not to be there, or one of them goes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.one_position import difference_of, is_id
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Value

_KEEPS_ORDER = frozenset({"add", "sub", "mul", "shl", "trunc", "zext", "sext", "sitofp", "uitofp", "freeze"})
_COMBINES = frozenset({"and", "or", "xor", "select", "freeze"})
_FOLDS = frozenset({"udiv", "sdiv", "urem", "srem", "lshr", "ashr", "and"})
# Below this many neighbours between two borders (`x % 8`, `x & 15`) too many replicas stand on both sides of one.
_FAR_APART = 64


def is_agreement_likely(divergence: Divergence, branch: str) -> bool:
    """Return True if the divergent branch of a block depends on positions alone."""
    compared: list[Value] = []

    def combined(instruction: Instruction) -> Iterable[Value] | None:
        if instruction.opcode in ("icmp", "fcmp"):
            compared.extend(instruction.operands)
            return ()
        return instruction.operands if instruction.opcode in _COMBINES else None

    condition = divergence.kernel.block[branch].terminator.arguments[0]
    if not _is_all_followed(divergence, [condition], combined):
        return False
    return _is_all_followed(divergence, compared, lambda each: _positions_in(divergence, each))


def _is_all_followed(
    divergence: Divergence, values: Iterable[Value], follow: Callable[[Instruction], Iterable[Value] | None]
) -> bool:
    """Return True if `follow` has an answer, operands to go on with, for all that the values are computed from.

    Asked is only for what differs between replicas, and once for each instruction: expressions share parts.
    """
    seen: set[str] = set()
    pending = list(values)
    while pending:
        instruction = difference_of(divergence, pending.pop())
        if instruction is None or instruction.name in seen:
            continue
        seen.add(instruction.name)
        operands = follow(instruction)
        if operands is None:
            return False
        pending.extend(operands)
    return True


def _positions_in(divergence: Divergence, instruction: Instruction) -> Iterable[Value] | None:
    """The positions that an instruction's result depends on, if it grows evenly with them; else None.

    Even but for places that are far apart, that is. An id has none; a loop's counter, a phi, is one of its own.
    """
    if instruction.opcode == "call":
        return () if is_id(instruction) else None
    if instruction.opcode in _FOLDS:
        return instruction.operands[:1] if _is_far_apart(divergence, instruction) else None
    return instruction.operands if instruction.opcode == "phi" or instruction.opcode in _KEEPS_ORDER else None


def _is_far_apart(divergence: Divergence, instruction: Instruction) -> bool:
    """Return True if a quotient or remainder has its borders far apart.

    A divisor that is known only at run time is taken to be large.
    """
    by = instruction.operands[1]
    if by.kind is not ValueKind.CONSTANT:
        return difference_of(divergence, by) is None
    if not by.text.isdigit():
        return False
    distance = 1 << int(by.text) if instruction.opcode in ("lshr", "ashr") else int(by.text)
    return distance >= _FAR_APART

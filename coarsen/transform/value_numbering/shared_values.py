"""Values that replicas compute alike are computed once: common subexpressions, loads, address arithmetic.

    before (replicas read x and x - 1)              after
    %centre = add i32 %row, %x                      %centre = add i32 %row, %x
    %centre.1 = add i32 %row, %x.1                  %centre.1 = add i32 %row, %x.1
    %i = load input[%centre]                        %i = load input[%centre]
    %i.1 = load input[%centre.1]                    %i.1 = load input[%centre.1]
    %left = sub i32 %centre, 1                      %left = sub i32 %centre, 1
    %left.1 = sub i32 %centre.1, 1                  (is %centre)
    %j = load input[%left]                          %j = load input[%left]
    %j.1 = load input[%left.1]                      (is %i)

The blocks are visited so that each comes after those that dominate it. A value takes the place of a later one if
it dominates it, is in the same loops, and is the same: an equal expression (`expressions.py`), or an equal sum
(`sums.py`); for loads, if nothing between them may change memory (`MemoryOrder`). Nothing is moved, and
calls with an effect all stay where they are: barriers are neither copied nor brought under a branch. Operations on
floats are never reordered: results stay the same to the bit.

Dead code and branches on constants are left to LLVM's passes: the normal form, which follows, runs them. The value
numbering that llvmlite offers is NewGVN, which LLVM does not use by default and of which wrong code is known, and
InstCombine turns the source's address arithmetic into byte offsets.
"""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.analysis.control_flow import flow_graph
from coarsen.analysis.memory_effects import FUNCTIONS, EffectsOfKernel
from coarsen.ir.graph.details import Comparison, Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Constant, Named, Operand
from coarsen.ir.types import IntegerType, VoidType
from coarsen.transform.value_numbering.expressions import (
    Expressions,
    Leaders,
    MemoryOrder,
    MemoryParts,
    SurelyDefined,
)
from coarsen.transform.value_numbering.sums import FALSE, TRUE, SharedSums, Shorter, known_bits


def share_values(module: Module, kernel: str, *, is_distinct: bool = False) -> None:
    """Let what a kernel computes more than once be computed once, in place.

    Args:
        module: owned by the caller, with names that are unique; LLVM has to bring it into normal form again.
        kernel: the kernel's name.
        is_distinct: whether its arguments point to distinct memory: what is written through one changes no load
            through another.
    """
    function = module.function(kernel)
    numbering = _Numbering(function, EffectsOfKernel.of_module(module), is_distinct)
    numbering.visit()
    _rewrite(function, numbering)


class _Numbering:
    """One pass over a function, which it leaves as it is.

    Attributes:
        replaced: what stands for values that go; never one that goes itself.
        shorter: what computes other values with less.
    """

    def __init__(self, function: Function, effects: EffectsOfKernel, is_distinct: bool) -> None:
        self.replaced: dict[Named, Operand] = {}
        self.shorter: dict[Instruction, Shorter] = {}
        flow = flow_graph(function)
        self._blocks = {block.name: block for block in function.blocks}
        self._order = flow.reverse_postorder
        parts = MemoryParts.of(function, effects) if is_distinct else None
        self._memory = MemoryOrder(effects, flow, parts)
        self._leaders = Leaders(flow, SurelyDefined(self._blocks, effects, flow))
        self._expressions = Expressions(effects)
        self._sums = SharedSums(self._leaders)

    def visit(self) -> None:
        """Find what stands for what; blocks that are never reached are left out."""
        for name in self._order:
            self._memory.enter(name)
            for instruction in self._blocks[name].instructions:
                if instruction.opcode not in FUNCTIONS:
                    self._memory.execute(instruction)
                if not isinstance(instruction.type, VoidType):
                    self._share(instruction, name)
            self._memory.leave(name)

    def _share(self, instruction: Instruction, block: str) -> None:
        replaced = self.replaced
        operands = [replaced.get(o, o) if isinstance(o, Named) else o for o in instruction.operands]
        key = self._expressions.key(instruction, operands, self._memory.state(instruction))
        found: Operand | Shorter | None = simplified(instruction, operands)
        if found is None and key is not None:
            found = self._leaders.find(key, block)
        if found is None and isinstance(instruction.type, IntegerType):
            found = self._sums.share(instruction, operands, block)
        if isinstance(found, Operand):
            self.replaced[instruction] = found
            return
        if found is not None:
            self.shorter[instruction] = found
        # Only now: what another value stands for, as `x` does for `x * 1`, can't stand for an equal one later.
        if key is not None:
            self._leaders.follow(key, instruction, block)


def _rewrite(function: Function, numbering: _Numbering) -> None:
    """Write what was found, once all is: a phi comes before what comes round its loop."""
    for instruction, shorter in numbering.shorter.items():
        _shorten(instruction, shorter)
    for block in function.blocks:
        kept = [each for each in block.instructions if each not in numbering.replaced]
        if len(kept) < len(block.instructions):
            block.replace_instructions(kept)
    for old, new in numbering.replaced.items():
        assert isinstance(old, Instruction)
        old.replace_all_uses(new)
        if isinstance(new, Instruction):
            new.origin = new.origin.merged(old.origin)


def _shorten(instruction: Instruction, shorter: Shorter) -> None:
    instruction.opcode, instruction.flags, instruction.detail = shorter.opcode, (), None
    instruction.attachments = ()
    instruction.set_operands([shorter.left, shorter.right])


# Results that are a number, or another value, whatever the operands are.
#
#     %item = mul i64 %call, 8            %first = icmp eq i64 %item.1, 0     false: %item.1 is 8·call + 1
#     %item.1 = add i64 %item, 1          %all = and i1 %c, false             false
#
# So of the replicas of `if (item == 0)` only the first is left.

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

"""Values that are no poison in a block, since the kernel's behaviour is undefined if they are.

    %index = add nsw i32 %row, %x       poison where it overflows, and with it
    %i = sext i32 %index to i64
    %p = getelementptr float, ptr addrspace(1) %input, i64 %i
    %v = load float, ptr addrspace(1) %p        this address: loading from it is undefined

So in this block, and in those that it dominates, `%index` may stand for any value with the same sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from coarsen.analysis.control_flow import FlowGraph
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Operand

# The operand that is the address.
_ADDRESS = {Opcode.LOAD: 0, Opcode.STORE: 1}
# What gives poison for poison. A choice need not, and `freeze` does not.
_PASSES_ON = frozenset(
    {
        *(Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL, Opcode.LSHR, Opcode.ASHR),
        *(Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT),
        *(Opcode.GETELEMENTPTR, Opcode.BITCAST, Opcode.ADDRSPACECAST),
    }
)
# Of a value that many blocks use, the first ones: they dominate the others if any do.
_MAXIMUM_BLOCKS = 8


class SurelyDefined:
    """The values that are surely defined in the blocks of a function, found when first asked for.

    Args:
        blocks: by their names.
        effects: the judge of their instructions.
        dominance: of the blocks.
    """

    def __init__(self, blocks: Mapping[str, Block], effects: EffectsOfKernel, dominance: Dominance) -> None:
        self._by_name = blocks
        self._effects = effects
        self._dominance = dominance

    def is_defined(self, value: Operand, block: str) -> bool:
        """Return whether poison for the value makes behaviour undefined on every way to or through a block."""
        return self._dominates_any(self._blocks.get(value, []), block)

    @cached_property
    def _blocks(self) -> Mapping[Operand, list[str]]:
        """The first blocks in which each value is surely defined."""
        found: dict[Operand, list[str]] = {}
        for name in self._dominance.order:
            pending = self._addresses(self._by_name[name])
            while pending:
                value = pending.pop()
                blocks = found.setdefault(value, [])
                # What is known already is so of the operands as well.
                if len(blocks) == _MAXIMUM_BLOCKS or self._dominates_any(blocks, name):
                    continue
                blocks.append(name)
                pending.extend(_computed(value.operands) if value.opcode in _PASSES_ON else ())
        return found

    def _dominates_any(self, blocks: list[str], block: str) -> bool:
        return any(self._dominance.dominates(using, block) for using in blocks)

    def _addresses(self, block: Block) -> list[Instruction]:
        """The addresses from which a block loads and to which it stores; none where the block may end before."""
        calls = (each for each in block.instructions if each.opcode is Opcode.CALL)
        if any(map(self._effects.may_change_memory, calls)):
            return []
        accesses = (each for each in block.instructions if each.opcode in _ADDRESS)
        return _computed(access.operands[_ADDRESS[access.opcode]] for access in accesses)


def _computed(operands: Iterable[Operand]) -> list[Instruction]:
    return [operand for operand in operands if isinstance(operand, Instruction)]


class Dominance:
    """Answers quickly what `FlowGraph.dominates` does, by numbering the dominator tree.

    Attributes:
        order: the reachable blocks, so that each stands after those that dominate it.
    """

    def __init__(self, flow: FlowGraph) -> None:
        self._flow = flow
        self.order = flow.reverse_postorder
        self._first: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._number()

    def _number(self) -> None:
        children: dict[str, list[str]] = {block: [] for block in self.order}
        for block in self.order[1:]:
            children[self._flow.immediate_dominator[block]].append(block)
        pending = [self.order[0]]
        preorder: list[str] = []
        while pending:
            block = pending.pop()
            self._first[block] = len(preorder)
            preorder.append(block)
            pending.extend(children[block])
        for block in reversed(preorder):
            self._last[block] = max([self._first[block], *(self._last[child] for child in children[block])])

    def dominates(self, first: str, second: str) -> bool:
        """Return whether every way from the entry to `second` passes `first` (a block dominates itself)."""
        return self._first[first] <= self._first[second] <= self._last[first]

    def may_use(self, block: str, defining: str) -> bool:
        """Return whether what `defining` computes is there in `block`, and not taken out of a loop."""
        if block == defining:
            return True
        loop = self._flow.loop_of[defining]
        return self.dominates(defining, block) and (loop is None or block in loop.blocks)

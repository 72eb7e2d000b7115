"""Values that are no poison in a block, since the kernel's behaviour is undefined if they are.

    %index = add nsw i32 %row, %x       poison where it overflows, and with it
    %i = sext i32 %index to i64
    %p = getelementptr float, ptr addrspace(1) %input, i64 %i
    %v = load float, ptr addrspace(1) %p        this address: loading from it is undefined

So in this block, and in those that it dominates, `%index` may stand for any value with the same sum.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from coarsen.transform.body_text import BodyText, Line
from coarsen.transform.dominance import Dominance
from coarsen.transform.memory_order import MemoryOrder

_ADDRESS = re.compile(r"^(?:load [^@]*?|store .*), ptr(?: addrspace\(\d+\))? %(?P<name>[-a-zA-Z$._0-9]+)(?:, |$)")
# What gives poison for poison. A choice need not, and `freeze` does not.
_PASSES_ON = frozenset(
    {
        *("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor"),
        *("trunc", "zext", "sext", "getelementptr", "bitcast", "addrspacecast"),
    }
)
# Of a value that many blocks use, the first ones: they dominate the others if any do.
_MAXIMUM_BLOCKS = 8


class SurelyDefined:
    """The values that are surely defined in the blocks of a body, found when first asked for."""

    def __init__(self, body: BodyText, memory: MemoryOrder, dominance: Dominance) -> None:
        self._body = body
        self._memory = memory
        self._dominance = dominance

    def is_defined(self, name: str, block: str) -> bool:
        """Whether poison for the value makes behaviour undefined on every way to or through a block."""
        return self._dominates_any(self._blocks.get(name, []), block)

    @cached_property
    def _blocks(self) -> Mapping[str, list[str]]:
        """The first blocks in which each value is surely defined."""
        found: dict[str, list[str]] = {}
        lines = dict(self._body.blocks)
        for block in self._dominance.order:
            pending = self._addresses(lines[block])
            while pending:
                name = pending.pop()
                line = self._body.definition.get(name)
                blocks = found.setdefault(name, [])
                # What is known already is so of the operands as well.
                if line is None or len(blocks) == _MAXIMUM_BLOCKS or self._dominates_any(blocks, block):
                    continue
                blocks.append(block)
                pending.extend(line.operands if line.opcode in _PASSES_ON else ())
        return found

    def _dominates_any(self, blocks: list[str], block: str) -> bool:
        return any(self._dominance.dominates(using, block) for using in blocks)

    def _addresses(self, lines: tuple[Line, ...]) -> list[str]:
        """The addresses that a block's loads and stores name; none where the block may end before."""
        if any(line.opcode == "call" and self._memory.may_change_memory(line) for line in lines):
            return []
        matches = (_ADDRESS.match(line.text) for line in lines if line.opcode in ("load", "store"))
        return [match["name"] for match in matches if match]

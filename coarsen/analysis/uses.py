"""Where each value of a kernel is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel, Value


@dataclass(frozen=True, slots=True)
class Use:
    """An instruction that has a value among its operands, and the block it stands in."""

    block: str
    instruction: Instruction


def uses_of_values(kernel: Kernel) -> Mapping[str, list[Use]]:
    """Return the uses of each instruction, argument and program-scope variable, by `names_in` operands."""
    uses: dict[str, list[Use]] = {}
    for block in kernel.blocks:
        for instruction in block.instructions:
            use = Use(block.name, instruction)
            for name in set(chain.from_iterable(map(names_in, instruction.operands))):
                if name in uses:
                    uses[name].append(use)
                else:
                    uses[name] = [use]
    return uses


def names_in(operand: Value) -> tuple[str, ...]:
    """Return what an operand names: a value or an argument, or program-scope variables (with `@`).

    A constant expression names variables: `getelementptr (i8, ptr addrspace(3) @kernel.tile, i64 4)`.
    """
    kind = operand.kind
    if kind is ValueKind.INSTRUCTION or kind is ValueKind.ARGUMENT:
        return (operand.text,)
    if kind is ValueKind.GLOBAL:
        return (f"@{operand.text}",)
    return tuple([f"@{name}" for name in operand.mentioned]) if operand.mentioned else ()

"""Where each value of a kernel is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.ir.kernel import Instruction, Kernel


@dataclass(frozen=True, slots=True)
class Use:
    """An instruction that has a value among its operands, and the block it stands in."""

    block: str
    instruction: Instruction


def uses_of_values(kernel: Kernel) -> Mapping[str, list[Use]]:
    """The uses of each instruction's and argument's value, by its name."""
    uses: dict[str, list[Use]] = {}
    for block in kernel.blocks:
        for instruction in block.instructions:
            use = Use(block.name, instruction)
            for name in {operand.text for operand in instruction.operands if operand.is_local}:
                uses.setdefault(name, []).append(use)
    return uses

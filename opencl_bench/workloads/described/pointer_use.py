"""Reads and writes of a kernel's buffers, as far as its instructions show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.ir.kernel import Instruction, Kernel

# What comes out of these still points into the buffer that went in.
_DERIVING = frozenset({"getelementptr", "phi", "select", "addrspacecast", "bitcast", "freeze"})


@dataclass(frozen=True, slots=True)
class PointerUse:
    """The use of what a pointer parameter points to: if it is read, and if it is written."""

    is_read: bool
    is_written: bool


def pointer_uses(kernel: Kernel) -> Mapping[str, PointerUse]:
    """The use of each parameter, by name. What a call is given counts as read and written."""
    return {argument.name: _use_of(kernel, argument.name) for argument in kernel.arguments}


def _use_of(kernel: Kernel, parameter: str) -> PointerUse:
    pointers = derived_pointers(kernel, parameter)
    is_read = is_written = False
    for instruction in kernel.instructions():
        used = [index for index, operand in enumerate(instruction.arguments) if operand.text in pointers]
        if not used or instruction.opcode in _DERIVING:
            continue
        is_read |= _reads(instruction)
        is_written |= _writes(instruction)
    return PointerUse(is_read, is_written)


def derived_pointers(kernel: Kernel, parameter: str) -> set[str]:
    """Return the names of the pointers that are computed from a parameter, its own among them."""
    pointers = {parameter}
    while True:
        new = {
            instruction.name
            for instruction in kernel.instructions()
            if instruction.opcode in _DERIVING
            and instruction.name not in pointers
            and any(operand.is_local and operand.text in pointers for operand in instruction.operands)
        }
        if not new:
            return pointers
        pointers |= new


def _reads(instruction: Instruction) -> bool:
    return instruction.opcode in ("load", "call", "atomicrmw", "cmpxchg")


def _writes(instruction: Instruction) -> bool:
    return instruction.opcode in ("store", "call", "atomicrmw", "cmpxchg")

"""Private arrays that the kernel fills first of all, which a declaration can do.

%kept = alloca [4 x float]; memcpy(%kept, @__const.k.kept, 16)   →   float kept[4] = {1.0f, 2.0f};
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.backend.opencl_c.c.types import from_llvm, size_of
from coarsen.backend.opencl_c.decide.constants import Constant, Zero, parse_constant
from coarsen.ir.details import source_element_type
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel
from coarsen.ir.types import ArrayType, StructType, Type

_FILLING = ("llvm.memcpy", "llvm.memset")


@dataclass(frozen=True, slots=True)
class InitialValue:
    """What an array starts with, and the instruction that the declaration stands for."""

    type: Type
    value: Constant
    instruction: Instruction


def initial_values(kernel: Kernel) -> Mapping[str, InitialValue]:
    """Return the initial values of private arrays and structures, by their names in LLVM."""
    found: dict[str, InitialValue] = {}
    if not any(callee.startswith(_FILLING) for callee in kernel.callees):
        return found
    touched: set[str] = set()
    for instruction in kernel.blocks[0].instructions:
        used = {operand.text for operand in instruction.operands if operand.is_local}
        target = _filled_whole(kernel, instruction)
        if target and target not in touched:
            value = _value(kernel, instruction, target)
            if value is not None:
                found[target] = value
        touched |= used
    return found


def _filled_whole(kernel: Kernel, instruction: Instruction) -> str:
    """The array that a copy or fill covers exactly, or an empty text."""
    if instruction.opcode != "call" or not instruction.callee.startswith(_FILLING) or instruction.is_volatile:
        return ""
    target, _, length, *_ = instruction.arguments
    source = kernel.definition.get(target.text) if target.kind is ValueKind.INSTRUCTION else None
    if source is None or source.opcode != "alloca":
        return ""
    type_ = source_element_type(source)
    is_aggregate = isinstance(type_, (ArrayType, StructType))
    return target.text if is_aggregate and length.text == str(size_of(from_llvm(type_))) else ""


def _value(kernel: Kernel, instruction: Instruction, target: str) -> InitialValue | None:
    type_ = source_element_type(kernel.definition[target])
    source = instruction.arguments[1]
    if "memset" in instruction.callee:
        return InitialValue(type_, Zero(), instruction) if source.text == "0" else None
    table = kernel.globals.get(source.text) if source.kind is ValueKind.GLOBAL else None
    if table is None or not table.is_constant or table.value_type != type_:
        return None
    return InitialValue(type_, parse_constant(type_, table.initializer, kernel.structures), instruction)

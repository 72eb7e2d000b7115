"""The classes of instructions and accesses, by what they keep busy, for the counts of work."""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.analysis.algebra.affine import Access
from coarsen.cost.instruction_kinds import Kind, kinds_of
from coarsen.cost.work_counts import InstructionClass
from coarsen.ir.kernel import Instruction
from coarsen.ir.layout import size_of
from coarsen.ir.types import AddressSpace, FloatType, Type, VectorType

_DOUBLE_BYTES = 8
_CONVERSIONS = frozenset({"trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"})
_INTEGER_WORK = frozenset({"getelementptr", "select"})


def instruction_classes(instruction: Instruction) -> Iterator[tuple[InstructionClass, int]]:
    """Return the classes of what an instruction does besides accesses to memory, each with a count.

    A vector's elements count one by one.
    """
    kinds = kinds_of(instruction)
    times = instruction.type.count if isinstance(instruction.type, VectorType) else 1
    if Kind.BRANCH in kinds or instruction.opcode in ("br", "switch"):
        yield InstructionClass.CONTROL, 1
    elif Kind.MATH in kinds:
        yield InstructionClass.MATH, times
    elif Kind.FLOATING_POINT in kinds:
        yield (InstructionClass.DOUBLE if _is_double(instruction) else InstructionClass.FLOAT), times
    elif Kind.INTEGER in kinds or instruction.opcode in _INTEGER_WORK:
        yield InstructionClass.INTEGER, times
    elif instruction.opcode in _CONVERSIONS:
        yield InstructionClass.CONVERSION, times


def access_class(access: Access) -> InstructionClass:
    """Return the class of an access to memory."""
    is_near = access.address_space in (AddressSpace.LOCAL, AddressSpace.PRIVATE)
    return InstructionClass.LOCAL_ACCESS if is_near else InstructionClass.GLOBAL_ACCESS


def _is_double(instruction: Instruction) -> bool:
    return any(map(_has_doubles, (instruction.type, *(each.type for each in instruction.operands))))


def _has_doubles(type_: Type) -> bool:
    element = type_.element if isinstance(type_, VectorType) else type_
    return isinstance(element, FloatType) and size_of(element) == _DOUBLE_BYTES

"""Questions of value numbering, which reads lines of text, to the analysis of memory effects."""

from __future__ import annotations

import re

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.kernel import Instruction, Value, ValueKind
from coarsen.ir.types import OtherType, PointerType, VoidType
from coarsen.transform.body_text import Line

_CALLEE = re.compile(r"\bcall [^@]*?@([-a-zA-Z$._0-9]+)\(")
_FUNCTION = OtherType("function")
# A pointer, so that a call that writes through its arguments is taken to write.
_POINTER = Value(ValueKind.CONSTANT, PointerType(0), "")
_VOID = VoidType()


class MemoryOrder:
    """What the instructions of one module do to memory.

    No load moves past a store, an atomic operation, a fence or a barrier, and a volatile load stays what it is.
    """

    def __init__(self, assembly: str) -> None:
        self._effects = EffectsOfKernel(assembly)

    def is_function_of_operands(self, line: Line) -> bool:
        """Return True if the result is the same wherever the operands are."""
        return self._effects.is_function_of_operands(_instruction(line))

    def is_plain_load(self, line: Line) -> bool:
        """Return True for a load that is neither volatile nor atomic."""
        return line.opcode == "load" and not self._effects.of(_instruction(line)).orders

    def may_change_memory(self, line: Line) -> bool:
        """Return True if a load after it may see something else than a load before."""
        return self._effects.may_change_memory(_instruction(line))


def _instruction(line: Line) -> Instruction:
    """Return a line as far as effects need it: which memory it accesses does not matter here."""
    operands: tuple[Value, ...] = (_POINTER, _POINTER)
    if line.opcode == "call":
        match = _CALLEE.search(line.text)
        callee = Value(ValueKind.FUNCTION, _FUNCTION, match[1]) if match else _POINTER
        operands = (*operands, callee)
    return Instruction(line.name, line.opcode, _VOID, operands, line.text)

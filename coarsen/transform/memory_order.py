"""Which instructions may change memory, so that a load behind them may see something else than one before.

Everything is taken to change all memory but what is known not to: plain loads, arithmetic, calls of functions that
touch no memory or only read it. So no load moves past a store, an atomic operation, a fence or a barrier, and a
volatile load stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from coarsen.analysis.builtins import Effect, effect_of
from coarsen.ir.kernel import Instruction, Value, ValueKind
from coarsen.ir.types import OtherType, VoidType
from coarsen.transform.body_text import Line

_CALLEE = re.compile(r"\bcall [^@]*?@([-a-zA-Z$._0-9]+)\(")
_DECLARATION = re.compile(r"^declare [^\n]*?@([-a-zA-Z$._0-9]+)\([^\n]*?(?:#(\d+))?$", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^attributes #(\d+) = \{([^\n]*)\}$", re.MULTILINE)
_HARMLESS = frozenset(
    {
        *("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"),
        *("fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "icmp", "fcmp", "select", "getelementptr"),
        *("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"),
        *("ptrtoint", "inttoptr", "bitcast", "addrspacecast"),
        *("extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue"),
    }
)
_ALSO_HARMLESS = frozenset({"phi", "alloca", "freeze", "br", "ret", "unreachable"})
_FUNCTIONS = frozenset({Effect.PURE, Effect.WORK_ITEM_ID, Effect.GEOMETRY, Effect.UNCHANGED})
_CHANGES_NOTHING = _FUNCTIONS | {Effect.READS, Effect.IGNORED}
_VOID = VoidType()


class MemoryOrder:
    """What the instructions of one module do to memory."""

    def __init__(self, assembly: str) -> None:
        groups = dict(_ATTRIBUTES.findall(assembly))
        self._attributes: Mapping[str, str] = {
            function: groups.get(group, "") for function, group in _DECLARATION.findall(assembly)
        }
        self._effects: dict[str, Effect] = {}

    def is_function_of_operands(self, line: Line) -> bool:
        """Whether the result is the same wherever the operands are."""
        if line.opcode == "call":
            return self._effect(line) in _FUNCTIONS and "memory(none)" in self._attributes_of_call(line)
        return line.opcode in _HARMLESS

    def is_plain_load(self, line: Line) -> bool:
        """Whether it is a load that is neither volatile nor atomic."""
        return line.text.startswith("load ") and not line.text.startswith(("load volatile", "load atomic"))

    def may_change_memory(self, line: Line) -> bool:
        """Whether a load behind may see something else than a load before."""
        if line.opcode == "call":
            return self._effect(line) not in _CHANGES_NOTHING
        return not (line.opcode in _HARMLESS or line.opcode in _ALSO_HARMLESS or self.is_plain_load(line))

    def _effect(self, line: Line) -> Effect:
        callee = _callee(line)
        if callee not in self._effects:
            found = effect_of(_call_of(callee), self._attributes.get(callee, "")) if callee else Effect.REFUSED
            self._effects[callee] = found
        return self._effects[callee]

    def _attributes_of_call(self, line: Line) -> str:
        return self._attributes.get(_callee(line), "")


def _callee(line: Line) -> str:
    match = _CALLEE.search(line.text)
    return match[1] if match else ""


def _call_of(callee: str) -> Instruction:
    """A call of a function, as far as `effect_of` looks at it."""
    operand = Value(ValueKind.FUNCTION, OtherType("function"), callee)
    return Instruction("", "call", _VOID, (operand,), "")

"""What pointers of a function's graph are derived from: its arguments, variables and allocas.

%p = getelementptr float, %c, %i                  {%c}
%q = phi [ %a, entry ], [ %q.next, loop ]         {%a}, if %q.next is derived from %q
%r = load ptr, %table                             not known
"""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.analysis.memory_effects import DERIVING
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Argument, Constant, Named, Operand, Variable
from coarsen.ir.types import PointerType

_TO_NOTHING = frozenset({"null", "undef", "poison", "zeroinitializer"})
_INTEGERS = "inttoptr"

Roots = frozenset[Named]


class PointerRoots:
    """Finds the roots of the pointers of one function, each once."""

    def __init__(self) -> None:
        self._known: dict[Operand, Roots | None] = {}

    def of(self, pointer: Operand) -> Roots | None:
        """Return what a pointer may be derived from, nothing for NULL; None where that isn't known."""
        if pointer not in self._known:
            self._known[pointer] = _found(pointer)
        return self._known[pointer]

    def of_all(self, pointers: Iterable[Operand]) -> Roots | None:
        """Return what some pointers may be derived from; None where that isn't known of one."""
        found: Roots = frozenset()
        for pointer in pointers:
            roots = self.of(pointer)
            if roots is None:
                return None
            found |= roots
        return found


def _found(pointer: Operand) -> Roots | None:
    roots: set[Named] = set()
    pending, seen = [pointer], {pointer}
    while pending:
        value = pending.pop()
        if isinstance(value, Argument | Variable):
            roots.add(value)
        elif isinstance(value, Constant):
            mentioned = list(value.referenced())
            if value.text in _TO_NOTHING:
                continue
            if _INTEGERS in value.text or not mentioned or not all(isinstance(v, Variable) for v in mentioned):
                return None
            roots.update(mentioned)
        elif not isinstance(value, Instruction):
            return None
        elif value.opcode is Opcode.ALLOCA:
            roots.add(value)
        elif value.opcode not in DERIVING:
            return None
        else:
            pointers = [each for each in value.operands if isinstance(each.type, PointerType)]
            made_of = value.operands[:1] if value.opcode is Opcode.GETELEMENTPTR else pointers
            pending += [each for each in made_of if each not in seen]
            seen.update(made_of)
    return frozenset(roots)

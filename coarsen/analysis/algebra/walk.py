"""The one walk over a kernel's values: the form of each from those of its operands.

It knows no opcode. What an operation does is in `rules.py`; what a form is, in `predict/` and `prove/`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Generic

from coarsen.analysis.algebra.ring import F
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel, Value
from coarsen.ir.types import IntegerType, PointerType

# Phis that are followed one from the other; no index in a sensible kernel comes near.
_DEEPEST = 60


class Walk(ABC, Generic[F]):
    """The forms of a kernel's integers and addresses, each found when first asked for.

    Args:
        kernel: in normal form.
        assumed: forms of some phis, taken for granted.
        depth: how many phis lead here.
    """

    def __init__(self, kernel: Kernel, assumed: Mapping[str, F] | None = None, depth: int = 0) -> None:
        self.kernel = kernel
        self._forms: dict[str, F] = dict(assumed or {})
        self._depth = depth

    # Of a semantics.

    @abstractmethod
    def number(self, number: int) -> F:
        """Return the form of a number."""

    @abstractmethod
    def leaf(self, value: Value) -> F:
        """Return the form of an operand that no instruction computes."""

    @abstractmethod
    def own(self, instruction: Instruction) -> F:
        """Return an instruction's result as a symbol of its own."""

    @abstractmethod
    def index(self, value: Value) -> F:
        """Return an index as an address counts it: with all its bits, extended with its sign."""

    @abstractmethod
    def has_rule(self, opcode: str) -> bool:
        """Return True if results of an opcode may follow from its operands."""

    @abstractmethod
    def applied(self, instruction: Instruction) -> F | None:
        """Return what an instruction's rule gives; None where it says nothing, or too much."""

    # Of all.

    def form(self, value: Value) -> F:
        """Return the form of a scalar integer or a pointer."""
        if value.kind is ValueKind.INSTRUCTION:
            return self.of_instruction(self.kernel.definition[value.text])
        return self.leaf(value)

    def of_instruction(self, instruction: Instruction) -> F:
        """Return the form of an instruction's result."""
        pending = [instruction]
        while instruction.name not in self._forms:
            missing = list(self._missing(pending[-1]))
            if missing:
                pending.extend(missing)
                continue
            latest = pending.pop()
            if latest.name not in self._forms:
                self._forms[latest.name] = self._found(latest)
        return self._forms[instruction.name]

    def block_of(self, instruction: Instruction) -> str:
        """Return the name of the block in which an instruction stands."""
        return self.kernel.block_of[instruction.name]

    def _missing(self, instruction: Instruction) -> Iterator[Instruction]:
        """Yield the operands that must be known first. Phis ask for theirs when they are found."""
        if instruction.opcode != "phi" and self.has_rule(instruction.opcode):
            for operand in instruction.operands:
                if operand.kind is ValueKind.INSTRUCTION and operand.text not in self._forms:
                    yield self.kernel.definition[operand.text]

    def _found(self, instruction: Instruction) -> F:
        if not isinstance(instruction.type, IntegerType | PointerType):
            return self.own(instruction)
        self._depth += 1
        found = self.applied(instruction) if self._depth < _DEEPEST else None
        self._depth -= 1
        return self.own(instruction) if found is None else found

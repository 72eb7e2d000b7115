"""The one walk over a kernel's values, address arithmetic included: the form of each from those of its operands.

What an operation does, a table of rules says: `PREDICT` in `index_forms.py`, `PROVE` in `exact_forms.py`. Rules
that both have stand here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from coarsen.analysis.algebra.polynomial import ModularForm, Polynomial
from coarsen.ir.graph.instruction import Instruction, source_element_type
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import (
    ArrayType,
    IntegerType,
    PointerType,
    StructType,
    Type,
    VectorType,
    content_bytes,
    field_offset,
    size_of,
)

# Phis that are followed one from the other; no index in a sensible kernel comes near.
_DEEPEST = 60

F = TypeVar("F", Polynomial, ModularForm)
# The rules of a semantics, by opcode; each takes the walk of that semantics.
Rules = Mapping[str, Callable[[Any, Instruction], F | None]]


class Walk(ABC, Generic[F]):
    """The forms of a kernel's integers and addresses, each found when first asked for.

    Args:
        kernel: in normal form.
        rules: by opcode; each gives None where it says nothing.
        assumed: forms of some phis, taken for granted.
        depth: how many phis lead here.
    """

    def __init__(
        self, kernel: Kernel, rules: Rules[F], assumed: Mapping[str, F] | None = None, depth: int = 0
    ) -> None:
        self.kernel = kernel
        self._rules: Rules[F] = rules
        self._forms: dict[str, F] = dict(assumed or {})
        self._depth = depth

    # Of a semantics.

    @abstractmethod
    def number(self, number: int) -> F:
        """Return the form of a number."""

    @abstractmethod
    def leaf(self, value: Operand) -> F:
        """Return the form of an operand that no instruction computes."""

    @abstractmethod
    def own(self, instruction: Instruction) -> F:
        """Return an instruction's result as a symbol of its own."""

    @abstractmethod
    def index(self, value: Operand) -> F:
        """Return an index as an address counts it: with all its bits, extended with its sign."""

    @abstractmethod
    def kept(self, form: F, type_: Type) -> F | None:
        """Return a rule's result of a type as it is kept; None where it says too much."""

    # Of all.

    def form(self, value: Operand) -> F:
        """Return the form of a scalar integer or a pointer."""
        if value.kind is ValueKind.INSTRUCTION:
            return self.of_instruction(self.kernel.definition[value.text])
        return self.leaf(value)

    def both(self, instruction: Instruction) -> tuple[F, F]:
        """Return the forms of an instruction's two operands."""
        return self.form(instruction.operands[0]), self.form(instruction.operands[1])

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

    def _missing(self, instruction: Instruction) -> Iterator[Instruction]:
        """Yield the operands that must be known first. Phis ask for theirs when they are found."""
        if instruction.opcode != "phi" and instruction.opcode in self._rules:
            for operand in instruction.operands:
                if operand.kind is ValueKind.INSTRUCTION and operand.text not in self._forms:
                    yield self.kernel.definition[operand.text]

    def _found(self, instruction: Instruction) -> F:
        if not isinstance(instruction.type, IntegerType | PointerType):
            return self.own(instruction)
        rule = self._rules.get(instruction.opcode)
        self._depth += 1
        found = rule(self, instruction) if rule is not None and self._depth < _DEEPEST else None
        self._depth -= 1
        kept = self.kept(found, instruction.type) if found is not None else None
        return self.own(instruction) if kept is None else kept


# Rules of every semantics.


def add(walk: Walk[F], instruction: Instruction) -> F:
    """`add`, whatever its width."""
    first, second = walk.both(instruction)
    return first + second


def subtract(walk: Walk[F], instruction: Instruction) -> F:
    """`sub`, whatever its width."""
    first, second = walk.both(instruction)
    return first - second


# Address arithmetic:
#
#     getelementptr {i32, [8 x float]}, %p, i64 %i, i32 1, i32 %k     %p + 36·%i + 4 + 4·%k
#
# What %p, %i and %k are is up to the algebra that sums the steps: with or without wraps, over ids or over values.


@dataclass(frozen=True, slots=True)
class AddressStep:
    """A step from one address to another: so many bytes, times an index if there is one."""

    bytes: int
    index: Operand | None = None


def address(walk: Walk[F], instruction: Instruction) -> F | None:
    """`getelementptr`, in any semantics; None for vectors of pointers."""
    steps = address_steps(instruction)
    if steps is None:
        return None
    total = walk.form(instruction.operands[0])
    for step in steps:
        factor = walk.number(1) if step.index is None else walk.index(step.index)
        total = total + factor.scaled(step.bytes)
    return total


def address_steps(instruction: Instruction) -> tuple[AddressStep, ...] | None:
    """Return the steps from the first operand of a `getelementptr` to its result.

    They are in the order of the indices; None for vectors of pointers.
    """
    type_ = source_element_type(instruction)
    indices = instruction.operands[1:]
    if not all(isinstance(index.type, IntegerType) for index in indices):
        return None
    return AddressStep(size_of(type_), indices[0]), *_inner_steps(type_, indices[1:])


def _inner_steps(type_: Type, indices: Iterable[Operand]) -> Iterator[AddressStep]:
    """Return the steps into a type."""
    for index in indices:
        if isinstance(type_, StructType):
            number = int(index.text)
            yield AddressStep(field_offset(type_, number))
            type_ = type_.elements[number]
        elif isinstance(type_, ArrayType):
            type_ = type_.element
            yield AddressStep(size_of(type_), index)
        elif isinstance(type_, VectorType):
            type_ = type_.element
            yield AddressStep(content_bytes(type_), index)
        else:
            raise TypeError(f"{type_} has no elements")

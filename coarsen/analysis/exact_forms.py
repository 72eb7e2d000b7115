"""Integers and addresses as polynomials that hold whatever wraps: how far two addresses are apart.

    %x.1 = add i32 %x, 1              x + 1                     modulo 2^32
    %i.1 = zext i32 %x.1 to i64       zext32(x) + 1             modulo 2^64, unless it wrapped on the way from x
    %p.1 = gep float, %p, i64 %i.1    p + 4·zext32(x) + 4       likewise

A polynomial's symbols stand for integers, and it equals its value modulo 2^width of the value's type:

- sums, differences, products, shifts to the left by constants and truncations keep this, whatever wraps;
- an extension from w bits does not: `zext(x + 1)` is `zext(x) + 1`, or 2^w less where x + 1 wrapped. It is a
  symbol of its own, by its kind and its operand's polynomial. From 32 bits on the operand's constant is taken out
  of it all the same, and whoever compares two addresses has to rule the wrap out; below (`a[(uchar)x]`) never;
- everything else is a symbol of its own; phis of one block that stay at a constant distance share one.

**Where a wrap is ruled out.** An extension that was taken apart may be wrong by m·2^32, m being whole; scaled by
constants, by m·g·2^32 with a power of two g. Two addresses of one polynomial, whose constants differ by d, are
therefore d apart, or d + m·g·2^32. Both are reached through one pointer and so lie in one memory object. Accesses
that should be neighbours and are not span at least g·2^32 bytes from the first to the last: an object with fewer
bytes holds none. A variable's size is known, no device has 4 GiB of local memory, and a buffer of floats must hold
2^32 of them, 16 GiB, before any 32-bit index may wrap. Unlike those of `index_forms.py`, these forms may decide
what is legal.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.addresses import address_steps
from coarsen.analysis.polynomial import ONE, Polynomial
from coarsen.ir.details import flags
from coarsen.ir.kernel import Block, Instruction, Kernel, Value, ValueKind
from coarsen.ir.types import IntegerType, PointerType, Type

_SPLIT_WIDTH = 32
_POINTER_BITS = 64
_NUMBER = re.compile(r"-?\d+")
# Larger expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 32
_MAXIMUM_DEGREE = 4
_MAXIMUM_DEPTH = 80
_MAXIMUM_TRIALS = 3


@dataclass(frozen=True)
class Form:
    """A polynomial, and how wrong it may be: by multiples of `grain`·2^32; a grain of 0 says that it is exact."""

    polynomial: Polynomial
    grain: int = 0

    def __add__(self, other: Form) -> Form:
        return Form(self.polynomial + other.polynomial, _finer(self.grain, other.grain))

    def __sub__(self, other: Form) -> Form:
        return self + other.scaled(-1)

    def __mul__(self, other: Form) -> Form:
        if other.polynomial.is_constant and not other.grain:
            return self.scaled(other.polynomial.constant_part)
        return Form(self.polynomial * other.polynomial, _finer(self.grain, other.grain))

    def scaled(self, factor: int) -> Form:
        """The product with a number."""
        return Form(self.polynomial.scaled(factor), self.grain * (factor & -factor))

    def reduced(self, type_: Type) -> Form:
        """The coefficients modulo 2^width of a type, as the smallest numbers of either sign."""
        width = _width(type_)
        return Form(self.polynomial.modulo(width), self.grain if width > _SPLIT_WIDTH else 0)

    @property
    def is_small(self) -> bool:
        """Whether it is worth keeping."""
        terms = self.polynomial.terms
        return len(terms) <= _MAXIMUM_TERMS and all(len(product) <= _MAXIMUM_DEGREE for product in terms)


@dataclass(frozen=True, slots=True)
class _Extension:
    """What a symbol stands for: an operand of `width` bits, widened."""

    width: int
    operand: Polynomial


@dataclass(frozen=True)
class ExactAddress:
    """An address: `form`, without its constant, and `offset`, the constant, in bytes.

    `wrap` is g·2^32 (see above): in an object of fewer bytes, addresses of the same form are as far apart as their
    offsets say. It is None where they are so in any object.
    """

    form: Polynomial
    offset: int
    wrap: int | None


class ExactForms:
    """The forms of a kernel's integers and pointers, each computed when first asked for.

    Args:
        kernel: in normal form.
        assumed: forms of some phis, taken for granted.
        outer: the forms for which assumptions are tried, if any.
    """

    def __init__(
        self, kernel: Kernel, assumed: Mapping[str, Form] | None = None, outer: ExactForms | None = None
    ) -> None:
        self._kernel = kernel
        self._assumed = dict(assumed or {})
        self._forms = dict(self._assumed)
        self._extensions: dict[str, _Extension] = {}
        self._trials: int = outer._trials + 1 if outer else 0
        self._depth: int = outer._depth if outer else 0
        self._apart: dict[str, ExactForms] = {}

    def address(self, pointer: Value) -> ExactAddress:
        """Where a pointer points to."""
        form = self.form(pointer)
        offset = form.polynomial.constant_part
        wrap = form.grain << _SPLIT_WIDTH if form.grain else None
        return ExactAddress(form.polynomial - Polynomial.constant(offset), offset, wrap)

    def form(self, value: Value) -> Form:
        """The form of a scalar integer or a pointer."""
        if value.kind is ValueKind.CONSTANT and _NUMBER.fullmatch(value.text):
            return Form(Polynomial.constant(int(value.text)))
        if value.kind is ValueKind.INSTRUCTION:
            return self._of_instruction(self._kernel.definition[value.text])
        return Form(Polynomial.symbol(f"@{value.text}" if value.kind is ValueKind.GLOBAL else f"%{value.text}"))

    def _of_instruction(self, instruction: Instruction) -> Form:
        name = instruction.name
        if name not in self._forms:
            self._depth += 1
            computed = self._computed(instruction) if self._depth <= _MAXIMUM_DEPTH else _opaque(instruction)
            self._depth -= 1
            self._forms[name] = computed if computed.is_small else _opaque(instruction)
        return self._forms[name]

    def _computed(self, instruction: Instruction) -> Form:
        rule = _RULES.get(instruction.opcode)
        if rule is None or not isinstance(instruction.type, IntegerType | PointerType):
            return _opaque(instruction)
        return rule(self, instruction).reduced(instruction.type)

    # Arithmetic that holds modulo 2^width.

    def add(self, instruction: Instruction) -> Form:
        """`add`."""
        return self.form(instruction.operands[0]) + self.form(instruction.operands[1])

    def subtract(self, instruction: Instruction) -> Form:
        """`sub`."""
        return self.form(instruction.operands[0]) - self.form(instruction.operands[1])

    def multiply(self, instruction: Instruction) -> Form:
        """`mul`."""
        return self.form(instruction.operands[0]) * self.form(instruction.operands[1])

    def shift_left(self, instruction: Instruction) -> Form:
        """`shl` by a constant."""
        distance = self.form(instruction.operands[1]).polynomial
        if not distance.is_constant or not 0 <= distance.constant_part < _width(instruction.type):
            return _opaque(instruction)
        return self.form(instruction.operands[0]).scaled(1 << distance.constant_part)

    def disjoint_or(self, instruction: Instruction) -> Form:
        """`or` of numbers without a common bit is their sum."""
        return self.add(instruction) if "disjoint" in flags(instruction) else _opaque(instruction)

    def truncate(self, instruction: Instruction) -> Form:
        """`trunc`: what was extended from as many bits is what it was before."""
        width = _width(instruction.type)

        def narrowed(symbol: str) -> Polynomial:
            extension = self._extensions.get(symbol)
            if extension is None or extension.width < width:
                return Polynomial.symbol(symbol)
            return extension.operand

        form = self.form(instruction.operands[0])
        return Form(form.polynomial.replaced(narrowed), form.grain)

    # Extensions and addresses.

    def extend(self, instruction: Instruction) -> Form:
        """`sext`, `zext`."""
        return self._extended(instruction.opcode, instruction.operands[0])

    def _extended(self, opcode: str, operand: Value) -> Form:
        width = _width(operand.type)
        form = self.form(operand).reduced(operand.type)
        constant = form.polynomial.constant_part
        if form.polynomial.is_constant and not form.grain:
            return Form(Polynomial.constant(constant if opcode == "sext" else constant % (1 << width)))
        is_split = width >= _SPLIT_WIDTH
        taken_out = Polynomial.constant(constant if is_split else 0)
        rest = form.polynomial - taken_out
        symbol = f"{opcode}{width}({rest})"
        self._extensions[symbol] = _Extension(width, rest)
        return Form(Polynomial.symbol(symbol) + taken_out, 1 if is_split else 0)

    def pointer(self, instruction: Instruction) -> Form:
        """`getelementptr`."""
        steps = address_steps(instruction, self._kernel.structures)
        if steps is None:
            return _opaque(instruction)
        total = self.form(instruction.operands[0])
        for step in steps:
            factor = Form(ONE) if step.index is None else self._index(step.index)
            total = total + factor.scaled(step.bytes)
        return total

    def _index(self, index: Value) -> Form:
        """An index as an address counts it: narrower ones are extended with their sign."""
        return self.form(index) if _width(index.type) >= _POINTER_BITS else self._extended("sext", index)

    # Phis that stay at a constant distance from each other.

    def phi(self, instruction: Instruction) -> Form:
        """A phi is another of its block plus a constant if it is so on every way in, given that it was before.

            %x   = phi [ %id, %entry ],   [ %x.next, %latch ]        %x.next   = add %x, %n
            %x.1 = phi [ %id.1, %entry ], [ %x.next.1, %latch ]      %x.next.1 = add %x.1, %n

        This is an induction over the times that the block is entered, so it holds at any of them.
        """
        if self._trials >= _MAXIMUM_TRIALS:
            return _opaque(instruction)
        block = self._kernel.block[self._kernel.block_of[instruction.name]]
        for other in block.phis:
            if other.name == instruction.name:
                break
            if other.type == instruction.type and other.incoming == instruction.incoming:
                distance = self._lasting_distance(instruction, other, block)
                if distance is not None:
                    return self._of_instruction(other) + distance
        return _opaque(instruction)

    def _lasting_distance(self, phi: Instruction, other: Instruction, block: Block) -> Form | None:
        """The distance of two phis if it is a constant; a grain that a way in adds is assumed from then on."""
        assumed = self._possible_distance(phi, other, block)
        while assumed is not None:
            forms = self._trial({other.name: _opaque(other), phi.name: _opaque(other) + assumed})
            distances = [forms.distance(*pair) for pair in zip(phi.operands, other.operands, strict=True)]
            if any(distance.polynomial != assumed.polynomial for distance in distances):
                return None
            found = functools.reduce(_finer, (distance.grain for distance in distances), assumed.grain)
            if found == assumed.grain:
                break
            assumed = Form(assumed.polynomial, found)
        return assumed

    def _possible_distance(self, phi: Instruction, other: Instruction, block: Block) -> Form | None:
        """The distance of two phis on the first way in where it is a constant."""
        if block.name not in self._apart:
            self._apart[block.name] = self._trial({each.name: _opaque(each) for each in block.phis})
        forms = self._apart[block.name]
        for pair in zip(phi.operands, other.operands, strict=True):
            distance = forms.distance(*pair)
            if distance.polynomial.is_constant:
                return distance
        return None

    def _trial(self, assumed: Mapping[str, Form]) -> ExactForms:
        return ExactForms(self._kernel, {**self._assumed, **assumed}, self)

    def distance(self, value: Value, other: Value) -> Form:
        """One value less another of the same type."""
        return (self.form(value) - self.form(other)).reduced(value.type)


def _finer(grain: int, other: int) -> int:
    return min(grain or other, other or grain)


def _opaque(instruction: Instruction) -> Form:
    """An instruction's result as a symbol of its own."""
    return Form(Polynomial.symbol(f"%{instruction.name}"))


def _width(type_: Type) -> int:
    return type_.width if isinstance(type_, IntegerType) else _POINTER_BITS


_RULES: Mapping[str, Callable[[ExactForms, Instruction], Form]] = {
    "add": ExactForms.add,
    "sub": ExactForms.subtract,
    "mul": ExactForms.multiply,
    "shl": ExactForms.shift_left,
    "or": ExactForms.disjoint_or,
    "trunc": ExactForms.truncate,
    "sext": ExactForms.extend,
    "zext": ExactForms.extend,
    "getelementptr": ExactForms.pointer,
    "phi": ExactForms.phi,
}

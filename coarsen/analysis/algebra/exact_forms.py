"""Integers and addresses as polynomials that hold whatever wraps: how far two addresses are apart.

    %x.1 = add i32 %x, 1              x + 1                     modulo 2^32
    %i.1 = zext i32 %x.1 to i64       zext32(x) + 1             modulo 2^64, unless it wrapped on the way from x
    %p.1 = gep float, %p, i64 %i.1    p + 4·zext32(x) + 4       likewise

A polynomial's symbols stand for integers, and it equals its value modulo 2^width of the value's type:

- sums, differences, products, shifts to the left by constants, complements and truncations keep this, whatever
  wraps;
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
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.numbers import POINTER_BITS, number_of, width_of
from coarsen.analysis.algebra.polynomial import SPLIT_WIDTH, ModularForm, Polynomial, finer
from coarsen.analysis.algebra.walk import Walk, add, address, subtract
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import Type

# Larger expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 32
_MAXIMUM_DEGREE = 4
_MAXIMUM_TRIALS = 3


@dataclass(frozen=True, slots=True)
class Extension:
    """What a symbol stands for: an operand of `width` bits, widened by `opcode` (sext or zext)."""

    opcode: str
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


class ExactForms(Walk[ModularForm]):
    """The forms of a kernel's integers and addresses, each found when first asked for.

    Args:
        kernel: in normal form.
        assumed: forms of some phis, taken for granted.
        outer: the forms for which assumptions are tried, if any.
    """

    def __init__(
        self, kernel: Kernel, assumed: Mapping[str, ModularForm] | None = None, outer: ExactForms | None = None
    ) -> None:
        super().__init__(kernel, PROVE, assumed, outer._depth if outer else 0)
        self._assumed = dict(assumed or {})
        # They are numbered: spelled, those of extensions of extensions would grow with each.
        self._symbols: dict[object, str] = outer._symbols if outer else {}
        self._extensions: dict[str, Extension] = outer._extensions if outer else {}
        self._trials: int = outer._trials + 1 if outer else 0
        self._apart: dict[str, ExactForms] = {}

    def number(self, number: int) -> ModularForm:
        """Return the form of a number."""
        return ModularForm(Polynomial.constant(number))

    def leaf(self, value: Operand) -> ModularForm:
        """Return the form of an argument, a variable or a constant.

        A constant that is no number has a symbol that no value's name can be.
        """
        number = number_of(value)
        if number is not None:
            return self.number(number)
        if value.kind is ValueKind.CONSTANT:
            return ModularForm(Polynomial.symbol(f"constant {value.type} {value.text}"))
        return ModularForm(Polynomial.symbol(f"{'@' if value.kind is ValueKind.GLOBAL else '%'}{value.text}"))

    def own(self, instruction: Instruction) -> ModularForm:
        """Return an instruction's result as a symbol of its own."""
        return ModularForm(Polynomial.symbol(f"%{instruction.name}"))

    def index(self, value: Operand) -> ModularForm:
        """Return an index as an address counts it: narrower ones are extended with their sign."""
        return self.form(value) if width_of(value.type) >= POINTER_BITS else self.extended("sext", value)

    def kept(self, form: ModularForm, type_: Type) -> ModularForm | None:
        """Return a rule's result modulo 2^width; None where it says too much."""
        reduced = form.modulo(width_of(type_))
        terms, degree = len(reduced.polynomial.terms), reduced.polynomial.degree
        return reduced if terms <= _MAXIMUM_TERMS and degree <= _MAXIMUM_DEGREE else None

    def address(self, pointer: Operand) -> ExactAddress:
        """Return where a pointer points to."""
        form = self.form(pointer)
        offset = form.polynomial.constant_part
        wrap = form.grain << SPLIT_WIDTH if form.grain else None
        return ExactAddress(form.polynomial - Polynomial.constant(offset), offset, wrap)

    # Extensions.

    def extended(self, opcode: str, operand: Operand) -> ModularForm:
        """Return the form of an operand that is widened by `sext` or `zext`."""
        width = width_of(operand.type)
        form = self.form(operand).modulo(width)
        constant = form.polynomial.constant_part
        if form.number is not None:
            return self.number(constant if opcode == "sext" else constant % (1 << width))
        is_split = width >= SPLIT_WIDTH
        taken_out = Polynomial.constant(constant if is_split else 0)
        rest = form.polynomial - taken_out
        content = opcode, width, frozenset(rest.terms.items())
        symbol = self._symbols.setdefault(content, f"{opcode}{width} #{len(self._symbols) + 1}")
        self._extensions.setdefault(symbol, Extension(opcode, width, rest))
        return ModularForm(Polynomial.symbol(symbol) + taken_out, 1 if is_split else 0)

    def extension(self, symbol: str) -> Extension | None:
        """Return the extension that a symbol stands for, None for any other symbol."""
        return self._extensions.get(symbol)

    # Assumptions.

    @property
    def may_try(self) -> bool:
        """Return True if further assumptions may be tried on top of those that are made."""
        return self._trials < _MAXIMUM_TRIALS

    def trial(self, assumed: Mapping[str, ModularForm]) -> ExactForms:
        """Return the forms that follow from assumptions about phis."""
        return ExactForms(self.kernel, {**self._assumed, **assumed}, self)

    def apart(self, block: str) -> ExactForms:
        """Return the forms that follow where nothing is known of a block's phis."""
        if block not in self._apart:
            phis = self.kernel.block[block].phis
            self._apart[block] = self.trial({phi.name: self.own(phi) for phi in phis})
        return self._apart[block]

    def distance(self, value: Operand, other: Operand) -> ModularForm:
        """Return one value less another of the same type."""
        return (self.form(value) - self.form(other)).modulo(width_of(value.type))


# The rules. One that is wrong is a wrong kernel, since transforms rely on them.


def multiply(forms: ExactForms, instruction: Instruction) -> ModularForm:
    """`mul`, whatever its width."""
    first, second = forms.both(instruction)
    return first * second


def shift_left(forms: ExactForms, instruction: Instruction) -> ModularForm | None:
    """`shl` by a number of bits below its width; any other is poison."""
    shifted, distance = forms.both(instruction)
    number = distance.number
    is_known = number is not None and 0 <= number < width_of(instruction.type)
    return shifted.scaled(1 << number) if number is not None and is_known else None


def complement(forms: ExactForms, instruction: Instruction) -> ModularForm | None:
    """`xor` with -1 is -x - 1."""
    first, mask = forms.both(instruction)
    return mask - first if mask.number == -1 else None


def disjoint_or(forms: ExactForms, instruction: Instruction) -> ModularForm | None:
    """`or` of numbers without a common bit is their sum."""
    return add(forms, instruction) if "disjoint" in instruction.flags else None


def extend(forms: ExactForms, instruction: Instruction) -> ModularForm:
    """`sext`, `zext`: a symbol, by its kind and its operand's polynomial (`exact_forms.py`)."""
    return forms.extended(instruction.opcode, instruction.operands[0])


def truncate(forms: ExactForms, instruction: Instruction) -> ModularForm:
    """`trunc`: what was extended from as many bits, or more, is what it was before."""
    width = width_of(instruction.type)

    def narrowed(symbol: str) -> Polynomial:
        extension = forms.extension(symbol)
        if extension is None or extension.width < width:
            return Polynomial.symbol(symbol)
        return extension.operand

    form = forms.form(instruction.operands[0])
    return ModularForm(form.polynomial.replaced(narrowed), form.grain)


# Phis that stay at a constant distance from each other.
#
#     %x   = phi [ %id, %entry ],   [ %x.next, %latch ]        %x.next   = add %x, %n
#     %x.1 = phi [ %id.1, %entry ], [ %x.next.1, %latch ]      %x.next.1 = add %x.1, %n
#
# A phi is another of its block plus a constant if it is so on every way in, given that it was before. This is an
# induction over the times that the block is entered, so it holds at any of them.


def phi(forms: ExactForms, instruction: Instruction) -> ModularForm | None:
    """Return a phi as another of its block and a constant, None where there is no such other."""
    if not forms.may_try:
        return None
    block = forms.kernel.block_of[instruction.name]
    for other in forms.kernel.block[block].phis:
        if other.name == instruction.name:
            break
        if other.type == instruction.type and other.incoming == instruction.incoming:
            distance = _lasting_distance(forms, instruction, other)
            if distance is not None:
                return forms.of_instruction(other) + distance
    return None


def _lasting_distance(forms: ExactForms, phi: Instruction, other: Instruction) -> ModularForm | None:
    """Return the distance of two phis if it is a constant; a grain that a way in adds is assumed from then on."""
    assumed = _possible_distance(forms, phi, other)
    while assumed is not None:
        tried = forms.trial({other.name: forms.own(other), phi.name: forms.own(other) + assumed})
        distances = [tried.distance(*pair) for pair in zip(phi.operands, other.operands, strict=True)]
        if any(distance.polynomial != assumed.polynomial for distance in distances):
            return None
        found = functools.reduce(finer, (distance.grain for distance in distances), assumed.grain)
        if found == assumed.grain:
            break
        assumed = ModularForm(assumed.polynomial, found)
    return assumed


def _possible_distance(forms: ExactForms, phi: Instruction, other: Instruction) -> ModularForm | None:
    """Return the distance of two phis on the first way in where it is a constant."""
    apart = forms.apart(forms.kernel.block_of[phi.name])
    for pair in zip(phi.operands, other.operands, strict=True):
        distance = apart.distance(*pair)
        if distance.polynomial.is_constant:
            return distance
    return None


PROVE: Mapping[str, Callable[[ExactForms, Instruction], ModularForm | None]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "getelementptr": address,
    "shl": shift_left,
    "or": disjoint_or,
    "xor": complement,
    **dict.fromkeys(("sext", "zext"), extend),
    "trunc": truncate,
    "phi": phi,
}
"""The rule of each opcode; results of others are symbols of their own, which is always right."""


# Forms that are bit-exact: what integer arithmetic gives modulo 2^n, for whoever numbers values.

# Longer sums are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MOST_TERMS = 8
_RULES: Mapping[str, Callable[[Polynomial, Polynomial], Polynomial]] = {
    "add": Polynomial.__add__,
    "sub": Polynomial.__sub__,
    "mul": Polynomial.__mul__,
}


def is_exact(opcode: str) -> bool:
    """Return True for an operation on two integers that `combined` may follow."""
    return opcode == "shl" or opcode in _RULES


def combined(opcode: str, first: Polynomial, second: Polynomial, width: int) -> Polynomial | None:
    """Return the polynomial of an operation's result.

    Args:
        opcode: the operation, for which `is_exact` holds.
        first: the first operand's polynomial, which equals it modulo 2^width.
        second: the second operand's.
        width: the bits of the operands and of the result.

    Returns:
        The result's polynomial, which equals it modulo 2^width; None where the rule says nothing, or too much.
    """
    if len(first.terms) * len(second.terms) > 2 * _MOST_TERMS and opcode == "mul":
        return None
    if opcode == "shl":
        number = second.number
        if number is None or not 0 <= number < width:
            return None
        opcode, second = "mul", Polynomial.constant(1 << number)
    result = _RULES[opcode](first, second).modulo(width)
    return result if len(result.terms) <= _MOST_TERMS and result.degree <= _MAXIMUM_DEGREE else None

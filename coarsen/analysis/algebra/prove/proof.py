"""A walk whose forms hold for all inputs: its symbols, what they stand for, and what is assumed for a trial.

A form is the value modulo 2^width. Extensions and what only resembles a ring operation are symbols of their own,
phis of one block that stay at a constant distance share one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.numbers import POINTER_BITS, number_of, width_of
from coarsen.analysis.algebra.polynomial import Polynomial, Product
from coarsen.analysis.algebra.walk import Walk
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel

SPLIT_WIDTH = 32
"""The bits from which on an extension is taken apart; see `exact_forms.py`."""
# Larger expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 32
_MAXIMUM_DEGREE = 4


@dataclass(frozen=True)
class ModularForm:
    """A polynomial, and how wrong it may be: by multiples of `grain`·2^32; a grain of 0 says that it is exact."""

    polynomial: Polynomial
    grain: int = 0

    def __add__(self, other: ModularForm) -> ModularForm:
        return ModularForm(self.polynomial + other.polynomial, finer(self.grain, other.grain))

    def __sub__(self, other: ModularForm) -> ModularForm:
        return self + other.scaled(-1)

    def __mul__(self, other: ModularForm) -> ModularForm:
        if other.number is not None:
            return self.scaled(other.number)
        return ModularForm(self.polynomial * other.polynomial, finer(self.grain, other.grain))

    def scaled(self, factor: int) -> ModularForm:
        """Return the product with a number."""
        return ModularForm(self.polynomial.scaled(factor), self.grain * (factor & -factor))

    def modulo(self, width: int) -> ModularForm:
        """Return the coefficients modulo 2^width, as the smallest numbers of either sign."""
        return ModularForm(self.polynomial.modulo(width), self.grain if width > SPLIT_WIDTH else 0)

    @property
    def number(self) -> int | None:
        """The number that it is for sure; None for any other."""
        return None if self.grain else self.polynomial.number

    @property
    def is_small(self) -> bool:
        """Return True if it is worth keeping."""
        return len(self.polynomial.terms) <= _MAXIMUM_TERMS and self.polynomial.degree <= _MAXIMUM_DEGREE


def finer(grain: int, other: int) -> int:
    """Return the grain of what is wrong by both; 0 is none."""
    return min(grain or other, other or grain)


_MAXIMUM_TRIALS = 3

ProveRule = Callable[["Proof", Instruction], ModularForm | None]
_Terms = frozenset[tuple[Product, int]]


@dataclass(frozen=True, slots=True)
class Extension:
    """What a symbol stands for: an operand of `width` bits, widened by `opcode` (sext or zext)."""

    opcode: str
    width: int
    operand: Polynomial


class _Extensions:
    """The symbols of extensions: one for each kind, width and operand.

    They are numbered: spelled, those of extensions of extensions would grow with each.
    """

    def __init__(self) -> None:
        self._by_content: dict[tuple[str, int, _Terms], str] = {}
        self._by_symbol: dict[str, Extension] = {}

    def symbol(self, extension: Extension) -> str:
        """Return an extension's symbol."""
        content = extension.opcode, extension.width, frozenset(extension.operand.terms.items())
        if content not in self._by_content:
            symbol = f"{extension.opcode}{extension.width} #{len(self._by_content) + 1}"
            self._by_content[content], self._by_symbol[symbol] = symbol, extension
        return self._by_content[content]

    def of(self, symbol: str) -> Extension | None:
        """Return the extension that a symbol stands for, None for any other symbol."""
        return self._by_symbol.get(symbol)


class Proof(Walk[ModularForm]):
    """The forms of a kernel's integers and addresses.

    Args:
        kernel: in normal form.
        rules: the proving ones, by opcode.
        assumed: forms of some phis, taken for granted.
        outer: the forms for which assumptions are tried, if any.
    """

    def __init__(
        self,
        kernel: Kernel,
        rules: Mapping[str, ProveRule],
        assumed: Mapping[str, ModularForm] | None = None,
        outer: Proof | None = None,
    ) -> None:
        super().__init__(kernel, assumed, outer._depth if outer else 0)
        self._rules = rules
        self._assumed = dict(assumed or {})
        self._extensions: _Extensions = outer._extensions if outer else _Extensions()
        self._trials: int = outer._trials + 1 if outer else 0
        self._apart: dict[str, Proof] = {}

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

    def has_rule(self, opcode: str) -> bool:
        """Return True if results of an opcode may follow from its operands."""
        return opcode in self._rules

    def applied(self, instruction: Instruction) -> ModularForm | None:
        """Return what an instruction's rule gives; None where it says nothing, or too much."""
        rule = self._rules.get(instruction.opcode)
        found = rule(self, instruction) if rule is not None else None
        reduced = found.modulo(width_of(instruction.type)) if found is not None else None
        return reduced if reduced is None or reduced.is_small else None

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
        symbol = self._extensions.symbol(Extension(opcode, width, form.polynomial - taken_out))
        return ModularForm(Polynomial.symbol(symbol) + taken_out, 1 if is_split else 0)

    def extension(self, symbol: str) -> Extension | None:
        """Return the extension that a symbol stands for, None for any other symbol."""
        return self._extensions.of(symbol)

    # Assumptions.

    @property
    def may_try(self) -> bool:
        """Return True if further assumptions may be tried on top of those that are made."""
        return self._trials < _MAXIMUM_TRIALS

    def trial(self, assumed: Mapping[str, ModularForm]) -> Proof:
        """Return the forms that follow from assumptions about phis."""
        return Proof(self.kernel, self._rules, {**self._assumed, **assumed}, self)

    def apart(self, block: str) -> Proof:
        """Return the forms that follow where nothing is known of a block's phis."""
        if block not in self._apart:
            phis = self.kernel.block[block].phis
            self._apart[block] = self.trial({phi.name: self.own(phi) for phi in phis})
        return self._apart[block]

    def distance(self, value: Operand, other: Operand) -> ModularForm:
        """Return one value less another of the same type."""
        return (self.form(value) - self.form(other)).modulo(width_of(value.type))


# The proving rules of what is no ring operation: it is one under conditions, or it is a symbol of its own.


def disjoint_or(proof: Proof, instruction: Instruction) -> ModularForm | None:
    """`or` of numbers without a common bit is their sum."""
    if "disjoint" not in instruction.flags:
        return None
    return proof.form(instruction.operands[0]) + proof.form(instruction.operands[1])


def extend(proof: Proof, instruction: Instruction) -> ModularForm:
    """`sext`, `zext`: a symbol, by its kind and its operand's polynomial (`exact_forms.py`)."""
    return proof.extended(instruction.opcode, instruction.operands[0])


def truncate(proof: Proof, instruction: Instruction) -> ModularForm:
    """`trunc`: what was extended from as many bits, or more, is what it was before."""
    width = width_of(instruction.type)

    def narrowed(symbol: str) -> Polynomial:
        extension = proof.extension(symbol)
        if extension is None or extension.width < width:
            return Polynomial.symbol(symbol)
        return extension.operand

    form = proof.form(instruction.operands[0])
    return ModularForm(form.polynomial.replaced(narrowed), form.grain)


# Phis that stay at a constant distance from each other.
#
#     %x   = phi [ %id, %entry ],   [ %x.next, %latch ]        %x.next   = add %x, %n
#     %x.1 = phi [ %id.1, %entry ], [ %x.next.1, %latch ]      %x.next.1 = add %x.1, %n
#
# A phi is another of its block plus a constant if it is so on every way in, given that it was before. This is an
# induction over the times that the block is entered, so it holds at any of them.


def phi(proof: Proof, instruction: Instruction) -> ModularForm | None:
    """Return a phi as another of its block and a constant, None where there is no such other."""
    if not proof.may_try:
        return None
    block = proof.block_of(instruction)
    for other in proof.kernel.block[block].phis:
        if other.name == instruction.name:
            break
        if other.type == instruction.type and other.incoming == instruction.incoming:
            distance = _lasting_distance(proof, instruction, other)
            if distance is not None:
                return proof.of_instruction(other) + distance
    return None


def _lasting_distance(proof: Proof, phi: Instruction, other: Instruction) -> ModularForm | None:
    """Return the distance of two phis if it is a constant; a grain that a way in adds is assumed from then on."""
    assumed = _possible_distance(proof, phi, other)
    while assumed is not None:
        forms = proof.trial({other.name: proof.own(other), phi.name: proof.own(other) + assumed})
        distances = [forms.distance(*pair) for pair in zip(phi.operands, other.operands, strict=True)]
        if any(distance.polynomial != assumed.polynomial for distance in distances):
            return None
        found = functools.reduce(finer, (distance.grain for distance in distances), assumed.grain)
        if found == assumed.grain:
            break
        assumed = ModularForm(assumed.polynomial, found)
    return assumed


def _possible_distance(proof: Proof, phi: Instruction, other: Instruction) -> ModularForm | None:
    """Return the distance of two phis on the first way in where it is a constant."""
    forms = proof.apart(proof.block_of(phi))
    for pair in zip(phi.operands, other.operands, strict=True):
        distance = forms.distance(*pair)
        if distance.polynomial.is_constant:
            return distance
    return None

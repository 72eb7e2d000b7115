"""A walk whose forms hold for all inputs: its symbols, what they stand for, and what is assumed for a trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.numbers import POINTER_BITS, number_of, width_of
from coarsen.analysis.algebra.polynomial import Polynomial, Product
from coarsen.analysis.algebra.prove.form import SPLIT_WIDTH, ModularForm
from coarsen.analysis.algebra.walk import Walk
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel, Value

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

    def leaf(self, value: Value) -> ModularForm:
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

    def index(self, value: Value) -> ModularForm:
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

    def extended(self, opcode: str, operand: Value) -> ModularForm:
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

    def distance(self, value: Value, other: Value) -> ModularForm:
        """Return one value less another of the same type."""
        return (self.form(value) - self.form(other)).modulo(width_of(value.type))

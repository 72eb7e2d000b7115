"""A walk whose forms hold where nothing wraps: over ids, loop iterations and uniform values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coarsen.analysis.algebra.numbers import number_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.predict.symbols import Symbols
from coarsen.analysis.algebra.walk import Walk
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel, Value

PredictRule = Callable[["Prediction", Instruction], Polynomial | None]

# Larger expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 64
_MAXIMUM_DEGREE = 8
_MAXIMUM_COEFFICIENT = 1 << 64


class Prediction(Walk[Polynomial]):
    """The polynomials of a kernel's integers and pointers.

    Args:
        kernel: in normal form.
        control_flow: of the kernel.
        rules: the predicting ones, by opcode.
        divergence: analyses that exist already, by dimension.
    """

    def __init__(
        self,
        kernel: Kernel,
        control_flow: ControlFlow,
        rules: Mapping[str, PredictRule],
        divergence: Mapping[int, Divergence] | None = None,
    ) -> None:
        super().__init__(kernel)
        self.control_flow = control_flow
        self.symbols = Symbols(kernel, control_flow, divergence)
        self._rules = rules

    def number(self, number: int) -> Polynomial:
        """Return the polynomial of a number."""
        return Polynomial.constant(number)

    def leaf(self, value: Value) -> Polynomial:
        """Return the polynomial of an argument, a variable or a constant; 0 of one that may be anything."""
        if value.kind is ValueKind.CONSTANT:
            # A constant address is that of its variable, whatever offset into it.
            if value.mentioned:
                return Polynomial.symbol(f"@{value.mentioned[0]}")
            return self.number(number_of(value) or 0)
        return Polynomial.symbol(("@" if value.kind is ValueKind.GLOBAL else "") + value.text)

    def own(self, instruction: Instruction) -> Polynomial:
        """Return an instruction's result as a symbol of its own."""
        return Polynomial.symbol(f"%{instruction.name}")

    def index(self, value: Value) -> Polynomial:
        """Return an index as an address counts it: as it is."""
        return self.form(value)

    def has_rule(self, opcode: str) -> bool:
        """Return True if results of an opcode may follow from its operands."""
        return opcode in self._rules

    def applied(self, instruction: Instruction) -> Polynomial | None:
        """Return what an instruction's rule gives; None where it says nothing, or too much."""
        rule = self._rules.get(instruction.opcode)
        found = rule(self, instruction) if rule is not None else None
        return found if found is None or _is_small(found) else None

    def both(self, instruction: Instruction) -> tuple[Polynomial, Polynomial]:
        """Return the polynomials of an instruction's two operands."""
        return self.form(instruction.operands[0]), self.form(instruction.operands[1])

    def may_multiply(self, first: Polynomial, second: Polynomial) -> bool:
        """Return True if a product is worth being computed."""
        return len(first.terms) * len(second.terms) <= _MAXIMUM_TERMS

    def assuming(self, phi: Instruction, value: Value) -> Polynomial:
        """Return the polynomial of a value in which a phi is itself; what follows from that is not kept."""
        known, length = self._forms.get(phi.name), len(self._forms)
        self._forms[phi.name] = self.own(phi)
        found = self.form(value)
        while len(self._forms) > length:
            self._forms.popitem()  # the latest first: only those that came since
        if known is not None:
            self._forms[phi.name] = known
        return found


def _is_small(polynomial: Polynomial) -> bool:
    return (
        len(polynomial.terms) <= _MAXIMUM_TERMS
        and polynomial.degree <= _MAXIMUM_DEGREE
        and all(abs(coefficient) <= _MAXIMUM_COEFFICIENT for coefficient in polynomial.terms.values())
    )

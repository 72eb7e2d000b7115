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
- everything else is a symbol of its own; phis of one block that stay at a constant distance share one
  (`prove/proof.py`).

**Where a wrap is ruled out.** An extension that was taken apart may be wrong by m·2^32, m being whole; scaled by
constants, by m·g·2^32 with a power of two g. Two addresses of one polynomial, whose constants differ by d, are
therefore d apart, or d + m·g·2^32. Both are reached through one pointer and so lie in one memory object. Accesses
that should be neighbours and are not span at least g·2^32 bytes from the first to the last: an object with fewer
bytes holds none. A variable's size is known, no device has 4 GiB of local memory, and a buffer of floats must hold
2^32 of them, 16 GiB, before any 32-bit index may wrap. Unlike those of `index_forms.py`, these forms may decide
what is legal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.numbers import RingRule
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.prove.proof import SPLIT_WIDTH, Proof
from coarsen.analysis.algebra.rules import PROVE, TABLE
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel


@dataclass(frozen=True)
class ExactAddress:
    """An address: `form`, without its constant, and `offset`, the constant, in bytes.

    `wrap` is g·2^32 (see above): in an object of fewer bytes, addresses of the same form are as far apart as their
    offsets say. It is None where they are so in any object.
    """

    form: Polynomial
    offset: int
    wrap: int | None


class ExactForms(Proof):
    """The forms of a kernel's integers and addresses, each found when first asked for.

    Args:
        kernel: in normal form.
    """

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel, PROVE)

    def address(self, pointer: Operand) -> ExactAddress:
        """Return where a pointer points to."""
        form = self.form(pointer)
        offset = form.polynomial.constant_part
        wrap = form.grain << SPLIT_WIDTH if form.grain else None
        return ExactAddress(form.polynomial - Polynomial.constant(offset), offset, wrap)


# Forms that are bit-exact: what integer arithmetic gives modulo 2^n, for whoever numbers values.

# Longer sums are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 8
_MAXIMUM_DEGREE = 4
_RULES: Mapping[str, RingRule] = {opcode: rule.exact for opcode, rule in TABLE.items() if rule.exact is not None}


def is_exact(opcode: str) -> bool:
    """Return True for an operation on two integers that `combined` may follow."""
    return opcode in _RULES


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
    if len(first.terms) * len(second.terms) > 2 * _MAXIMUM_TERMS and opcode == "mul":
        return None
    found = _RULES[opcode](first, second, width)
    result = found.modulo(width) if found is not None else None
    is_small = result is not None and len(result.terms) <= _MAXIMUM_TERMS and result.degree <= _MAXIMUM_DEGREE
    return result if is_small else None

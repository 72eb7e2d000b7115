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
  (`prove/phis.py`).

**Where a wrap is ruled out.** An extension that was taken apart may be wrong by m·2^32, m being whole; scaled by
constants, by m·g·2^32 with a power of two g. Two addresses of one polynomial, whose constants differ by d, are
therefore d apart, or d + m·g·2^32. Both are reached through one pointer and so lie in one memory object. Accesses
that should be neighbours and are not span at least g·2^32 bytes from the first to the last: an object with fewer
bytes holds none. A variable's size is known, no device has 4 GiB of local memory, and a buffer of floats must hold
2^32 of them, 16 GiB, before any 32-bit index may wrap. Unlike those of `index_forms.py`, these forms may decide
what is legal.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.prove.form import SPLIT_WIDTH
from coarsen.analysis.algebra.prove.proof import Proof
from coarsen.analysis.algebra.rules import PROVE
from coarsen.ir.kernel import Kernel, Value


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

    def address(self, pointer: Value) -> ExactAddress:
        """Return where a pointer points to."""
        form = self.form(pointer)
        offset = form.polynomial.constant_part
        wrap = form.grain << SPLIT_WIDTH if form.grain else None
        return ExactAddress(form.polynomial - Polynomial.constant(offset), offset, wrap)

"""Classes of launches that share a choice: one local size, global sizes between the same powers of two, which
divide alike.

(1504, 304) in groups of (16, 16) ─▶ 2^10%32x2^8%16/16x16 ◀─ (1056, 272) in groups of (16, 16)
(1500,) where the device chooses the groups ─▶ 2^10%4/open

A choice has factors and local sizes that are powers of two: what divides one launch of a class divides all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import DIMENSIONS
from coarsen.variant.variant import LocalSize

_OPEN = "open"
_BASE = "2^"
_EXPONENT = r"2\^(?:0|[1-9]\d?)%[1-9]\d{0,5}"
_EXTENT = r"[1-9]\d{0,9}"
# No choice divides by more.
_MOST_DIVISOR = 1 << 15
_TEXT = re.compile(rf"({_EXPONENT}(?:x{_EXPONENT}){{0,2}})/({_OPEN}|{_EXTENT}(?:x{_EXTENT}){{0,2}})")


@dataclass(frozen=True, slots=True)
class SizeClass:
    """A class of launches; `str` and `parse` write and read it.

    Attributes:
        exponents: floor(log2) of each global extent.
        divisors: the largest power of two that divides each, but at most 2^15.
        local_size: as launched, in work-items; None where the device chooses it.
    """

    exponents: tuple[int, ...]
    divisors: tuple[int, ...]
    local_size: LocalSize | None

    @staticmethod
    def of(global_size: Sequence[int], local_size: Sequence[int] | None) -> SizeClass:
        """Return the class of a launch.

        Args:
            global_size: in work-items, one to three extents.
            local_size: in work-items, as many extents; None where the device chooses it.

        Raises:
            InvalidInputError: extents below 1, or not as many as there are dimensions.
        """
        extents = tuple(map(int, global_size))
        local = None if local_size is None else tuple(map(int, local_size))
        if not 1 <= len(extents) <= DIMENSIONS or (local is not None and len(local) != len(extents)):
            raise InvalidInputError(f"not the sizes of one launch: {extents} and {local}")
        if min(extents + (local or ())) < 1:
            raise InvalidInputError(f"a launch without work-items: {extents} and {local}")
        exponents = tuple(extent.bit_length() - 1 for extent in extents)
        return SizeClass(exponents, tuple(math.gcd(extent, _MOST_DIVISOR) for extent in extents), local)

    @staticmethod
    def parse(text: str) -> SizeClass:
        """Return the class that `str` wrote. Raises InvalidInputError for any other text."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise InvalidInputError(
                f"not a class of sizes, such as 2^10%32x2^8%16/16x16 or 2^20%4/open: {text[:60]!a}"
            )
        pairs = [tuple(map(int, each.removeprefix(_BASE).split("%"))) for each in found[1].split("x")]
        exponents, divisors = tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)
        if any(math.gcd(divisor, _MOST_DIVISOR) != divisor for divisor in divisors):
            raise InvalidInputError(f"a class of sizes with a divisor that is no power of two: {text!a}")
        local_size = None if found[2] == _OPEN else tuple(map(int, found[2].split("x")))
        if local_size is not None and len(local_size) != len(exponents):
            raise InvalidInputError(f"a class of sizes with different numbers of dimensions: {text!a}")
        return SizeClass(exponents, divisors, local_size)

    def __str__(self) -> str:
        pairs = zip(self.exponents, self.divisors, strict=True)
        extents = "x".join(f"{_BASE}{exponent}%{divisor}" for exponent, divisor in pairs)
        local_size = _OPEN if self.local_size is None else "x".join(map(str, self.local_size))
        return f"{extents}/{local_size}"

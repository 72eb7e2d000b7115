"""Classes of launches that share a choice: one local size, global sizes up to the next power of two.

(1500, 300) in groups of (16, 16) ─▶ 2^10x2^8/16x16 ◀─ (1024, 511) in groups of (16, 16)
(1500,) where the device chooses the groups ─▶ 2^10/open
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import DIMENSIONS
from coarsen.variant.variant import LocalSize

_OPEN = "open"
_BASE = "2^"
_EXPONENT = r"2\^(?:0|[1-9]\d?)"
_EXTENT = r"[1-9]\d{0,9}"
_TEXT = re.compile(rf"({_EXPONENT}(?:x{_EXPONENT}){{0,2}})/({_OPEN}|{_EXTENT}(?:x{_EXTENT}){{0,2}})")


@dataclass(frozen=True, slots=True)
class SizeClass:
    """A class of launches; `str` and `parse` write and read it.

    Attributes:
        exponents: floor(log2) of each global extent.
        local_size: as launched, in work-items; None where the device chooses it.
    """

    exponents: tuple[int, ...]
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
        return SizeClass(tuple(extent.bit_length() - 1 for extent in extents), local)

    @staticmethod
    def parse(text: str) -> SizeClass:
        """Return the class that `str` wrote. Raises InvalidInputError for any other text."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise InvalidInputError(f"not a class of sizes, such as 2^10x2^8/16x16 or 2^20/open: {text[:60]!a}")
        exponents = tuple(int(each.removeprefix(_BASE)) for each in found[1].split("x"))
        local_size = None if found[2] == _OPEN else tuple(map(int, found[2].split("x")))
        if local_size is not None and len(local_size) != len(exponents):
            raise InvalidInputError(f"a class of sizes with different numbers of dimensions: {text!a}")
        return SizeClass(exponents, local_size)

    def __str__(self) -> str:
        extents = "x".join(f"{_BASE}{exponent}" for exponent in self.exponents)
        local_size = _OPEN if self.local_size is None else "x".join(map(str, self.local_size))
        return f"{extents}/{local_size}"

"""Pads and permutations of the rows of an array in local memory, so that their elements part among the banks.

float tile[16][16]    1       element (r, c) at r·17 + c: each row begins one bank later
                      xor     element (r, c) at r·16 + (c ^ (r mod 16)): no bytes are added
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

from coarsen.errors import InvalidInputError

# The bytes that all banks of a device deliver at once: 32 of 4 bytes, of all that have banks.
BANK_BYTES, ALL_BANKS_BYTES = 4, 128
# More than any local memory has.
_LARGEST_PAD = 2**16
_MOST_DIGITS = 6


class PadKind(enum.StrEnum):
    """The ways to keep rows apart."""

    ELEMENTS = "elements"
    XOR = "xor"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Pad:
    """What is done to the rows of an array.

    Attributes:
        kind: elements more in each row, their permutation, or what costs least on a device.
        elements: that are added to each row; 0 for the other kinds.

    Raises:
        InvalidInputError: a number that can't be.
    """

    kind: PadKind = PadKind.ELEMENTS
    elements: int = 0

    def __post_init__(self) -> None:
        most = _LARGEST_PAD if self.kind is PadKind.ELEMENTS else 0
        if not 0 <= self.elements <= most:
            raise InvalidInputError(f"a pad has from 0 to {_LARGEST_PAD} elements, not {self.elements}")

    @classmethod
    def parse(cls, text: str) -> Pad:
        """Return the pad that a text names: `1`, `xor` or `auto`. Raises InvalidInputError."""
        if text.isdecimal() and len(text) <= _MOST_DIGITS:
            return cls(PadKind.ELEMENTS, int(text))
        if text in (PadKind.XOR, PadKind.AUTO):
            return cls(PadKind(text))
        raise InvalidInputError(f"a pad is a number of elements, xor or auto, not '{text}'")

    def __str__(self) -> str:
        return str(self.elements) if self.kind is PadKind.ELEMENTS else str(self.kind)


NO_PAD = Pad()
XOR = Pad(PadKind.XOR)


class RowPermutation(NamedTuple):
    """An exclusive or of the units of each row: unit u of row r lies where u ^ (r & `mask`) would.

    Attributes:
        unit_bytes: of what stays together.
        mask: of the row's number; one less than a power of two.
    """

    unit_bytes: int
    mask: int

    def place(self, row: int, byte: int) -> tuple[int, int]:
        """Return the row and the byte in it where something lies that stood at another byte of the row."""
        unit, rest = divmod(byte, self.unit_bytes)
        return row, (unit ^ (row & self.mask)) * self.unit_bytes + rest


def row_permutation(row_bytes: int, unit_bytes: int, banks_bytes: int = ALL_BANKS_BYTES) -> RowPermutation | None:
    """Return the permutation that parts rows among all banks.

    Args:
        row_bytes: of a row.
        unit_bytes: of what must stay together: a bank's word, an element, an access.
        banks_bytes: of one word from each bank.

    Returns:
        None for rows that are no power of two of units, two at least: a permuted unit might leave its row.
    """
    units, rest = divmod(row_bytes, unit_bytes)
    if rest or units < 2 or units & (units - 1):
        return None
    within = max(1, banks_bytes // unit_bytes)
    return RowPermutation(unit_bytes, min(units, max(2, 1 << (within.bit_length() - 1))) - 1)

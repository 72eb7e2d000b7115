"""The padding of an array's rows, or the permutation of its columns, that costs least in bank conflicts.

    float tile[32][32], read along a column by 32 lanes, written along a row:

    pad 0          32 + 1       all of a column lies in one bank
    pad 1           1 + 1       each row begins one bank later
    exclusive or    1 + 1       column c of row r lies where column c ^ r did; no bytes are added

The cost is the sum of the degrees (`degree.py`) over all references of the array. Pads are tried from 0 to the
number of banks less 1, after which they repeat; of equal ones the smallest is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.cost.banks.degree import Banks, bank_degree
from coarsen.variant.padding import row_permutation


@dataclass(frozen=True, slots=True)
class Reference:
    """An access to an array of rows, by all lanes of a sub-group.

    Attributes:
        places: the row of each lane, and the byte in that row.
        access_bytes: of each lane.
    """

    places: tuple[tuple[int, int], ...]
    access_bytes: int


@dataclass(frozen=True, slots=True)
class Padding:
    """What is added to each row.

    Attributes:
        words: of a bank's size; 0 for nothing.
        cost: the sum of the degrees of all references with it.
        unpadded_cost: without it.
    """

    words: int
    cost: int
    unpadded_cost: int


@dataclass(frozen=True, slots=True)
class Swizzle:
    """A permutation of the units of each row: unit u of row r lies where u ^ (r & `mask`) would.

    Attributes:
        unit_bytes: of what stays together.
        mask: of the row's number; one less than a power of two.
        cost: the sum of the degrees of all references with it.
    """

    unit_bytes: int
    mask: int
    cost: int

    def place(self, row: int, byte: int) -> tuple[int, int]:
        """Return the row and the byte in it where something lies that stood at another byte of the row."""
        unit, rest = divmod(byte, self.unit_bytes)
        return row, (unit ^ (row & self.mask)) * self.unit_bytes + rest


def best_padding(
    references: Sequence[Reference], row_bytes: int, element_bytes: int, banks: Banks | None
) -> Padding | None:
    """Return the padding of least cost; None for a device without banks, which needs none.

    Args:
        references: all of the array's.
        row_bytes: of a row without padding.
        element_bytes: of what rows are made of: elements stay aligned.
        banks: of the device's local memory; None where it has none.
    """
    if banks is None:
        return None
    unpadded = padded_cost(references, row_bytes, 0, banks)
    words, least = 0, math.inf
    for pad in pads(element_bytes, banks):
        cost = padded_cost(references, row_bytes, pad, banks)
        if cost < least:
            words, least = pad, cost
    return Padding(words, int(least), unpadded)


def pads(element_bytes: int, banks: Banks) -> Iterator[int]:
    """Yield the pads to try, in words, after which elements are still aligned."""
    return (pad for pad in range(banks.count) if pad * banks.word_bytes % element_bytes == 0 or not pad)


def padded_cost(references: Sequence[Reference], row_bytes: int, words: int, banks: Banks) -> int:
    """Return the sum of the degrees of all references where each row has so many words more."""
    return pitch_cost(references, row_bytes + words * banks.word_bytes, banks)


def best_swizzle(
    references: Sequence[Reference], row_bytes: int, element_bytes: int, banks: Banks | None
) -> Swizzle | None:
    """Return the permutation of columns by exclusive or, with its cost.

    Args:
        references: all of the array's.
        row_bytes: of a row.
        element_bytes: of what rows are made of.
        banks: of the device's local memory; None where it has none.

    Returns:
        None without banks, for rows that are no power of two of units, where a permuted unit might lie outside of
        its row, and where an access is not within one unit.
    """
    if banks is None:
        return None
    unit = max([banks.word_bytes, element_bytes, *(each.access_bytes for each in references)])
    found = row_permutation(row_bytes, unit, banks.count * banks.word_bytes)
    within = all(
        byte % unit + each.access_bytes <= unit and 0 <= byte < row_bytes
        for each in references
        for _, byte in each.places
    )
    if found is None or not within:
        return None
    swizzle = Swizzle(found.unit_bytes, found.mask, 0)
    moved = [
        Reference(tuple(swizzle.place(row, byte) for row, byte in each.places), each.access_bytes)
        for each in references
    ]
    return Swizzle(swizzle.unit_bytes, swizzle.mask, pitch_cost(moved, row_bytes, banks))


def pitch_cost(references: Sequence[Reference], pitch: int, banks: Banks) -> int:
    """Return the sum of the degrees of all references where rows begin so many bytes apart."""
    return sum(
        bank_degree([row * pitch + byte for row, byte in each.places], each.access_bytes, banks)
        for each in references
    )

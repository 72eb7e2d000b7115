"""The memory of a device: lanes, pieces, and banks, whose words are served one after the other.

The degree of an access is how many distinct words of one bank the lanes of a sub-group ask for.

    32 banks of 4 bytes     tile[lane]         1    a word in each bank
                            tile[2 * lane]     2    words 0 and 32 lie in bank 0
                            tile[32 * lane]   32
                            tile[0]            1    one word, which all lanes get at once

Where each lane takes an element of one word, s > 0 words from its neighbour's, and there are as many lanes as
banks, this is the greatest common divisor of s and the number of banks.

The padding of an array's rows, or the permutation of its columns, that costs least has the least sum of degrees
over all references of the array. Of float tile[32][32], read along a column by 32 lanes, written along a row:

    pad 0          32 + 1       all of a column lies in one bank
    pad 1           1 + 1       each row begins one bank later
    exclusive or    1 + 1       column c of row r lies where column c ^ r did; no bytes are added

Pads are tried from 0 to the number of banks less 1, after which they repeat; of equal ones the smallest is taken.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.variant.pads import row_permutation

SECTOR_BYTES, LINE_BYTES = 32, 64


@dataclass(frozen=True, slots=True)
class Banks:
    """The banks of a device's local memory: word w lies in bank w mod `count`.

    Attributes:
        count: how many there are, at least 1.
        word_bytes: of the words, at least 1.

    Raises:
        InvalidInputError: one of them is below 1.
    """

    count: int
    word_bytes: int = 4

    def __post_init__(self) -> None:
        if min(self.count, self.word_bytes) < 1:
            raise InvalidInputError("banks and the bytes of their words are counted from 1")


def bank_degree(addresses: Sequence[int], access_bytes: int, banks: Banks) -> int:
    """Return the most distinct words of one bank that lanes access at once; 0 without lanes.

    Args:
        addresses: the first byte of each lane's access, from any multiple of a word on.
        access_bytes: of each lane.
        banks: of the memory.
    """
    met = Counter(word % banks.count for word in touched(addresses, access_bytes, banks.word_bytes))
    return max(met.values(), default=0)


def least_degree(addresses: Sequence[int], access_bytes: int, banks: Banks) -> int:
    """Return the degree that as many distinct words have at best: spread evenly over all banks."""
    return math.ceil(len(touched(addresses, access_bytes, banks.word_bytes)) / banks.count)


def touched(addresses: Iterable[int], access_bytes: int, piece_bytes: int) -> set[int]:
    """Return the words, or other pieces of memory, that accesses of so many bytes touch, by their numbers."""
    return {
        piece
        for address in set(addresses)
        for piece in range(address // piece_bytes, (address + access_bytes - 1) // piece_bytes + 1)
    }


@dataclass(frozen=True, slots=True)
class Reference:
    """An access to an array of rows, by all lanes of a sub-group.

    Attributes:
        places: the row of each lane, and the byte in that row.
        access_bytes: of each lane.
    """

    places: tuple[tuple[int, int], ...]
    access_bytes: int


def best_padding(
    references: Sequence[Reference], row_bytes: int, element_bytes: int, banks: Banks
) -> tuple[int, int]:
    """Return how many words of a bank to add to each row, and the sum of the degrees of all references then.

    Args:
        references: all of the array's.
        row_bytes: of a row without padding.
        element_bytes: of what rows are made of: elements stay aligned.
        banks: of the device's local memory.
    """
    whole = (pad for pad in range(banks.count) if pad * banks.word_bytes % element_bytes == 0)
    costs = ((pitch_cost(references, row_bytes + pad * banks.word_bytes, banks), pad) for pad in whole)
    cost, words = min(costs)
    return words, cost


def permuted_cost(references: Sequence[Reference], row_bytes: int, element_bytes: int, banks: Banks) -> int | None:
    """Return the sum of the degrees of all references where an exclusive or permutes the columns.

    Arguments are those of `best_padding`.

    Returns:
        None for rows that are no power of two of units, where a permuted unit might lie outside of its row, and
        where an access is not within one unit.
    """
    unit = max([banks.word_bytes, element_bytes, *(each.access_bytes for each in references)])
    found = row_permutation(row_bytes, unit, banks.count * banks.word_bytes)
    within = all(
        byte % unit + each.access_bytes <= unit and 0 <= byte < row_bytes
        for each in references
        for _, byte in each.places
    )
    if found is None or not within:
        return None
    moved = [
        Reference(tuple(found.place(row, byte) for row, byte in each.places), each.access_bytes)
        for each in references
    ]
    return pitch_cost(moved, row_bytes, banks)


def pitch_cost(references: Sequence[Reference], pitch: int, banks: Banks) -> int:
    """Return the sum of the degrees of all references where rows begin so many bytes apart."""
    return sum(
        bank_degree([row * pitch + byte for row, byte in each.places], each.access_bytes, banks)
        for each in references
    )


@dataclass(frozen=True, slots=True)
class MemoryDevice:
    """A device's lanes, and how they reach memory.

    Attributes:
        lanes: that execute an access at once: a warp, a wavefront, a CPU's vector.
        piece_bytes: the least that an access moves.
        piece: what that is called: a sector of a GPU, a cache line of a CPU.
        banks: of local memory; None where it has none.
        assumed: what is taken for granted of the device, in words; empty where it is known.
    """

    lanes: int
    piece_bytes: int
    piece: str
    banks: Banks | None
    assumed: str = ""


ANY_DEVICE = MemoryDevice(
    32, SECTOR_BYTES, "sector", Banks(32, 4), "no device is given: the figures are those of NVIDIA's GPUs"
)
ANY_CPU = MemoryDevice(
    16, LINE_BYTES, "cache line", None, "no device is given: the figures are those of a CPU with AVX-512"
)

"""How many distinct words of one bank the lanes of a sub-group ask for: they are served one after the other.

    32 banks of 4 bytes     tile[lane]         1    a word in each bank
                            tile[2 * lane]     2    words 0 and 32 lie in bank 0
                            tile[32 * lane]   32
                            tile[0]            1    one word, which all lanes get at once

Where each lane takes an element of one word, s > 0 words from its neighbour's, and there are as many lanes as
banks, this is the greatest common divisor of s and the number of banks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError


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
    met = Counter(word % banks.count for word in _words(addresses, access_bytes, banks))
    return max(met.values(), default=0)


def least_degree(addresses: Sequence[int], access_bytes: int, banks: Banks) -> int:
    """Return the degree that as many distinct words have at best: spread evenly over all banks."""
    return math.ceil(len(_words(addresses, access_bytes, banks)) / banks.count)


def _words(addresses: Sequence[int], access_bytes: int, banks: Banks) -> set[int]:
    size = banks.word_bytes
    return {
        word
        for address in set(addresses)
        for word in range(address // size, (address + access_bytes - 1) // size + 1)
    }

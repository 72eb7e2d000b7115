"""How many sectors or cache lines the lanes of a sub-group touch with one access.

    32 lanes, 4 bytes each, 4 bytes apart      4 sectors of 32 bytes; 5 where they start in the middle of one

Where nobody knows in which byte of a piece the first lane's access starts, there is a range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from coarsen.cost.locality.lane_addresses import LaneAddresses


@dataclass(frozen=True, slots=True)
class Pieces:
    """How many pieces of memory are touched: at least and at most."""

    least: int
    most: int

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least}–{self.most}"


def pieces_of(addresses: LaneAddresses, access_bytes: int, element_bytes: int, piece_bytes: int) -> Pieces:
    """Return how many pieces lanes touch.

    Args:
        addresses: of the lanes; variables start at multiples of a piece.
        access_bytes: of each lane.
        element_bytes: what accesses are aligned to.
        piece_bytes: of a sector or cache line.
    """
    step = math.gcd(addresses.grain, piece_bytes) or piece_bytes
    starts = range(0, piece_bytes, step)
    aligned = [start for start in starts if (addresses.places[0] + start) % element_bytes == 0]
    counts = {
        _count([place + start for place in addresses.places], access_bytes, piece_bytes)
        for start in aligned or starts
    }
    return Pieces(min(counts), max(counts))


def _count(places: list[int], access_bytes: int, piece_bytes: int) -> int:
    return len(
        {
            piece
            for place in set(places)
            for piece in range(place // piece_bytes, (place + access_bytes - 1) // piece_bytes + 1)
        }
    )

"""What to coarsen by: a factor along one dimension with a stride, and several of them together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coarsen.errors import InvalidInputError

DIMENSIONS = 3


@dataclass(frozen=True, slots=True, order=True)
class Coarsening:
    """Merge `factor` work-items along `dimension`; the merged ones stand `stride` local ids apart.

    Raises:
        InvalidInputError: a factor or stride below 1, or a dimension other than 0, 1 and 2.
    """

    factor: int
    dimension: int = 0
    stride: int = 1

    def __post_init__(self) -> None:
        if self.factor < 1:
            raise InvalidInputError(f"the factor must be at least 1, not {self.factor}")
        if not 0 <= self.dimension < DIMENSIONS:
            raise InvalidInputError(f"the dimension must be 0, 1 or 2, not {self.dimension}")
        if self.stride < 1:
            raise InvalidInputError(f"the stride must be at least 1, not {self.stride}")

    def __str__(self) -> str:
        stride = f" with stride {self.stride}" if self.stride > 1 else ""
        return f"factor {self.factor} along dimension {self.dimension}{stride}"


Configuration = tuple[Coarsening, ...]


def configuration(coarsenings: Iterable[Coarsening]) -> Configuration:
    """Several coarsenings as one configuration, in the order of their dimensions, factors of 1 left out.

    Raises:
        InvalidInputError: two coarsenings along one dimension.
    """
    chosen = sorted(coarsenings, key=lambda coarsening: coarsening.dimension)
    dimensions = [coarsening.dimension for coarsening in chosen]
    if len(set(dimensions)) < len(dimensions):
        raise InvalidInputError("a dimension can be coarsened only once")
    return tuple(coarsening for coarsening in chosen if coarsening.factor > 1)

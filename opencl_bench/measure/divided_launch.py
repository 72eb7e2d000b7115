"""The sizes of a coarsened launch, where they are known to divide."""

from __future__ import annotations

from coarsen.errors import InternalError
from coarsen.variant.coarsening import Configuration


def divided(sizes: tuple[int, ...], coarsenings: Configuration) -> tuple[int, ...]:
    """Global or local sizes, in work-items, divided by the coarsenings' factors.

    Raises:
        InternalError: they don't divide; the constraints of the space leave such configurations out.
    """
    factors = {coarsening.dimension: coarsening.factor for coarsening in coarsenings}
    if any(size % factors.get(dimension, 1) for dimension, size in enumerate(sizes)):
        raise InternalError(f"the sizes {sizes} don't divide by {', '.join(map(str, coarsenings))}")
    return tuple(size // factors.get(dimension, 1) for dimension, size in enumerate(sizes))

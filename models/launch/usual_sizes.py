"""What global sizes are taken for where nobody says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from coarsen.variant.variant import LocalSize

# Each as likely, by the number of dimensions.
USUAL_GLOBAL_SIZES: Mapping[int, tuple[tuple[int, ...], ...]] = {
    1: ((1 << 14,), (1 << 18,), (1 << 22,)),
    2: ((128, 128), (512, 512), (2048, 2048)),
    3: ((32, 32, 16), (64, 64, 64), (256, 128, 128)),
}


def usual_global_sizes(local_size: LocalSize) -> Sequence[tuple[int, ...]]:
    """Return usual global sizes, rounded up to whole work-groups of a local size."""
    return [
        tuple(math.ceil(items / extent) * extent for items, extent in zip(size, local_size, strict=True))
        for size in USUAL_GLOBAL_SIZES[len(local_size)]
    ]

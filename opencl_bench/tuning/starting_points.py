"""The first variants that tuning tries: each way to coarsen once, and the launch as it is at other local sizes.

the launch as it is, at other local sizes │ one coarsening of each kind │ two along different dimensions
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import LocalSize, Variant

# The first of these that the launch's sizes allow: from 4, both 2 and 8 are a step away.
_FACTORS = (4, 2, 8)


def starting_points(
    local_sizes: Sequence[LocalSize],
    dimensions: Iterable[int],
    levels: Sequence[Level],
    strides: Sequence[int],
    transforms: Transforms,
    is_valid: Callable[[Variant], bool],
) -> Iterator[Variant]:
    """Enumerate the variants to begin with, in no particular order.

    Args:
        local_sizes: of the launch before coarsening, its own first; that is empty where it is left open, and then
            the first of the others is coarsened.
        dimensions: those of the NDRange.
        levels: what may be merged.
        strides: of work-items, 1 first.
        transforms: of coarsened variants.
        is_valid: tells the variants that may run.
    """
    divided = next(filter(None, local_sizes), ())

    def coarsened(*coarsenings: Coarsening) -> Variant:
        return Variant(divided, coarsenings, transforms=transforms)

    kinds = list(_kinds(dimensions, levels, strides))
    first = [
        next(filter(is_valid, (coarsened(replace(kind, factor=f)) for f in _FACTORS)), None) for kind in kinds
    ]
    single = [variant for variant in first if variant is not None]
    yield Variant(local_sizes[0])
    yield from single
    yield from filter(is_valid, (Variant(local_size) for local_size in local_sizes[1:]))
    near = [variant.coarsenings[0] for variant in single if variant.coarsenings[0].stride == 1]
    for one, other in itertools.combinations(near, 2):
        if one.dimension != other.dimension and is_valid(coarsened(one, other)):
            yield coarsened(one, other)


def _kinds(dimensions: Iterable[int], levels: Sequence[Level], strides: Sequence[int]) -> Iterator[Coarsening]:
    """Enumerate one coarsening along each dimension, at each level and with each stride."""
    for dimension, level in itertools.product(sorted(dimensions), levels):
        if level is Level.GROUP:
            yield Coarsening(_FACTORS[0], dimension, level=level)
            continue
        for stride in strides:
            yield Coarsening(_FACTORS[0], dimension, stride)

"""The first variants that tuning tries: each way to coarsen once, and the launch as it is at other local sizes.

the launch as it is │ one coarsening of each kind │ items along two dimensions │ other local sizes
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.space import ArrayChoices
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import LocalSize, Variant

# The first of these that the launch's sizes allow: from 4, both 2 and 8 are a step away.
_FACTORS = (4, 2, 8)
# So many other local sizes: what is found of coarsened variants tells where others are worth a trial.
MOST_LOCAL_SIZES = 1


def starting_points(
    local_sizes: Sequence[LocalSize],
    dimensions: Iterable[int],
    levels: Sequence[Level],
    strides: Sequence[int],
    transforms: Transforms,
    is_valid: Callable[[Variant], bool],
) -> Iterator[Variant]:
    """Enumerate the variants to begin with: the launch as it is, coarsened ones, then other local sizes.

    Args:
        local_sizes: of the launch before coarsening, its own first; that is empty where it is left open, and then
            the first of the others is coarsened, if there is one.
        dimensions: those of the NDRange.
        levels: what may be merged.
        strides: of work-items, 1 first.
        transforms: of coarsened variants.
        is_valid: tells the variants that may run, those for any size where no other may.
    """
    divided = next(filter(None, local_sizes), ())

    def coarsened(*coarsenings: Coarsening) -> Variant:
        return Variant(divided, coarsenings, transforms=transforms)

    kinds = list(_kinds(dimensions, levels, strides))
    ways = [[coarsened(replace(kind, factor=factor)) for factor in _FACTORS] for kind in kinds]
    guarded = ((replace(way, any_size=True) for way in each) for each in ways)
    first = [next(filter(is_valid, (*each, *more)), None) for each, more in zip(ways, guarded, strict=True)]
    single = [variant for variant in first if variant is not None]
    yield Variant(local_sizes[0])
    yield from single
    near = [c for c in (each.coarsenings[0] for each in single) if c.stride == 1 and c.level is Level.ITEM]
    yield from filter(is_valid, itertools.starmap(coarsened, itertools.combinations(near, 2)))
    others = filter(is_valid, (Variant(local_size) for local_size in local_sizes[1:]))
    yield from itertools.islice(others, MOST_LOCAL_SIZES)


def laid_out_starts(starts: Sequence[Variant], arrays: Sequence[ArrayChoices]) -> Iterator[Variant]:
    """Enumerate variants to begin with whose arrays lie otherwise: all at their first choice, then one each.

    Args:
        starts: with arrays as written, the launch as it is first; the first that merges anything is laid out, too.
        arrays: how each array may lie.
    """
    plans = [list(choices.changes()) for choices in arrays]
    together = tuple(each[0] for each in plans if each)
    if not together:
        return
    own, merged = starts[0], next((start for start in starts if start.is_coarsened), None)
    yield replace(own, arrays=together)
    if merged is not None:
        yield replace(merged, arrays=together)
    for plan in itertools.chain.from_iterable(plans):
        if (plan,) != together:
            yield replace(own, arrays=(plan,))


def _kinds(dimensions: Iterable[int], levels: Sequence[Level], strides: Sequence[int]) -> Iterator[Coarsening]:
    """Enumerate one coarsening along each dimension, at each level and with each stride."""
    for dimension, level in itertools.product(sorted(dimensions), levels):
        if level is Level.GROUP:
            yield Coarsening(_FACTORS[0], dimension, level=level)
            continue
        for stride in strides:
            yield Coarsening(_FACTORS[0], dimension, stride)

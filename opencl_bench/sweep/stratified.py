"""A stratified sample of coarsened variants: each axis is met evenly, whatever the size of the cross product.

An axis goes through all of its values, in a drawn order, before any comes again: local sizes, which dimensions at
which levels, the number of merged work-items, stride 1 or larger, wide accesses. Where the values don't make a
legal variant together, the number of merged work-items is drawn anew, then more axes, at last all of them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from coarsen.opencl_bench.sweep.plan import Space
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.space import VariantSpace
from coarsen.variant.transforms import DeviceKind, Transforms
from coarsen.variant.variant import LocalSize, Variant

T = TypeVar("T")
Place = tuple[Level, int]

# Draws for one variant before the sample ends, smaller than asked for.
MOST_DRAWS = 300
# So many times the number of merged work-items alone is drawn anew, as often all but the local size.
DRAWS_OF_LAST = 30


@dataclass(frozen=True, slots=True)
class _Axes:
    """The values of each axis; `places` are combinations of a level and a dimension."""

    local_sizes: tuple[LocalSize, ...]
    places: tuple[tuple[Place, ...], ...]
    merged: tuple[int, ...]
    is_strided: tuple[bool, ...]
    is_wide: tuple[bool, ...]


def stratified_sample(
    variants: VariantSpace, space: Space, count: int, divides: Callable[[Variant], bool]
) -> list[Variant]:
    """Draw distinct coarsened variants that break no constraint.

    Args:
        variants: the space, which has the local sizes and the constraints.
        space: what it was made of: levels, factors, strides, transforms, and the seed of the draw.
        count: how many; fewer are returned where the space hardly has more.
        divides: returns True for a variant whose factors and strides divide the launches' sizes.
    """

    def is_legal(variant: Variant) -> bool:
        return variants.violation(variant) is None and divides(variant)

    draw = random.Random(space.sample_seed)
    axes = _axes(variants, space)
    cycles = [_cycle(values, draw) for values in (axes.local_sizes, axes.places, axes.merged)]
    flags = [_cycle(values, draw) for values in (axes.is_strided, axes.is_wide)]
    found: dict[Variant, None] = {}
    while len(found) < count:
        variant = _drawn(
            axes, [next(cycle) for cycle in (*cycles, *flags)], is_legal, space, variants.device_kind, draw, found
        )
        if variant is None:
            break
        found[variant] = None
    return list(found)


def _axes(variants: VariantSpace, space: Space) -> _Axes:
    named = {dimension.name: dimension.values for dimension in variants.dimensions}
    items, groups = (
        [(level, int(name[-1])) for name in named if name.startswith(prefix)]
        for level, prefix in ((Level.ITEM, "factor_"), (Level.GROUP, "group_factor_"))
    )
    merged = tuple(factor for factor in space.factors if 1 < factor <= space.most_merged)
    has_strides = any(stride > 1 for stride in space.strides)
    return _Axes(
        tuple(named["local_size"]),
        _places(items, groups, space.at_once),
        merged,
        (False, True) if has_strides else (False,),
        space.transforms.wide_accesses,
    )


def _places(items: Sequence[Place], groups: Sequence[Place], at_once: int) -> tuple[tuple[Place, ...], ...]:
    """Return where to coarsen: items along a dimension most often, then groups, two dimensions, both levels."""
    single = [*((place,) for place in items), *((place,) for place in items), *((place,) for place in groups)]
    if at_once == 1:
        return tuple(single)
    mixed = [(group, items[number - 1]) for number, group in enumerate(groups)] if items else []
    pairs = [*itertools.combinations(items, 2), *itertools.combinations(groups[:2], 2), *mixed]
    return (*single, *pairs)


def _cycle(values: Sequence[T], draw: random.Random) -> Iterator[T]:
    """All values in a drawn order, again and again, each time in another."""
    while True:
        yield from draw.sample(list(values), len(values))


def _drawn(
    axes: _Axes,
    values: Sequence[Any],
    is_legal: Callable[[Variant], bool],
    space: Space,
    kind: DeviceKind,
    draw: random.Random,
    known: dict[Variant, None],
) -> Variant | None:
    """A new legal variant with these values of the axes, or with others where there is none."""
    for attempt in range(MOST_DRAWS):
        local_size, places, merged, is_strided, is_wide = values
        if attempt > 0:
            merged = draw.choice(axes.merged)
        if attempt > DRAWS_OF_LAST:
            places, is_strided = draw.choice(axes.places), draw.choice(axes.is_strided)
            is_wide = draw.choice(axes.is_wide)
        if attempt > 2 * DRAWS_OF_LAST:
            local_size = draw.choice(axes.local_sizes)
        coarsenings = _coarsenings(places, merged, local_size, is_strided, space, draw)
        if coarsenings is None:
            continue
        transforms = Transforms(wide_accesses=is_wide, device_kind=kind)
        variant = Variant(local_size, coarsenings, transforms=transforms)
        if variant not in known and is_legal(variant):
            return variant
    return None


def _coarsenings(
    places: Sequence[Place],
    merged: int,
    local_size: LocalSize,
    is_strided: bool,
    space: Space,
    draw: random.Random,
) -> tuple[Coarsening, ...] | None:
    """Coarsenings whose factors have this product; None where that, or a larger stride, can't be."""
    factors = [merged]
    if len(places) == 2:
        divisors = [factor for factor in space.factors if 1 < factor < merged and merged % factor == 0]
        if not divisors:
            return None
        first = draw.choice(divisors)
        factors = [first, merged // first]
    made = []
    for (level, dimension), factor in zip(places, factors, strict=True):
        stride = 1
        if is_strided and level is Level.ITEM:
            extent = local_size[dimension] // factor
            possible = [each for each in space.strides if 1 < each <= extent and extent % each == 0]
            stride = draw.choice(possible) if possible else 1
        made.append(Coarsening(factor, dimension, stride, level))
    if is_strided and all(each.stride == 1 for each in made):
        return None
    return tuple(made)

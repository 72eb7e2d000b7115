"""The launches that a prediction considers: a fixed grid, which METHOD.md lists.

    local sizes, the launch's own first ─▶ uncoarsened at each
    at the launch's own                 ─▶ work-items, work-groups, strides, wide accesses, pairs of dimensions
    at the others                       ─▶ the most usual of these

What the sizes that are known forbid is left out; of sizes that are not known, `Candidate.multiple_of` says what
they must be.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.models.launch.device import LaunchDevice
from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.transforms import DeviceKind, Transforms
from coarsen.variant.variant import LocalSize, Variant

MOST_CANDIDATES = 64

# Beside the launch's own, by the number of dimensions.
LOCAL_SIZES: dict[int, tuple[LocalSize, ...]] = {
    1: ((32,), (64,), (128,), (256,), (512,)),
    2: ((16, 16), (32, 8), (64, 4), (8, 8), (32, 4), (16, 4), (64, 1)),
    3: ((8, 8, 4), (32, 2, 2), (16, 4, 2), (8, 4, 4), (4, 4, 4)),
}
MOST_OTHERS = 4
ITEM_FACTORS = (2, 4, 8, 16)
GROUP_FACTORS = (2, 4, 8)
PAIRS = ((2, 2), (4, 2), (2, 4), (4, 4))
STRIDED_FACTORS, STRIDE = (2, 4), 32
WIDE_FACTORS = (2, 4)
# At local sizes other than the launch's own.
USUAL_ITEM_FACTORS = (2, 4, 8)
USUAL_GROUP_FACTORS = (4,)
USUAL_PAIRS = ((4, 2),)
USUAL_WIDE_FACTORS = (4,)


@dataclass(frozen=True, slots=True)
class OwnLaunch:
    """The launch that is asked about.

    Args:
        local_size: its own, in work-items.
        global_size: None where it isn't known.
        groups_matter: whether it matters to the kernel how its work-items are grouped: its local size stays.
        dimensions: along which it may be coarsened.
    """

    local_size: LocalSize
    global_size: tuple[int, ...] | None
    groups_matter: bool
    dimensions: tuple[int, ...]

    def allows(self, variant: Variant) -> bool:
        """Return True unless the sizes that are known forbid a variant."""
        if self.global_size is None:
            return True
        needed = multiple_of(variant)
        return all(whole % least == 0 for whole, least in zip(self.global_size, needed, strict=True))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A launch of the grid.

    Args:
        variant: with its local size, which is that before coarsening.
        multiple_of: what the global size must be a multiple of along each dimension; empty where that is so.
    """

    variant: Variant
    multiple_of: tuple[int, ...] = ()


def launch_grid(own: OwnLaunch, device: LaunchDevice) -> tuple[Candidate, ...]:
    """Return the launches that are considered, the own one first, then the uncoarsened ones, each once."""
    sizes = (own.local_size, *_other_local_sizes(own, device))
    uncoarsened = [Variant(size) for size in sizes]
    coarsened = [variant for size in sizes for variant in _coarsened(own, size, device.kind)]
    kept = dict.fromkeys(variant for variant in (*uncoarsened, *coarsened) if own.allows(variant))
    # The own launch stays where its sizes are odd: it is what there is.
    kept = dict.fromkeys((Variant(own.local_size), *kept))
    return tuple(_candidate(own, variant) for variant in kept)[:MOST_CANDIDATES]


def multiple_of(variant: Variant) -> tuple[int, ...]:
    """Return what the global size must be a multiple of for a variant, along each dimension of its local size."""
    groups = {c.dimension: c.factor for c in variant.coarsenings if c.level is Level.GROUP}
    return tuple(extent * groups.get(dimension, 1) for dimension, extent in enumerate(variant.local_size))


def _candidate(own: OwnLaunch, variant: Variant) -> Candidate:
    needed = multiple_of(variant)
    is_sure = own.global_size is not None or all(
        extent % least == 0 for extent, least in zip(own.local_size, needed, strict=True)
    )
    return Candidate(variant, () if is_sure else needed)


def _other_local_sizes(own: OwnLaunch, device: LaunchDevice) -> tuple[LocalSize, ...]:
    """The local sizes of the list that are nearest to the own one, in doublings."""
    if own.groups_matter:
        return ()
    fitting = [
        size
        for size in LOCAL_SIZES[len(own.local_size)]
        if size != own.local_size
        and all(extent <= most for extent, most in zip(size, device.largest_extents, strict=False))
        and math.prod(size) <= device.largest_group
        and own.allows(Variant(size))
    ]

    def doublings(size: LocalSize) -> tuple[float, LocalSize]:
        return sum(abs(math.log2(a / b)) for a, b in zip(size, own.local_size, strict=True)), size

    return tuple(sorted(fitting, key=doublings)[:MOST_OTHERS])


def _coarsened(own: OwnLaunch, size: LocalSize, kind: DeviceKind) -> Iterator[Variant]:
    at_own = size == own.local_size
    narrow, wide = Transforms(device_kind=kind), Transforms(device_kind=kind, wide_accesses=True)
    for coarsenings in _configurations(own.dimensions, at_own):
        if divides(size, coarsenings):
            yield Variant(size, coarsenings, transforms=narrow)
    for factor in WIDE_FACTORS if at_own else USUAL_WIDE_FACTORS:
        if 0 in own.dimensions and divides(size, (Coarsening(factor),)):
            yield Variant(size, (Coarsening(factor),), transforms=wide)


def _configurations(dimensions: tuple[int, ...], at_own: bool) -> Iterator[Configuration]:
    """Yield what is considered at the launch's own local size, or else the most usual of that."""
    items, groups, pairs = (
        (ITEM_FACTORS, GROUP_FACTORS, PAIRS) if at_own else (USUAL_ITEM_FACTORS, USUAL_GROUP_FACTORS, USUAL_PAIRS)
    )
    for dimension, factor in itertools.product(dimensions, items):
        yield (Coarsening(factor, dimension),)
    for dimension, factor in itertools.product(dimensions if at_own else dimensions[:1], groups):
        yield (Coarsening(factor, dimension, level=Level.GROUP),)
    for factor in STRIDED_FACTORS if at_own else ():
        yield (Coarsening(factor, dimensions[0], STRIDE),)
    neighbours = itertools.pairwise(dimensions if at_own else dimensions[:2])
    for (first, second), (one, other) in itertools.product(neighbours, pairs):
        yield (Coarsening(one, first), Coarsening(other, second))


def divides(size: LocalSize, coarsenings: Configuration) -> bool:
    """Return True if the factors and strides of merged work-items divide a local size."""
    return all(
        c.dimension < len(size)
        and size[c.dimension] % c.factor == 0
        and size[c.dimension] // c.factor % c.stride == 0
        for c in coarsenings
        if c.level is Level.ITEM
    )


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

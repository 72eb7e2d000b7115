"""The variants that a launch is tuned over.

local sizes × (factors × strides of work-items, factors of work-groups) along each dimension × wide accesses
    × a guard, where the factors don't divide, × tiles inside of loops, where they can be made
    × long indices, on CPUs
    at most two coarsenings at once, at most 64 work-items merged
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from coarsen.errors import CoarsenError, InvalidInputError, RefusalError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import for_distinct_memory, run_pipeline
from coarsen.transform.coarsen import analyse
from coarsen.transform.long_indices import indices_to_lengthen
from coarsen.tuning.engine.plan import DeviceLimits, Space, limits_of
from coarsen.tuning.measure.variant_launch import buffer_passed_twice
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuning_processes import LaunchToTune
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.space import ArrayChoices, TransformChoices
from coarsen.variant.transforms import ASSUMING, NO_TILE, DeviceKind, Tile, Transforms
from coarsen.variant.variant import LocalSize, Variant

FACTORS = (1, 2, 4, 8, 16, 32)
# Neighbouring work-items for CPUs, those of a warp apart for GPUs.
STRIDES = (1, 32)
AT_ONCE = 2
MOST_MERGED = 64

# Work-groups that are tried beside the program's own, in work-items.
_EXTENTS = (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_GROUP_SIZES = (64, 128, 256, 512, 1024)
# Of several dimensions, the first has at least so many: neighbouring work-items access neighbouring addresses.
_LEAST_FIRST = 4
# So many of as many work-items as the program's own, and so many of other sizes.
_MOST_ALIKE = 5
_MOST_OTHERS = 2
# Of work-items in a work-group, where nobody says how many.
_USUAL_SIZE = 256


def launch_space(
    own: LocalSize,
    others: tuple[LocalSize, ...],
    transforms: Transforms,
    settings: Tune,
    *,
    has_guarded: bool = False,
) -> Space:
    """Return the space of a launch.

    Args:
        own: its local size, in work-items; empty where it is left open.
        others: local sizes that may take its place.
        transforms: of coarsened variants, wide accesses apart.
        settings: which levels, and whether there may be wide accesses.
        has_guarded: whether there are variants for any size, too (`may_need_guard`).
    """
    return Space(
        arrays=(),
        factors=FACTORS,
        strides=STRIDES,
        local_sizes=(own, *others),
        levels=tuple(Level(level) for level in settings.levels),
        at_once=AT_ONCE,
        most_merged=MOST_MERGED,
        transforms=replace(
            TransformChoices.of(transforms.without(ASSUMING)),
            wide_accesses=(False, True) if settings.wide_accesses else (False,),
            any_size=(False, True) if has_guarded else (False,),
        ),
    )


def may_need_guard(global_sizes: Iterable[tuple[int, ...]]) -> bool:
    """Return True if there may be factors that are worth a trial and divide none of the launch's sizes."""
    return any(extent % MOST_MERGED for sizes in global_sizes for extent in sizes if extent > 1)


def without_refused(space: Space, kernel: Kernel, dimensions: tuple[int, ...]) -> Space:
    """Return a space without the levels at which no dimension of a kernel can be coarsened.

    Where nothing can be, only local sizes are left.
    """
    levels = tuple(level for level in space.levels if _is_mergeable(kernel, level, dimensions))
    return replace(space, levels=levels)


def _is_mergeable(kernel: Kernel, level: Level, dimensions: tuple[int, ...]) -> bool:
    for dimension in dimensions:
        with suppress(RefusalError):
            analyse(kernel, dimension, level)
            return True
    return False


def space_of_launch(launch: LaunchToTune, groups_matter: bool, settings: Tune) -> Space:
    """Return what a launch is tuned over: its local size is the first.

    Its macros have their first values, but where the local size follows from them: then all of theirs are tried.

    Args:
        launch: what is launched, and where.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: which variants are allowed.

    Raises:
        InvalidInputError: no such preset; the local size is left open, which matters to the kernel.
    """
    benchmark, preset = launch.benchmark, launch.preset
    own = benchmark.preset(preset).local_size
    sizes = (each.global_size for each in benchmark.real_launches(preset, own))
    has_guarded = not groups_matter and may_need_guard(sizes)
    others = _local_sizes_to_try(launch, own, groups_matter, settings)
    space = launch_space(own, others, launch.transforms, settings, has_guarded=has_guarded)
    macros = sorted(benchmark.tunables.items())
    if not benchmark.dimensions:
        # Versions of several launches are launched as they are written.
        return Space(factors=(1,), strides=(1,), arrays=(), definitions=tuple(macros))
    if benchmark.local_size_of is not None:
        return replace(space, local_sizes=None, definitions=tuple(macros))
    return replace(space, definitions=tuple((macro, values[:1]) for macro, values in macros))


def _local_sizes_to_try(
    launch: LaunchToTune, own: LocalSize, groups_matter: bool, settings: Tune
) -> tuple[LocalSize, ...]:
    """The local sizes that the benchmark names beside a launch's; if none, usual ones where any will do."""
    benchmark = launch.benchmark
    if benchmark.local_size_of is not None:
        return ()
    named = tuple(size for size in benchmark.local_sizes_of(launch.preset) if size and size != own)
    if named:
        return named if settings.local_sizes else ()
    launches = benchmark.real_launches(launch.preset, own)
    if len(launches) > 1 and own:
        return ()
    if groups_matter and not own:
        raise InvalidInputError(
            "its local size is left to the driver, and its work-items must be grouped as they are: give a local "
            "size to have it tuned"
        )
    is_free = settings.local_sizes and not groups_matter
    return other_local_sizes(launches[0].global_size, own, limits_of(launch.device)) if is_free else ()


def other_local_sizes(global_size: tuple[int, ...], own: LocalSize, limits: DeviceLimits) -> tuple[LocalSize, ...]:
    """Return the local sizes worth trying beside a launch's own: of as many work-items, then of more or fewer.

    They divide the global size and fit the device; of each kind, those that are nearest to the launch's own. Where
    that is left open, usual ones: those of about 256 work-items first, flat ones before others.

    Args:
        global_size: in work-items.
        own: the launch's local size; empty where it is left open.
        limits: those of the device.
    """
    fitting = [size for size in _shapes(global_size) if size != own and _fits(size, limits)]
    if not own:
        usual = (_USUAL_SIZE, *[1] * (len(global_size) - 1))
        return tuple(sorted(fitting, key=lambda size: _distance(size, usual))[: _MOST_ALIKE + _MOST_OTHERS])
    fitting.sort(key=lambda size: _distance(size, own))
    alike = [size for size in fitting if math.prod(size) == math.prod(own)]
    others = [size for size in fitting if size not in alike]
    return (*alike[:_MOST_ALIKE], *others[:_MOST_OTHERS])


def _shapes(global_size: tuple[int, ...]) -> Iterator[LocalSize]:
    choices = [[extent for extent in _EXTENTS if whole % extent == 0] for whole in global_size]
    for shape in itertools.product(*choices):
        is_flat = len(shape) == 1 or shape[0] >= _LEAST_FIRST
        if is_flat and math.prod(shape) in _GROUP_SIZES:
            yield shape


def _fits(size: LocalSize, limits: DeviceLimits) -> bool:
    within = all(extent <= most for extent, most in zip(size, limits.max_work_item_sizes, strict=False))
    return within and math.prod(size) <= limits.max_work_group_size


def _distance(size: LocalSize, own: LocalSize) -> tuple[float, LocalSize]:
    """The distance of two local sizes, in doublings; the sizes themselves make the order certain."""
    return sum(abs(math.log2(a / b)) for a, b in zip(size, own, strict=True)), size


# The first variants that tuning tries: each way to coarsen once, and the launch as it is at other local sizes.
#
# the launch as it is │ one coarsening of each kind │ items along two dimensions │ other local sizes

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


# Launches for which variants that take arguments as distinct are worth trying.
#
#     the launch passes no buffer twice ─▶ other code can come of it ─▶ tried with it and without
#
# Of most kernels the same code comes: nothing is loaded after a store, and no loop accumulates in memory.


def lowered_own(benchmark: Benchmark, macros: DeviceMacros) -> Kernel | None:
    """Return a benchmark's kernel with the first values of its macros; None where it can't be read."""
    try:
        return lower(benchmark.code, benchmark.kernel, benchmark.own_options, macros)
    except CoarsenError:
        return None


def with_distinct(space: Space, benchmark: Benchmark, preset: str, kernel: Kernel) -> Space:
    """Return a space in which arguments are taken as distinct, too, where that can change the code.

    Args:
        space: of the launch; as it is where nothing can be gained.
        benchmark: what is launched.
        preset: names the sizes.
        kernel: what is coarsened.

    Raises:
        InvalidInputError: no such preset.
    """
    if not (_are_apart(benchmark, preset) and gains_by_distinct(kernel)):
        return space
    return replace(space, transforms=replace(space.transforms, distinct=(False, True)))


def gains_by_distinct(kernel: Kernel) -> bool:
    """Return True if other code can come of distinct arguments; False of a kernel that can't be coarsened."""
    try:
        return for_distinct_memory(kernel)[1].gains
    except CoarsenError:
        return False


def _are_apart(benchmark: Benchmark, preset: str) -> bool:
    """Return True if no launch of the kernel passes a buffer twice."""
    launches = benchmark.launches(preset, benchmark.preset(preset).local_size, benchmark.own_definitions)
    return all(buffer_passed_twice(launch) is None for launch in launches if benchmark.coarsens(launch))


def with_long_indices(space: Space, kernel: Kernel, kind: DeviceKind) -> Space:
    """Return a space with long indices, for a CPU, where a kernel has indices that may become long."""
    if kind is not DeviceKind.CPU or not indices_to_lengthen(kernel.function):
        return space
    return replace(space, transforms=replace(space.transforms, long_indices=(False, True)))


# Launches for which tiles inside of loops are worth trying.
#
#     a tile of the kernel can be made ─▶ local sizes of which large blocks of work-items are merged,
#                                         16 apart, so that 16 × 16 or 256 work-items are left of each group
#     the kernel demands its local size,  ─▶ whole work-groups are merged, or nothing
#     or its groups matter

_TILES = (NO_TILE, Tile("16"), Tile("32"))
# Of more arrays, no part is chosen to be copied.
_MOST_CHOSEN = 3
_APART = 16
# Work-items that are merged along each dimension, by the number of dimensions.
_BLOCKS: Mapping[int, tuple[tuple[int, ...], ...]] = MappingProxyType(
    {1: ((4,), (8,), (2,), (1,)), 2: ((4, 4), (8, 8), (8, 4), (4, 8), (2, 2), (1, 1)), 3: ((1, 1, 1), (2, 2, 1))}
)
_LEFT: Mapping[int, LocalSize] = MappingProxyType({1: (256,), 2: (16, 16)})


def tiled_starts(
    global_size: tuple[int, ...], transforms: Transforms, fixed: LocalSize | None = None, *, guards: bool = False
) -> Iterator[Variant]:
    """Enumerate variants with tiles to begin with, those first that suit most kernels.

    Args:
        global_size: of the launch, in work-items.
        transforms: of coarsened variants.
        fixed: the launch's local size, where it can't be another one; there are none where it is left open.
        guards: whether blocks that don't divide the global size may have a guard.
    """
    left = _LEFT.get(len(global_size), ()) if fixed is None else fixed
    if len(left) != len(global_size):
        return
    blocks, level, stride = _BLOCKS.get(len(global_size), ()), Level.ITEM, _APART
    if fixed is not None:
        blocks, level, stride = tuple(sorted(blocks, key=math.prod)), Level.GROUP, 1
    for block in blocks:
        size = tuple(items * factor for items, factor in zip(left, block, strict=True))
        merged = tuple(Coarsening(each, place, stride, level) for place, each in enumerate(block))
        start = Variant(fixed or size, merged, transforms=replace(transforms, tile=Tile("16")))
        if not any(map(operator.mod, global_size, size)):
            yield start
        elif guards and fixed is None and start.is_coarsened and not any(map(operator.mod, global_size, left)):
            yield replace(start, local_size=left, any_size=True)


def with_tiles(
    space: Space, benchmark: Benchmark, preset: str, kernel: Kernel, fixed: LocalSize | None = None
) -> Space:
    """Return a space with tiles inside of loops, where they can be made: of all arrays, or of some of a few.

    Args:
        space: of the launch; as it is where there are none.
        benchmark: what is launched.
        preset: names the sizes.
        kernel: what is coarsened.
        fixed: as for `tiled_starts`; None where any local size suits the kernel.

    Raises:
        InvalidInputError: no such preset.
    """
    launches = benchmark.real_launches(preset, benchmark.preset(preset).local_size)
    guards, sizes = True in space.transforms.any_size, launches[0].global_size
    starts = [*tiled_starts(sizes, Transforms(), fixed, guards=guards)] if len(launches) == 1 else []
    copied = _copied_arrays(kernel, starts)
    if not (copied and _are_apart(benchmark, preset)):
        return space
    some = range(1, len(copied)) if len(copied) <= _MOST_CHOSEN else ()
    parts = itertools.chain.from_iterable(itertools.combinations(copied, count) for count in some)
    tiles = (*_TILES, *(Tile(f"{_TILES[1]}:{'+'.join(part)}") for part in parts))
    space = replace(space, transforms=replace(space.transforms, tile=tiles))
    if fixed is not None:
        return space
    return replace(
        space,
        local_sizes=(*dict.fromkeys((*(space.local_sizes or ()), *(start.local_size for start in starts))),),
        strides=tuple(sorted({*space.strides, _APART})),
    )


def _copied_arrays(kernel: Kernel, starts: Sequence[Variant]) -> list[str]:
    """The arrays that tiles have where the fewest work-items are merged: with more it takes longer to find out."""
    for start in sorted(starts, key=lambda start: start.factor)[:2]:
        with suppress(CoarsenError):
            tiles = run_pipeline(kernel, start).tiles
            return sorted({each.array for each in tiles.arrays if not each.why_not}) if tiles else []
    return []

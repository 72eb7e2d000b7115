"""The variants that a launch is tuned over.

local sizes × (factors × strides of work-items, factors of work-groups) along each dimension × wide accesses
    × a guard, where the factors don't divide
    at most two coarsenings at once, at most 64 work-items merged
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from coarsen.errors import CoarsenError, RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.sweep.plan import DeviceLimits, Space
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Level
from coarsen.variant.space import TransformChoices
from coarsen.variant.transforms import Transforms

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
        transforms=TransformChoices(
            fast_path=(transforms.fast_path,),
            lock_step=(transforms.lock_step,),
            wide_accesses=(False, True) if settings.wide_accesses else (False,),
            clean_up=(transforms.clean_up,),
            any_size=(False, True) if has_guarded else (False,),
        ),
    )


def may_need_guard(global_sizes: Iterable[tuple[int, ...]]) -> bool:
    """Return True if there may be factors that are worth a trial and divide none of the launch's sizes."""
    return any(extent % MOST_MERGED for sizes in global_sizes for extent in sizes if extent > 1)


def without_refused(space: Space, benchmark: Benchmark) -> Space:
    """Return a space without the levels at which no dimension of a kernel can be coarsened.

    Where nothing can be, only local sizes are left. A kernel that can't be read is for others to complain of.
    """
    try:
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
    except CoarsenError:
        return space
    levels = tuple(level for level in space.levels if _is_mergeable(kernel, level, benchmark.dimensions))
    return replace(space, levels=levels)


def _is_mergeable(kernel: Kernel, level: Level, dimensions: tuple[int, ...]) -> bool:
    for dimension in dimensions:
        with suppress(RefusalError):
            analyse(kernel, dimension, level)
            return True
    return False


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

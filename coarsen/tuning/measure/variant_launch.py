"""The launch of a variant, made of the original's: sizes divided, arguments added.

work-items    global G / F, local L / F         for any size: see `coarsen.runtime.guarded_launch`
              global G / F, local left open     at a stride of 1
work-groups   global G / F, local L

Of several kernels one is coarsened, and those launches of others that are to be coarsened alike; the rest stays as
it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from coarsen.errors import InternalError
from coarsen.ir.added_arguments import AddedArgument, extent_of
from coarsen.runtime.guarded_launch import guarded_launch, without_needless_guard
from coarsen.runtime.launch import DividedLaunch, LaunchLimits
from coarsen.tuning.measure.machine import UndividedError
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import Argument, BufferArgument, Launch, LocalArgument, ScalarArgument
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant

Shapes = Mapping[str, tuple[int, ...]]
# Why work-groups are not merged, nor work-items at a stride, where the driver chooses the local size.
LEFT_OPEN = "the local size is left open"


def variant_launches(
    launches: Iterable[Launch], variant: Variant, code: Code, shapes: Shapes = MappingProxyType({})
) -> list[Launch]:
    """Return the launches that do the work of uncoarsened ones with a variant's code.

    Args:
        launches: of the uncoarsened kernels.
        variant: what the kernel `code.kernel` is.
        code: that of the variant.
        shapes: of the arrays that lie otherwise, in elements, by the names of their buffers.

    Raises:
        UndividedError: the sizes do not divide, or no launch is of the kernel that is coarsened.
    """
    made: list[Launch] = []
    has_own = not variant.is_rewritten
    for launch in launches:
        is_own = not code.is_sequence or launch.kernel == code.kernel
        is_alike = not is_own and launch.is_coarsened and variant.is_coarsened
        has_own = has_own or is_own or is_alike
        if is_own or is_alike:
            added = code.added_arguments if is_own else code.kernel_of(launch.kernel, is_alike)[0].added_arguments
            launch = variant_launch(launch, variant, added, shapes)
        made.append(replace(launch, is_coarsened=is_alike))
    if not has_own:
        raise UndividedError(not_launched(code.kernel))
    return made


def not_launched(kernel: str) -> str:
    """Say that a coarsening would have no effect."""
    return f"no launch is of the kernel {kernel}, nor of one that is coarsened alike"


def variant_launch(
    launch: Launch, variant: Variant, added: Sequence[AddedArgument], shapes: Shapes = MappingProxyType({})
) -> Launch:
    """Return the launch that does the work of an uncoarsened one with a variant's kernel.

    Args:
        launch: of the uncoarsened kernel.
        variant: what the kernel is.
        added: the arguments that its kernel takes after the original's.
        shapes: of the arrays that lie otherwise, in elements, by the names of their buffers.

    Raises:
        UndividedError: the sizes do not divide, or a buffer is passed twice where arguments must be distinct.
    """
    is_apart = variant.transforms.distinct or variant.transforms.is_tiled
    if is_apart and (shared := buffer_passed_twice(launch)):
        raise UndividedError(f"the buffer {shared} is passed for two arguments, which are taken as distinct")
    sized = _guarded(launch, variant) if variant.any_size else _divided(launch, variant.coarsenings)
    values = tuple(_added_value(entry, launch, added, shapes) for entry in added)
    return replace(sized, arguments=(*launch.arguments, *values))


def buffer_passed_twice(launch: Launch) -> str | None:
    """Return the name of a buffer that a launch passes for two arguments; None if there is none."""
    names = [argument.name for argument in launch.arguments if isinstance(argument, BufferArgument)]
    return next((name for name in names if names.count(name) > 1), None)


def undivided(launch: Launch, coarsenings: Iterable[Coarsening]) -> str | None:
    """Say in one line why a launch's sizes do not divide by the coarsenings; None where they do."""
    return next(filter(None, (_undivided_along(launch, coarsening) for coarsening in coarsenings)), None)


def needs_local_size(coarsenings: Iterable[Coarsening]) -> bool:
    """Return True where a local size that the driver chooses will not do."""
    return any(coarsening.level is Level.GROUP or coarsening.stride > 1 for coarsening in coarsenings)


def _undivided_along(launch: Launch, coarsening: Coarsening) -> str | None:
    dimension, factor = coarsening.dimension, coarsening.factor
    if dimension >= len(launch.global_size):
        return f"the NDRange has no dimension {dimension}"
    if not launch.local_size:
        if needs_local_size([coarsening]):
            return LEFT_OPEN
        extent = launch.global_size[dimension]
        return f"the factor {factor} does not divide {extent} along {dimension}" if extent % factor else None
    if coarsening.level is Level.GROUP:
        groups = launch.global_size[dimension] // launch.local_size[dimension]
        if groups % factor:
            return f"the factor {factor} does not divide the {groups} work-groups along {dimension}"
        return None
    extent, rest = divmod(launch.local_size[dimension], factor)
    if rest:
        local_size = "×".join(map(str, launch.local_size))
        return f"the factor {factor} does not divide the local size {local_size} along {dimension}"
    if extent % coarsening.stride:
        return (
            f"the stride {coarsening.stride} does not divide the coarsened local size {extent} along {dimension}"
        )
    return None


def _divided(launch: Launch, coarsenings: Sequence[Coarsening]) -> Launch:
    reason = undivided(launch, coarsenings)
    if reason is not None:
        raise UndividedError(reason)
    global_size, local_size = list(launch.global_size), list(launch.local_size)
    for coarsening in coarsenings:
        global_size[coarsening.dimension] //= coarsening.factor
        if coarsening.level is Level.ITEM and local_size:
            local_size[coarsening.dimension] //= coarsening.factor
    return replace(launch, global_size=tuple(global_size), local_size=tuple(local_size))


def _guarded(launch: Launch, variant: Variant) -> Launch:
    """The guarded launch in work-groups that are no larger than the original's, or left open as these are."""
    if not launch.local_size and needs_local_size(variant.coarsenings):
        raise UndividedError(LEFT_OPEN)
    guarded = _guarded_sizes(launch, variant)
    if guarded is None:
        raise UndividedError(f"nothing would be merged at the global size {launch.global_size}")
    if variant.transforms.is_tiled and guarded.local_size != launch.local_size:
        raise UndividedError(f"the work-groups that copy together have the local size {launch.local_size}")
    return replace(launch, global_size=guarded.global_size, local_size=guarded.local_size or ())


def needs_guard(launch: Launch, variant: Variant) -> bool:
    """Return True if a launch can be carried out by a variant with a guard, and not by one without."""
    if undivided(launch, variant.coarsenings) is None:
        return False
    guarded = _guarded_sizes(launch, variant)
    return guarded is not None and without_needless_guard(guarded, launch.global_size).guarded


def _guarded_sizes(launch: Launch, variant: Variant) -> DividedLaunch | None:
    local_size = launch.local_size or None
    limits = LaunchLimits(math.prod(launch.local_size), launch.local_size)
    return guarded_launch(launch.global_size, local_size, variant.coarsenings, limits)


def _added_value(added: AddedArgument, launch: Launch, every: Sequence[AddedArgument], shapes: Shapes) -> Argument:
    if added.meaning == "global-size":
        return ScalarArgument(np.uint64(launch.global_size[added.dimension]))
    like = launch.arguments[added.like]
    if added.meaning == "extent":
        if not isinstance(like, BufferArgument) or like.name not in shapes:
            raise InternalError(f"the argument {added.like} of {launch.kernel} is no array of a known shape")
        return ScalarArgument(np.uint64(extent_of(added, every, shapes[like.name])))
    if not isinstance(like, LocalArgument):
        raise InternalError(f"the argument {added.like} of {launch.kernel} is no local memory")
    return like

"""Launches that were decided: what the next call of the same kind does at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pyopencl

from coarsen.runtime.arguments import (
    Argument,
    Pairs,
    buffers_function,
    pair_functions,
    sorted_by_kind,
    typed_pair_functions,
)
from coarsen.runtime.enqueue import Target
from coarsen.runtime.launch import DividedLaunch, PassedSizes
from coarsen.runtime.launches import KernelLaunches, LaunchedVariant


class Ready(NamedTuple):
    """A launch that was decided: what the next call does that passes the same sizes and types.

    `references` and `numbers` take from a call's arguments what PyOpenCL's two setters want, and the added ones
    come after the kernel's own. Where there are `buffers`, each must be smaller than `limit` bytes and, where
    `is_distinct`, no other's memory; else the launch is decided anew. `is_converted` says that PyOpenCL has to
    convert arguments.
    """

    kernel: pyopencl.Kernel
    launched: LaunchedVariant | None
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    references: Callable[[tuple[Argument, ...]], Pairs]
    numbers: Callable[[tuple[Argument, ...]], Pairs]
    added_references: Pairs
    added_numbers: Pairs
    is_converted: bool = False
    buffers: Callable[[tuple[Argument, ...]], tuple[pyopencl.Buffer, ...]] | None = None
    limit: float = math.inf
    is_distinct: bool = False


def ready_for(
    own: pyopencl.Kernel,
    launches: KernelLaunches,
    types: tuple[Any, ...] | None,
    sizes: PassedSizes,
    args: tuple[Argument, ...],
    known: DividedLaunch,
    target: Target | None,
) -> Ready | None:
    """Return what calls of the same kind do; None where each has to be looked at.

    Args:
        own: the original kernel.
        launches: of that kernel.
        types: of its arguments, as `pyopencl.Kernel.set_arg_types` takes them; None where they were not set.
        sizes: of the original launch.
        args: of a call.
        known: what was chosen for all launches of these sizes.
        target: what was launched; None: the original kernel.
    """
    if target is not None and target.launch is not known:
        return None
    functions = pair_functions(args) if types is None else typed_pair_functions(types)
    is_converted = functions is None
    functions = functions or pair_functions(args)
    if target is None:
        if launches.variant_of(known) is not None:
            return None
        return Ready(own, None, *sizes, *functions, (), (), is_converted)
    first, launched = launches.argument_count, target.launched
    added = sorted_by_kind(range(first, first + len(target.added)), target.added)
    if is_converted:
        # PyOpenCL sets all of them.
        added = (), target.added
    driver_sizes = target.launch.global_size, target.launch.local_size
    ready = Ready(target.kernel, launched, *driver_sizes, *functions, *added, is_converted)
    if launched is None or not launched.is_conditional:
        return ready
    buffers = buffers_function(args)
    if buffers is None or launched.placed or launches.plan.shares_memory:
        return None
    limit = math.inf if launched.objects_below is None else launched.objects_below
    return ready._replace(buffers=buffers, limit=limit, is_distinct=bool(launched.apart))

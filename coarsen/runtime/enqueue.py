"""Launches by PyOpenCL's own function, of a variant or of the original kernel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypedDict, cast

import pyopencl

from coarsen.runtime.arguments import (
    ENQUEUE,
    Argument,
    Pairs,
    WaitList,
    buffers_function,
    pair_functions,
    sorted_by_kind,
    typed_pair_functions,
)
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch, OwnLaunch, PassedSizes, plain_offset
from coarsen.runtime.launches import KernelLaunches, LaunchedVariant

AnySizes: TypeAlias = Sequence[int]


class LaunchOptions(TypedDict):
    """The keyword arguments of a launch, as a kernel's call has them."""

    global_offset: Any
    g_times_l: bool
    allow_empty_ndrange: bool
    wait_for: WaitList


# In the order in which a kernel's call takes them after the arguments.
_DEFAULTS: Final[LaunchOptions] = {
    "global_offset": None,
    "g_times_l": False,
    "allow_empty_ndrange": False,
    "wait_for": None,
}


class Target(NamedTuple):
    """What a launch runs.

    Attributes:
        original: the launch that is asked for.
        kernel: a variant's object, or the original kernel.
        launched: the variant; None for the original kernel.
        launch: how it is carried out.
        added: the arguments after the kernel's own, and in the place of some, by index.
    """

    original: OriginalLaunch
    kernel: pyopencl.Kernel
    launched: LaunchedVariant | None
    launch: DividedLaunch
    added: Mapping[int, Argument]

    @property
    def sizes(self) -> PassedSizes:
        """Return the sizes that the driver is given."""
        is_changed = self.launched is not None or self.launch.regrouped
        chosen: DividedLaunch | OriginalLaunch = self.launch if is_changed else self.original
        return chosen.global_size, chosen.local_size


def enqueue_target(
    queue: pyopencl.CommandQueue, target: Target, local_size: AnySizes | None, options: LaunchOptions
) -> pyopencl.Event:
    """Launch a target that has its arguments; `local_size` is the caller's. The sizes are multiplied already."""
    offset = options["global_offset"]
    if offset is not None:
        offset = plain_offset(offset, local_size, options["g_times_l"])
    event: pyopencl.Event = ENQUEUE(
        queue, target.kernel, *target.sizes, offset, options["wait_for"], False, options["allow_empty_ndrange"]
    )
    return event


def positional(args: tuple[Argument, ...], by_name: dict[str, Argument]) -> tuple[Argument, ...]:
    """Return all arguments in their order; those taken out of `by_name` are named `arg0`, `arg1` and so on."""
    while (name := f"arg{len(args)}") in by_name:
        args = (*args, by_name.pop(name))
    return args


def without_options(args: tuple[Argument, ...], count: int, options: LaunchOptions) -> tuple[Argument, ...]:
    """Return the arguments of a kernel that takes `count`; those after them are put into the options.

    PyOpenCL takes options by position too. What it rejects, too many or one that is named as well, is left there.
    """
    given = dict(zip(_DEFAULTS, args[count:], strict=False))
    if len(args) > count + len(_DEFAULTS) or any(options.get(name) is not _DEFAULTS.get(name) for name in given):
        return args
    options.update(cast("LaunchOptions", given))
    return args[:count]


def with_added(args: tuple[Argument, ...], added: Mapping[int, Argument]) -> tuple[Argument, ...]:
    """Return arguments with those after them, and in the place of some, by index."""
    values = [added.get(index, value) for index, value in enumerate(args)]
    return (*values, *(value for index, value in added.items() if index >= len(args)))


def in_tuples(global_size: AnySizes, local_size: AnySizes | None) -> tuple[Any, Any]:
    """Return sizes that can be read twice, which an iterator's can't; PyOpenCL refuses what is no sequence."""
    return as_tuple(global_size), as_tuple(local_size)


def as_tuple(values: Any) -> Any:  # noqa: ANN401 (whatever the caller passes)
    """Return the values of an iterable; anything else, None too, as it is."""
    if values is None or isinstance(values, tuple):
        return values
    try:
        return tuple(values)
    except TypeError:
        return values


# Launches that were decided: what the next call of the same kind does at once.


class Ready(NamedTuple):
    """A launch that was decided: what the next call does that passes the same sizes and types.

    `kernel` is a variant's object, None for the original kernel, which keeps this and must not refer to itself.
    `references` and `numbers` take from a call's arguments what PyOpenCL's two setters want, and the added ones
    come after the kernel's own. Where there are `buffers`, each must be smaller than `limit` bytes and, where
    `is_distinct`, no other's memory; else the launch is decided anew. `is_converted` says that PyOpenCL has to
    convert arguments; `own` is there where several launches are made; `shown` is what an observer sees.
    """

    kernel: pyopencl.Kernel | None
    launched: LaunchedVariant | None
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    references: Callable[[tuple[Argument, ...]], Pairs]
    numbers: Callable[[tuple[Argument, ...]], Pairs]
    added_references: Pairs
    added_numbers: Pairs
    is_converted: bool = False
    own: OwnLaunch | None = None
    buffers: Callable[[tuple[Argument, ...]], tuple[pyopencl.Buffer, ...]] | None = None
    limit: float = math.inf
    is_distinct: bool = False
    shown: tuple[OriginalLaunch, DividedLaunch] | None = None


def ready_for(
    launches: KernelLaunches,
    types: tuple[Any, ...] | None,
    args: tuple[Argument, ...],
    known: DividedLaunch,
    target: Target,
) -> Ready | None:
    """Return what calls of the same kind do; None where each has to be looked at.

    Args:
        launches: of that kernel.
        types: of its arguments, as `pyopencl.Kernel.set_arg_types` takes them; None where they were not set.
        args: of a call.
        known: what was chosen for all launches of these sizes.
        target: what was launched.
    """
    if target.launch is not known or (known.steps is not None and types is not None):
        return None
    functions = pair_functions(args) if types is None else typed_pair_functions(types)
    is_converted = functions is None
    functions = functions or pair_functions(args)
    launched = target.launched
    added = sorted_by_kind(target.added.keys(), target.added.values())
    if is_converted:
        # PyOpenCL sets all of them.
        added = (), tuple(itertools.chain(*target.added.items()))
    kernel = None if launched is None else target.kernel
    own = None if known.steps is None else known.own
    ready = Ready(kernel, launched, *target.sizes, *functions, *added, is_converted, own)
    if launched is None or not launched.is_conditional:
        return ready
    buffers = buffers_function(args)
    if buffers is None or launched.placed or launches.plan.shares_memory:
        return None
    limit = math.inf if launched.objects_below is None else launched.objects_below
    return ready._replace(buffers=buffers, limit=limit, is_distinct=bool(launched.apart))

"""Launches by PyOpenCL's own function, of a variant or of the original kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypedDict, cast

import pyopencl
from pyopencl._cl import enqueue_nd_range_kernel as enqueue_plainly

from coarsen.runtime.arguments import Argument
from coarsen.runtime.launch import DividedLaunch, plain_offset
from coarsen.runtime.launches import LaunchedVariant

AnySizes: TypeAlias = Sequence[int]

# Whatever PyOpenCL takes as the events to wait for; its annotations leave some out.
WaitList: TypeAlias = Any

# PyOpenCL's own launch, by position: the names differ between a kernel's call and this function.
ENQUEUE: Any = enqueue_plainly


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
    """The kernel object that a launch runs: a variant's, or the original at another local size (`launched` is
    None); its sizes, and the arguments after the kernel's own.
    """

    kernel: pyopencl.Kernel
    launched: LaunchedVariant | None
    launch: DividedLaunch
    added: tuple[Argument, ...]


def enqueue_target(
    queue: pyopencl.CommandQueue, target: Target, local_size: AnySizes | None, options: LaunchOptions
) -> pyopencl.Event:
    """Launch a target that has its arguments; `local_size` is the caller's. The sizes are multiplied already."""
    launch = target.launch
    offset = options["global_offset"]
    if offset is not None:
        offset = plain_offset(offset, local_size, options["g_times_l"])
    event: pyopencl.Event = ENQUEUE(
        queue,
        target.kernel,
        launch.global_size,
        launch.local_size,
        offset,
        options["wait_for"],
        False,
        options["allow_empty_ndrange"],
    )
    return event


def enqueue_original(
    queue: pyopencl.CommandQueue, kernel: pyopencl.Kernel, sizes: tuple[Any, Any], options: LaunchOptions
) -> pyopencl.Event:
    """Launch the original kernel with the caller's sizes."""
    event: pyopencl.Event = ENQUEUE(
        queue,
        kernel,
        *sizes,
        options["global_offset"],
        options["wait_for"],
        options["g_times_l"],
        options["allow_empty_ndrange"],
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

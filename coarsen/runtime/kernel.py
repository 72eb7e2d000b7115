"""A kernel that is launched with its original sizes and runs coarsened where they divide."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, TypeAlias, TypedDict, Unpack

import pyopencl

from coarsen.errors import InternalError
from coarsen.runtime.launch import DividedLaunch, LaunchLimits, divide_launch
from coarsen.runtime.plan import CoarseningPlan
from coarsen.transform.configuration import Configuration

Sizes: TypeAlias = Sequence[int]

# Whatever PyOpenCL takes as a kernel's argument, and as the events to wait for; its annotations leave some
# out.
Argument: TypeAlias = Any
WaitList: TypeAlias = Any


class LaunchOptions(TypedDict, total=False):
    """The keyword arguments of a launch, as PyOpenCL has them."""

    global_offset: Any
    wait_for: WaitList
    g_times_l: bool
    allow_empty_ndrange: bool


class Kernel(pyopencl.Kernel):
    """The drop-in for `pyopencl.Kernel`, with the same calls.

    It is itself the original kernel, so whatever takes a `pyopencl.Kernel`
    (`pyopencl.enqueue_nd_range_kernel` too) works and launches the original; calling it, or
    `coarsen.enqueue_nd_range_kernel`, launches a coarsened variant.
    """

    def __init__(self, program: pyopencl.Program, name: str, plan: CoarseningPlan) -> None:
        super().__init__(program, name)
        self._name = name
        self._plan = plan
        self._variants: dict[Configuration, pyopencl.Kernel | None] = {}
        self._argument_types: tuple[Any, ...] | None = None
        self._arguments: tuple[Argument, ...] = ()
        self._later_arguments: dict[int, Argument] = {}

    def __call__(
        self,
        queue: pyopencl.CommandQueue,
        global_work_size: Sizes,
        local_work_size: Sizes | None,
        *args: Argument,
        **launch_options: Unpack[LaunchOptions],
    ) -> pyopencl.Event:
        """As `pyopencl.Kernel.__call__`: sets the arguments and launches; sizes and offset are the original's."""
        target, sizes, options = self._target(queue, global_work_size, local_work_size, launch_options)
        self.set_args(*args)
        if target is None:
            return super().__call__(queue, *sizes, *args, **options)
        return target(queue, *sizes, *args, **options)

    def enqueue(
        self,
        queue: pyopencl.CommandQueue,
        global_work_size: Sizes,
        local_work_size: Sizes | None,
        **launch_options: Unpack[LaunchOptions],
    ) -> pyopencl.Event:
        """Launches with the arguments set before (`set_args`, `set_arg`); the rest as for a call."""
        target, sizes, options = self._target(queue, global_work_size, local_work_size, launch_options)
        if target is None:
            return _enqueue(queue, self, sizes, options)
        if self._arguments:
            target.set_args(*self._arguments)
        for index, value in self._later_arguments.items():
            target.set_arg(index, value)
        return _enqueue(queue, target, sizes, options)

    def divided(
        self, device: pyopencl.Device, global_size: Sizes, local_size: Sizes | None, g_times_l: bool = False
    ) -> DividedLaunch:
        """How a launch of these (original) sizes is carried out on `device`, and why."""
        whole, local = _plain_sizes(global_size, local_size, g_times_l)
        required = self._required_local_size(device, len(whole))
        if required is not None and local is None:
            local = required
        if required is not None and required != local:
            return DividedLaunch(whole, local, ())
        launch = divide_launch(whole, local, self._plan.chosen(self._name, local), _limits(device))
        return self._if_it_fits(device, whole, local, launch)

    def set_args(self, *args: Argument) -> None:
        """As `pyopencl.Kernel.set_args`."""
        super().set_args(*args)
        self._arguments, self._later_arguments = args, {}

    def set_arg(self, index: int, value: Argument, /) -> None:
        """As `pyopencl.Kernel.set_arg`."""
        super().set_arg(index, value)
        self._later_arguments[index] = value

    def set_arg_types(self, arg_types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`."""
        super().set_arg_types(arg_types)
        self._argument_types = tuple(arg_types)
        for variant in self._variants.values():
            if variant is not None:
                variant.set_arg_types(self._argument_types)

    def set_scalar_arg_dtypes(self, arg_types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_scalar_arg_dtypes`."""
        self.set_arg_types(arg_types)

    def _target(
        self,
        queue: pyopencl.CommandQueue,
        global_size: Sizes,
        local_size: Sizes | None,
        options: LaunchOptions,
    ) -> tuple[pyopencl.Kernel | None, tuple[Any, Any], LaunchOptions]:
        """The variant to launch (None: the original), its sizes, and the other options of the launch."""
        try:
            launch = self.divided(queue.device, global_size, local_size, bool(options.get("g_times_l")))
        except TypeError:
            # Sizes that aren't sequences of integers: PyOpenCL says so.
            return None, (global_size, local_size), options
        if launch.note:
            geometry = (self._name, tuple(global_size), local_size and tuple(local_size))
            self._plan.say_once(geometry, f"kernel {self._name}: {launch.note}")
        target = self._variant(launch.coarsenings)
        if target is None:
            return None, (global_size, local_size), options
        # The sizes are multiplied already.
        options["g_times_l"] = False
        return target, (launch.global_size, launch.local_size), options

    def _if_it_fits(
        self,
        device: pyopencl.Device,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        launch: DividedLaunch,
    ) -> DividedLaunch:
        """The launch, or the original's where the variant was refused or is too big for its work-group."""
        if not launch.coarsenings:
            return launch
        variant = self._variant(launch.coarsenings)
        if variant is None:
            return DividedLaunch(global_size, local_size, ())
        limit = variant.get_work_group_info(pyopencl.kernel_work_group_info.WORK_GROUP_SIZE, device)
        wanted = math.prod(launch.local_size or (1,))
        if wanted <= limit:
            return launch
        note = f"coarsened it takes work-groups up to {limit} on this device, not {wanted}: launched as it was"
        return DividedLaunch(global_size, local_size, (), note)

    def _variant(self, configuration: Configuration) -> pyopencl.Kernel | None:
        if not configuration:
            return None
        if configuration not in self._variants:
            variant = self._plan.variant(self._name, configuration)
            if variant is not None:
                self._adopt(variant)
            self._variants[configuration] = variant
        return self._variants[configuration]

    def _adopt(self, variant: pyopencl.Kernel) -> None:
        if variant.num_args != self.num_args:
            raise InternalError(
                f"the coarsened kernel {self._name} takes {variant.num_args} arguments, not {self.num_args}; "
                "please report it with the kernel's source"
            )
        if self._argument_types is not None:
            variant.set_arg_types(self._argument_types)

    def _required_local_size(self, device: pyopencl.Device, dimensions: int) -> tuple[int, ...] | None:
        """The kernel's `reqd_work_group_size`, cut to the launch's dimensions; None where it has none."""
        required = self.get_work_group_info(pyopencl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE, device)
        return tuple(int(size) for size in required[:dimensions]) if any(required) else None


def enqueue_nd_range_kernel(
    queue: pyopencl.CommandQueue,
    kernel: pyopencl.Kernel,
    global_work_size: Sizes,
    local_work_size: Sizes | None,
    global_work_offset: Sizes | None = None,
    wait_for: WaitList = None,
    g_times_l: bool = False,
    allow_empty_ndrange: bool = False,
) -> pyopencl.Event:
    """As `pyopencl.enqueue_nd_range_kernel`, for kernels of a `coarsen.Program` too; sizes are the original's."""
    options: LaunchOptions = {
        "global_offset": global_work_offset,
        "wait_for": wait_for,
        "g_times_l": g_times_l,
        "allow_empty_ndrange": allow_empty_ndrange,
    }
    if isinstance(kernel, Kernel):
        return kernel.enqueue(queue, global_work_size, local_work_size, **options)
    return _enqueue(queue, kernel, (global_work_size, local_work_size), options)


def _enqueue(
    queue: pyopencl.CommandQueue, kernel: pyopencl.Kernel, sizes: tuple[Any, Any], options: LaunchOptions
) -> pyopencl.Event:
    """PyOpenCL's own launch; by position, since the names differ between a kernel's call and this function."""
    names = ("global_offset", "wait_for", "g_times_l", "allow_empty_ndrange")
    defaults: tuple[Any, ...] = (None, None, False, False)
    values = [options.get(name, default) for name, default in zip(names, defaults, strict=True)]
    launch: Any = pyopencl.enqueue_nd_range_kernel
    event: pyopencl.Event = launch(queue, kernel, *sizes, *values)
    return event


def _plain_sizes(
    global_size: Sizes, local_size: Sizes | None, g_times_l: bool
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Both sizes as tuples, the global one in work-items; raises TypeError where they are no whole numbers."""
    whole = tuple(operator.index(size) for size in global_size)
    if local_size is None:
        return whole, None
    local = tuple(operator.index(size) for size in local_size)
    if g_times_l:
        dimensions = max(len(whole), len(local))
        whole += (1,) * (dimensions - len(whole))
        local += (1,) * (dimensions - len(local))
        whole = tuple(groups * size for groups, size in zip(whole, local, strict=True))
    return whole, local


def _limits(device: pyopencl.Device) -> LaunchLimits:
    return LaunchLimits(device.max_work_group_size, tuple(device.max_work_item_sizes))

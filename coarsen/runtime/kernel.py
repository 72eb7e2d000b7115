"""A kernel that is launched with its original sizes and runs coarsened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict, Unpack

import pyopencl

from coarsen.runtime.choice import LaunchChooser, OriginalLaunch
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.local_memory import size_of_local
from coarsen.runtime.plan import CoarseningPlan
from coarsen.runtime.sizes import plain_sizes
from coarsen.runtime.variants import Argument, Variants

Sizes: TypeAlias = Sequence[int]

# Whatever PyOpenCL takes as the events to wait for; its annotations leave some out.
WaitList: TypeAlias = Any


class LaunchOptions(TypedDict, total=False):
    """The keyword arguments of a launch, as PyOpenCL has them."""

    global_offset: Any
    wait_for: WaitList
    g_times_l: bool
    allow_empty_ndrange: bool


@dataclass(frozen=True, slots=True)
class _Target:
    """A variant to launch: its sizes, its arguments after the kernel's own, the other options."""

    kernel: pyopencl.Kernel
    sizes: tuple[Any, Any]
    added: tuple[Argument, ...]
    options: LaunchOptions


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
        self._variants = Variants(name, self.num_args, plan)
        self._chooser = LaunchChooser(name, self, plan, self._variants)
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
        self.set_args(*args)
        target = self._target(queue, global_work_size, local_work_size, launch_options)
        if target is None:
            sizes: tuple[Any, Any] = (global_work_size, local_work_size)
            return super().__call__(queue, *sizes, *args, **launch_options)
        return target.kernel(queue, *target.sizes, *args, *target.added, **target.options)

    def enqueue(
        self,
        queue: pyopencl.CommandQueue,
        global_work_size: Sizes,
        local_work_size: Sizes | None,
        **launch_options: Unpack[LaunchOptions],
    ) -> pyopencl.Event:
        """Launch with the arguments set before (`set_args`, `set_arg`); the rest as for a call."""
        target = self._target(queue, global_work_size, local_work_size, launch_options)
        if target is None:
            return _enqueue(queue, self, (global_work_size, local_work_size), launch_options)
        if self._arguments:
            target.kernel.set_args(*self._arguments, *target.added)
        one_by_one = {} if self._arguments else dict(enumerate(target.added, start=self.num_args))
        for index, value in (self._later_arguments | one_by_one).items():
            target.kernel.set_arg(index, value)
        return _enqueue(queue, target.kernel, target.sizes, target.options)

    def divided(
        self, device: pyopencl.Device, global_size: Sizes, local_size: Sizes | None, g_times_l: bool = False
    ) -> DividedLaunch:
        """Return how a launch of these (original) sizes is carried out on `device`, and why.

        Where work-groups are merged, the local memory that was last set as an argument counts.
        """
        whole, local = plain_sizes(global_size, local_size, g_times_l)
        local_bytes = sum(map(size_of_local, self._passed())) if self._plan.merges_groups else 0
        return self._chooser.choose(OriginalLaunch(device, whole, local, local_bytes))

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
        self._variants.set_argument_types(arg_types)

    def set_scalar_arg_dtypes(self, arg_types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_scalar_arg_dtypes`."""
        self.set_arg_types(arg_types)

    def _target(
        self,
        queue: pyopencl.CommandQueue,
        global_size: Sizes,
        local_size: Sizes | None,
        options: LaunchOptions,
    ) -> _Target | None:
        """Return the variant to launch; None: the original kernel, as the caller says."""
        g_times_l = bool(options.get("g_times_l"))
        try:
            launch = self.divided(queue.device, global_size, local_size, g_times_l)
        except TypeError:
            # Sizes that aren't sequences of integers: PyOpenCL says so.
            return None
        if launch.note:
            geometry = (self._name, tuple(global_size), local_size and tuple(local_size))
            self._plan.say_once(geometry, f"kernel {self._name}: {launch.note}")
        if not launch.coarsenings:
            return None
        wanted = self._plan.variant_of(launch.coarsenings, launch.guarded)
        kernel = self._variants.get(wanted)
        whole, _ = plain_sizes(global_size, local_size, g_times_l)
        added = self._variants.added_values(wanted, whole, self._passed())
        if kernel is None or added is None:
            return None
        # The sizes are multiplied already.
        return _Target(kernel, (launch.global_size, launch.local_size), added, {**options, "g_times_l": False})

    def _passed(self) -> Sequence[Argument]:
        """The arguments as they are set now."""
        if not self._later_arguments:
            return self._arguments
        passed = dict(enumerate(self._arguments)) | self._later_arguments
        return [passed.get(index) for index in range(self.num_args)]


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
    """As `pyopencl.enqueue_nd_range_kernel`, for kernels of a `coarsen.Program` too.

    Args:
        queue: where to launch.
        kernel: one of a `coarsen.Program`, or any other.
        global_work_size: of the original kernel, in work-items, one to three numbers.
        local_work_size: of the original kernel, in work-items; None leaves it to the driver.
        global_work_offset: as PyOpenCL takes it.
        wait_for: events to wait for.
        g_times_l: whether the global size is given in work-groups.
        allow_empty_ndrange: whether a size of 0 is no error.

    Returns:
        The event of the launch.
    """
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

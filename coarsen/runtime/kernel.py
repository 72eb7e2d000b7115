"""A kernel that is launched with its original sizes and runs coarsened."""

from __future__ import annotations

from typing import Any

import pyopencl

from coarsen.runtime.arguments import Argument, set_sorted, sorted_by_kind
from coarsen.runtime.choosing_kernel import ChoosingKernel
from coarsen.runtime.enqueue import (
    ENQUEUE,
    LaunchOptions,
    Sizes,
    WaitList,
    enqueue_original,
    enqueue_target,
    in_tuples,
    positional,
    without_options,
)
from coarsen.runtime.sizes import plain_offset


class Kernel(ChoosingKernel):
    """The drop-in for `pyopencl.Kernel`, with the same calls.

    It is itself the original kernel, so whatever takes a `pyopencl.Kernel` works. Calling it,
    `pyopencl.enqueue_nd_range_kernel` and `coarsen.enqueue_nd_range_kernel` launch a coarsened variant.

    Arguments are set for the original kernel as PyOpenCL does, and for a variant by the launch. A variant never
    runs with others: where it isn't known what is set, the original runs.
    """

    # PyOpenCL's annotation names the sizes otherwise than its code does.
    def __call__(  # type: ignore[override]
        self,
        queue: pyopencl.CommandQueue,
        global_size: Sizes,
        local_size: Sizes | None,
        *args: Argument,
        global_offset: Sizes | None = None,
        g_times_l: bool = False,
        allow_empty_ndrange: bool = False,
        wait_for: WaitList = None,
        **by_name: Argument,
    ) -> pyopencl.Event:
        """As `pyopencl.Kernel.__call__`: sets the arguments and launches; sizes and offset are the original's.

        Arguments may be named, as PyOpenCL names them: `arg0`, `arg1` and so on.
        """
        options: LaunchOptions = {
            "global_offset": global_offset,
            "g_times_l": g_times_l,
            "allow_empty_ndrange": allow_empty_ndrange,
            "wait_for": wait_for,
        }
        args = positional(args, by_name) if by_name else args
        sizes = in_tuples(global_size, local_size)
        passed = self._launches.argument_count if self._types is None else len(self._types)
        if len(args) > passed:
            args = without_options(args, passed, options)
        if by_name or len(args) != passed:
            # PyOpenCL says what is wrong.
            return self._call_original(queue, sizes, args, options, by_name)
        if self._types is not None:
            return self._call_typed(queue, sizes, args, options)
        given = sorted_by_kind(range(passed), args)
        self._set_for_call(args, given)
        try:
            target = self._target(queue, sizes, options)
            if target is None:
                event = enqueue_original(queue, self, sizes, options)
            else:
                if target.launched is not None:
                    set_sorted(target.kernel, given)
                    self._set_added(target)
                    self._up_to_date = target.launched
                event = enqueue_target(queue, target, sizes[1], options)
            if self._launches.observer is not None:
                self._show(queue, sizes, options, target)
        finally:
            self._end_call()
        return event

    def enqueue(
        self,
        queue: pyopencl.CommandQueue,
        global_work_size: Sizes,
        local_work_size: Sizes | None,
        global_work_offset: Sizes | None = None,
        wait_for: WaitList = None,
        g_times_l: bool = False,
        allow_empty_ndrange: bool = False,
    ) -> pyopencl.Event:
        """Launch with the arguments set before (`set_args`, `set_arg`), as `pyopencl.enqueue_nd_range_kernel`."""
        self._check_set()
        options: LaunchOptions = {
            "global_offset": global_work_offset,
            "g_times_l": g_times_l,
            "allow_empty_ndrange": allow_empty_ndrange,
            "wait_for": wait_for,
        }
        sizes = in_tuples(global_work_size, local_work_size)
        target = self._handed_over(None if self._is_exposed else self._target(queue, sizes, options))
        if target is None:
            event = enqueue_original(queue, self, sizes, options)
        else:
            self._set_added(target)
            event = enqueue_target(queue, target, sizes[1], options)
        if self._launches.observer is not None:
            self._show(queue, sizes, options, target)
        return event

    def clone(self) -> pyopencl.Kernel:
        """As `pyopencl.Kernel.clone`: a kernel object of its own, with the same arguments set."""
        self._check_set()
        is_unknown = self._has_unnoted and not self._set.are_complete
        if self._is_exposed or is_unknown or not self._launches.is_coarsened:
            return super().clone()
        copy = Kernel(self.program, self._launches)
        copy._set = self._set.copy()
        copy._lacks_arguments = True
        return copy

    def _check_set(self) -> None:
        """Raise InvalidInputError where the arguments that were given hold for one call alone."""

    def _call_original(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: tuple[Argument, ...],
        options: LaunchOptions,
        by_name: dict[str, Argument],
    ) -> pyopencl.Event:
        """PyOpenCL's own call."""
        self._lacks_arguments = False
        return super().__call__(queue, *sizes, *args, **options, **by_name)

    def _call_typed(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: tuple[Argument, ...],
        options: LaunchOptions,
    ) -> pyopencl.Event:
        """Call a kernel whose arguments have types: PyOpenCL converts them, and waits for arrays."""
        self._lacks_arguments = False
        self.set_args(*args)
        try:
            return self._launch_typed(queue, sizes, args, options)
        finally:
            self._end_call()

    def _launch_typed(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: tuple[Argument, ...],
        options: LaunchOptions,
    ) -> pyopencl.Event:
        """Launch a kernel whose arguments have types, and are set."""
        arrays = [event for value in args for event in getattr(value, "events", ())]
        target = self._target(queue, sizes, options, arrays)
        if target is None:
            event = self._call_original(queue, sizes, args, options, {})
        else:
            offset: Any = plain_offset(options["global_offset"], sizes[1], options["g_times_l"])
            changed: LaunchOptions = {**options, "global_offset": offset, "g_times_l": False}
            coarsened: tuple[Any, Any] = target.launch.global_size, target.launch.local_size
            # Its values are those of the call from now on, also if it fails half-way.
            self._up_to_date = None
            if target.launched is None:
                event = self._call_original(queue, coarsened, args, changed, {})
            else:
                event = target.kernel(queue, *coarsened, *args, *target.added, **changed)
        if self._launches.observer is not None:
            self._show(queue, sizes, options, target)
        return event


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
    sizes: tuple[Any, Any] = global_work_size, local_work_size
    options: tuple[Any, ...] = global_work_offset, wait_for, g_times_l, allow_empty_ndrange
    if isinstance(kernel, Kernel):
        return kernel.enqueue(queue, *sizes, *options)
    event: pyopencl.Event = ENQUEUE(queue, kernel, *sizes, *options)
    return event

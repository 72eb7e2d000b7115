"""A kernel that is launched with its original sizes and runs coarsened."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import pyopencl

from coarsen.runtime.advice import AtHand, PassedLaunch, PassingObserver
from coarsen.runtime.arguments import (
    PLAIN,
    Argument,
    SetArguments,
    SortedArguments,
    set_all,
    set_sorted,
    sorted_by_kind,
)
from coarsen.runtime.enqueue import (
    ENQUEUE,
    LaunchOptions,
    Sizes,
    Target,
    WaitList,
    as_tuple,
    enqueue_original,
    enqueue_target,
    in_tuples,
    positional,
    without_options,
)
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.launched_kernels import LaunchedKernels
from coarsen.runtime.launches import KernelLaunches, LaunchedVariant, added_values
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.runtime.sizes import plain_offset, plain_sizes
from coarsen.runtime.waiting import IMPATIENCE, are_over, is_any_set_by_host

# The reason for which the original runs though a variant was chosen.
_NO_VARIANT = "the variant that was chosen can't be built, or not be given the kernel's arguments"


class Kernel(pyopencl.Kernel):
    """The drop-in for `pyopencl.Kernel`, with the same calls.

    It is itself the original kernel, so whatever takes a `pyopencl.Kernel` works. Calling it,
    `pyopencl.enqueue_nd_range_kernel` and `coarsen.enqueue_nd_range_kernel` launch a coarsened variant.

    Arguments are set for the original kernel as PyOpenCL does, and for a variant by the launch. A variant never
    runs with others: where it isn't known what is set, the original runs.
    """

    # The program that the kernel comes from; PyOpenCL's annotation is of its inner class.
    program: Any = None
    # The variant whose kernel object has the arguments that are set.
    _up_to_date: LaunchedVariant | None = None
    # True for a clone whose original kernel was not given the arguments yet: they may be gone by then.
    _lacks_arguments = False
    # True once others may have set arguments of the original kernel by its address.
    _is_exposed = False
    _types: tuple[Any, ...] | None = None

    def __init__(self, program: pyopencl.Program, launches: KernelLaunches) -> None:
        super().__init__(launches.raw_program, launches.name)
        self.program = program
        self._launches = launches
        self._variants = LaunchedKernels(launches)
        self._set = SetArguments(launches.argument_count)

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

    def divided(
        self, device: pyopencl.Device, global_size: Sizes, local_size: Sizes | None, g_times_l: bool = False
    ) -> DividedLaunch:
        """Return how a launch of these (original) sizes is carried out on `device`, and why.

        Where work-groups are merged, the local memory that was last set as an argument counts.
        """
        whole, local = plain_sizes(global_size, local_size, g_times_l)
        return self._launches.choose(OriginalLaunch(device, whole, local, self._local_bytes()))

    def clone(self) -> pyopencl.Kernel:
        """As `pyopencl.Kernel.clone`: a kernel object of its own, with the same arguments set."""
        if self._is_exposed or not self._launches.is_coarsened:
            return super().clone()
        copy = Kernel(self.program, self._launches)
        copy._set = self._set.copy()
        copy._lacks_arguments = True
        return copy

    def get_info(self, param_name: pyopencl.kernel_info) -> object:
        """As `pyopencl.Kernel.get_info`; the program is the coarsened one."""
        return self.program if param_name == pyopencl.kernel_info.PROGRAM else super().get_info(param_name)

    @property
    def int_ptr(self) -> int:
        """As `pyopencl.Kernel.int_ptr`.

        Whoever has it may set arguments that are seen nowhere else, so `enqueue` and clones run the original from
        now on.
        """
        self._is_exposed = True
        address = int(super().int_ptr)
        _EXPOSED[address] = self
        return address

    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> pyopencl.Kernel:
        """As `pyopencl.Kernel.from_int_ptr`; our own kernel object of that address, where there is one."""
        plain: pyopencl.Kernel = PLAIN.from_int_ptr(int_ptr_value, retain)
        return _EXPOSED.get(int_ptr_value, plain)

    @property
    def _source(self) -> str | None:
        """The source, which PyOpenCL looks at to capture a call."""
        source: str | None = self.program._source
        return source

    def set_arg(self, arg_index: int, arg: Argument) -> None:
        """As `pyopencl.Kernel.set_arg`."""
        self._set_and_note(PLAIN.set_arg, (arg_index, arg), (arg_index, arg))

    def _set_arg_multi(self, indices_and_values: tuple[Argument, ...]) -> None:
        """As PyOpenCL's setter of this name, which host code that others generate calls too."""
        self._set_and_note(set_all, (indices_and_values[::2], indices_and_values[1::2]), indices_and_values)

    def _set_arg_buf_multi(self, indices_and_values: tuple[Argument, ...]) -> None:
        self._set_and_note(PLAIN._set_arg_buf_multi, (indices_and_values,), indices_and_values)

    def _set_arg_buf_pack_multi(self, entries: tuple[Argument, ...]) -> None:
        self._set_and_note(PLAIN._set_arg_buf_pack_multi, (entries,), entries, packed=True)

    def _set_arg_buf(self, index: int, value: Argument, /) -> None:
        self._set_and_note(PLAIN._set_arg_buf, (index, value), (index, value))

    def _set_arg_svm(self, index: int, value: Argument, /) -> None:
        self._set_and_note(PLAIN._set_arg_svm, (index, value), (index, value))

    def _set_arg_null(self, index: int, /) -> None:
        self._set_and_note(PLAIN._set_arg_null, (index,), (index, None))

    def set_arg_types(self, arg_types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`."""
        types = tuple(arg_types)
        super().set_arg_types(types)
        self._types = types
        self._variants.set_argument_types(types)

    def set_scalar_arg_dtypes(self, arg_types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_scalar_arg_dtypes`."""
        self.set_arg_types(arg_types)

    def _set_and_note(
        self,
        setter: Callable[..., None],
        arguments: tuple[Argument, ...],
        noted: Sequence[Argument],
        packed: bool = False,
    ) -> None:
        """Set arguments as PyOpenCL does, for the original kernel, and note them for the variants."""
        self._up_to_date = None
        try:
            setter(self, *arguments)
        except BaseException:
            self._set.forget()
            raise
        if not self._launches.is_coarsened:
            return
        try:
            (self._set.note_packed if packed else self._set.note_flat)(noted)
        except (BufferError, TypeError, ValueError, struct.error):
            # PyOpenCL has taken it; what it is can't be told, so no variant may run with it.
            self._set.forget()

    def _set_for_call(self, args: tuple[Argument, ...], given: SortedArguments) -> None:
        """Set the arguments of a call for the original kernel; `given` are the same, sorted."""
        self._lacks_arguments = False
        self._up_to_date = None
        try:
            set_sorted(self, given)
        except BaseException:
            self._set.forget()
            raise
        try:
            self._set.note_all(args)
        except (BufferError, TypeError, ValueError, struct.error):
            # PyOpenCL has taken them; what they are can't be told, so no variant may run with them later.
            self._set.forget()

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
        """A call of a kernel whose arguments have types: PyOpenCL converts them, and waits for arrays."""
        self._lacks_arguments = False
        self.set_args(*args)
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

    def _target(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event] = (),
    ) -> Target | None:
        """Return what to launch; None: the original kernel, as the caller says.

        `waiting` are events that the launch waits for besides those of its options.
        """
        try:
            whole, local = plain_sizes(*sizes, options["g_times_l"])
            device = queue.device
        except (TypeError, AttributeError):
            # Sizes that aren't sequences of integers, or what is no queue: PyOpenCL says so.
            return None
        launches = self._launches
        original = OriginalLaunch(device, whole, local, self._local_bytes())
        if launches.observer is not None:
            self._let_capture(original, queue, local, options, waiting)
        launch = launches.known(original)
        if launch is None:
            launch = launches.choose(original, self._at_hand(queue, local, options, waiting))
        launched = launches.variant_of(launch)
        if launched is None:
            return Target(self, None, launch, ()) if launch.regrouped else None
        if launched.objects_below is not None and not self._set.are_below(launched.objects_below):
            launch = launches.choose_narrow(original)
            launched = launches.variant_of(launch)
        kernel = None if launched is None else self._variants.get(launched)
        if launched is None or kernel is None:
            return None
        if not launched.added:
            return Target(kernel, launched, launch, ())
        added = added_values(launched.added, launches.argument_count, whole, self._set.local_memory)
        return None if added is None else Target(kernel, launched, launch, added)

    def _at_hand(
        self,
        queue: pyopencl.CommandQueue,
        local: Sizes | None,
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event],
    ) -> AtHand | None:
        """Return what an advisor may look at, once all that the launch waits for is over; None if nothing."""
        if not self._launches.is_looked_at or not self._set.are_complete:
            return None
        # An iterator can be read only once.
        options["wait_for"] = as_tuple(options["wait_for"])
        events = (*(options["wait_for"] or ()), *waiting)
        if is_any_set_by_host(events):
            return None
        plan = self._launches.plan
        if not are_over(queue, events, plan.patience):
            plan.patience = IMPATIENCE
            self._launches.note_vain_look()
            return None
        offset: Any = plain_offset(options["global_offset"], local, options["g_times_l"])
        return AtHand(queue, self._set.in_order(), offset and tuple(map(int, offset)))

    def _set_added(self, target: Target) -> None:
        """Set the arguments after the kernel's own."""
        if target.added:
            first = self._launches.argument_count
            set_all(target.kernel, range(first, first + len(target.added)), target.added)

    def _show(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        options: LaunchOptions,
        target: Target | None,
    ) -> None:
        """Show the observer a launch that was made."""
        observer = self._launches.observer
        if observer is not None:
            whole, local = plain_sizes(*sizes, options["g_times_l"])
            original = OriginalLaunch(queue.device, whole, local, self._local_bytes())
            divided = self._as_it_is(original) if target is None else target.launch
            observer.launched(self._launches.name, original, divided)
            if isinstance(observer, PassingObserver):
                observer.passed(self._passed(original, sizes[1], options))

    def _passed(self, original: OriginalLaunch, local: Sizes | None, options: LaunchOptions) -> PassedLaunch:
        """Return a launch with what it passes."""
        is_known = self._set.are_complete and not self._is_exposed
        offset: Any = plain_offset(options["global_offset"], local, options["g_times_l"])
        return PassedLaunch(
            self._launches.plan.options,
            self._launches.name,
            original,
            self._set.in_order() if is_known else None,
            offset and tuple(map(int, offset)),
        )

    def _let_capture(
        self,
        original: OriginalLaunch,
        queue: pyopencl.CommandQueue,
        local: Sizes | None,
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event],
    ) -> None:
        """Let an observer read the buffers of a launch that is about to be made, if it wants to."""
        observer = self._launches.observer
        if isinstance(observer, PassingObserver):
            passed = self._passed(original, local, options)
            if observer.wants(passed) and self._at_hand(queue, local, options, waiting) is not None:
                observer.capture(passed, queue)

    def _as_it_is(self, original: OriginalLaunch) -> DividedLaunch:
        """Return how a launch was carried out that ran the original kernel with the caller's sizes."""
        known = self._launches.known(original)
        if known is None or not (known.coarsenings or known.regrouped):
            return known or DividedLaunch(original.global_size, original.local_size, ())
        return DividedLaunch(original.global_size, original.local_size, (), reason=_NO_VARIANT)

    def _local_bytes(self) -> int:
        local_memory = self._set.local_memory
        return sum(local.size for local in local_memory.values()) if local_memory else 0

    def _handed_over(self, target: Target | None) -> Target | None:
        """Give the arguments that were set to the target, and return it; None if they aren't all known."""
        if self._lacks_arguments:
            self._lacks_arguments = False
            set_all(self, *self._set.values())
        if target is None or target.launched is None:
            return target
        if not self._set.are_complete:
            return None
        if self._up_to_date is not target.launched:
            set_all(target.kernel, *self._set.values())
            self._up_to_date = target.launched
        return target


# Kernel objects whose address was given away, while they are there.
_EXPOSED: WeakValueDictionary[int, Kernel] = WeakValueDictionary()


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

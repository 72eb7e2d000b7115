"""A kernel that is launched with its original sizes and runs coarsened.

kernel(queue, sizes, *arguments)     first of its kind ─▶ a decision (`launches.py`) ─▶ Ready, kept
                                     the next          ─▶ Ready ─▶ PyOpenCL's own enqueue
kernel.set_args(…), enqueue          arguments are set as PyOpenCL does, and noted for the variants
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Hashable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import pyopencl

from coarsen.runtime.advice import PassingObserver
from coarsen.runtime.arguments import (
    PLAIN,
    SET_NUMBERS,
    SET_REFERENCES,
    Argument,
    SetArguments,
    SortedArguments,
    are_plain,
    set_all,
    set_sorted,
    sorted_by_kind,
)
from coarsen.runtime.enqueue import (
    ENQUEUE,
    AnySizes,
    LaunchOptions,
    Ready,
    Target,
    WaitList,
    enqueue_original,
    enqueue_target,
    in_tuples,
    positional,
    ready_for,
    without_options,
)
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch, plain_offset, plain_sizes
from coarsen.runtime.launches import KernelLaunches, LaunchedKernels, LaunchedVariant, added_values
from coarsen.runtime.seen import SeenLaunches

# The number of kinds of calls that a kernel object keeps at hand.
_MOST_READY = 1024


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
    # What the last call launched, while nothing else was done to the arguments.
    _called: Ready | None = None
    # True while a call sets arguments, which then need not be noted.
    _is_calling = False
    # True for a clone whose original kernel was not given the arguments yet.
    _lacks_arguments = False
    # True once the original kernel may have arguments that aren't noted: of a call, or of a setter that failed.
    _has_unnoted = False
    # True once others may have set arguments of the original kernel by its address.
    _is_exposed = False
    _types: tuple[Any, ...] | None = None

    def __init__(self, program: pyopencl.Program, launches: KernelLaunches) -> None:
        super().__init__(launches.raw_program, launches.name)
        self.program = program
        self._launches = launches
        self._variants = LaunchedKernels(launches)
        self._set = SetArguments(launches.argument_count)
        # What was decided, by the sizes and what else counts of a call.
        self._ready: dict[Hashable, Any] = {}
        # The kernel object (None: this one) and the sizes, by those that are passed, until an argument is set.
        self._ready_set: dict[Hashable, tuple[pyopencl.Kernel | None, Any, Any]] = {}
        # The indices of arguments that are local memory, once one was passed.
        self._local_places: tuple[int, ...] = ()
        self._has_long_keys = launches.has_several_devices

    # PyOpenCL's annotation names the sizes otherwise than its code does.
    def __call__(  # type: ignore[override]
        self,
        queue: pyopencl.CommandQueue,
        global_size: AnySizes,
        local_size: AnySizes | None,
        *args: Argument,
        global_offset: AnySizes | None = None,
        g_times_l: bool = False,
        allow_empty_ndrange: bool = False,
        wait_for: WaitList = None,
        **by_name: Argument,
    ) -> pyopencl.Event:
        """As `pyopencl.Kernel.__call__`: sets the arguments and launches; sizes and offset are the original's.

        Arguments may be named, as PyOpenCL names them: `arg0`, `arg1` and so on.
        """
        if global_offset is None and not g_times_l and not by_name:
            key: tuple[Any, ...] = (*map(type, args), global_size, local_size)
            try:
                if self._has_long_keys:
                    key = (*key, *self._more_of_key(queue, args))
                ready = self._ready[key]
                _check_whole(global_size, local_size)
            except (KeyError, TypeError, AttributeError, IndexError):
                pass
            else:
                event = self._launch_ready(queue, ready, args, wait_for, allow_empty_ndrange)
                if event is not None:
                    return event
        options: LaunchOptions = {
            "global_offset": global_offset,
            "g_times_l": g_times_l,
            "allow_empty_ndrange": allow_empty_ndrange,
            "wait_for": wait_for,
        }
        return self._call(queue, in_tuples(global_size, local_size), args, options, by_name)

    def enqueue(
        self,
        queue: pyopencl.CommandQueue,
        global_work_size: AnySizes,
        local_work_size: AnySizes | None,
        global_work_offset: AnySizes | None = None,
        wait_for: WaitList = None,
        g_times_l: bool = False,
        allow_empty_ndrange: bool = False,
    ) -> pyopencl.Event:
        """Launch with the arguments set before (`set_args`, `set_arg`), as `pyopencl.enqueue_nd_range_kernel`."""
        if self._ready_set and global_work_offset is None and not g_times_l:
            try:
                kernel, *known = self._ready_set[global_work_size, local_work_size]
                _check_whole(global_work_size, local_work_size)
            except (KeyError, TypeError):
                pass
            else:
                event: pyopencl.Event = ENQUEUE(
                    queue, kernel or self, *known, None, wait_for, False, allow_empty_ndrange
                )
                return event
        self._check_set()
        options: LaunchOptions = {
            "global_offset": global_work_offset,
            "g_times_l": g_times_l,
            "allow_empty_ndrange": allow_empty_ndrange,
            "wait_for": wait_for,
        }
        sizes = in_tuples(global_work_size, local_work_size)
        self._called = None
        target = self._handed_over(None if self._is_exposed else self._target(queue, sizes, options))
        if target is None:
            event = enqueue_original(queue, self, sizes, options)
        else:
            self._set_added(target)
            event = enqueue_target(queue, target, sizes[1], options)
        self._keep_for_enqueue(queue, target, sizes, options)
        if self._launches.observer is not None:
            self._seen().show(queue, sizes, options, target)
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

    def divided(
        self, device: pyopencl.Device, global_size: AnySizes, local_size: AnySizes | None, g_times_l: bool = False
    ) -> DividedLaunch:
        """Return how a launch of these (original) sizes is carried out on `device`, and why.

        Where work-groups are merged, the local memory that was last set as an argument counts.
        """
        whole, local = plain_sizes(global_size, local_size, g_times_l)
        return self._launches.choose(OriginalLaunch(device, whole, local, self._set.local_bytes))

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
        self._ready_set.clear()
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
        if self._is_calling:
            SET_REFERENCES(self, indices_and_values)
        else:
            self._set_and_note(set_all, (indices_and_values[::2], indices_and_values[1::2]), indices_and_values)

    def _set_arg_buf_multi(self, indices_and_values: tuple[Argument, ...]) -> None:
        if self._is_calling:
            SET_NUMBERS(self, indices_and_values)
        else:
            self._set_and_note(SET_NUMBERS, (indices_and_values,), indices_and_values)

    def _set_arg_buf_pack_multi(self, entries: tuple[Argument, ...]) -> None:
        if self._is_calling:
            PLAIN._set_arg_buf_pack_multi(self, entries)
        else:
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
        self._ready.clear()

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
        called, self._up_to_date = self._up_to_date, None
        self._called = None
        self._ready_set.clear()
        try:
            setter(self, *arguments)
        except BaseException:
            self._has_unnoted = True
            self._set.forget()
            raise
        if not self._launches.is_coarsened:
            return
        try:
            (self._set.note_packed if packed else self._set.note_flat)(noted)
        except (BufferError, TypeError, ValueError, struct.error):
            # PyOpenCL has taken it; what it is can't be told, so no variant may run with it.
            self._has_unnoted = True
            self._set.forget()
            return
        if called is not None and not self._set.are_complete:
            # The others are those of a call, which the kernel object of its variant still has.
            setter(self._variants.kernels[called], *arguments)
            self._up_to_date = called

    def _more_of_key(self, queue: pyopencl.CommandQueue, args: tuple[Argument, ...]) -> Sequence[Hashable]:
        """Return what a launch depends on besides its sizes and the types of its arguments."""
        sizes = [args[place].size for place in self._local_places]
        return [*sizes, queue.device.int_ptr] if self._launches.has_several_devices else sizes

    def _launch_ready(
        self,
        queue: pyopencl.CommandQueue,
        ready: Any,  # noqa: ANN401 (a `Ready`; of a tuned kernel, as it has them)
        args: tuple[Argument, ...],
        wait_for: WaitList,
        allow_empty: bool,
    ) -> pyopencl.Event | None:
        """Set the arguments and launch; None where these arguments do not allow it."""
        if ready.buffers is not None and not are_plain(ready.buffers(args), ready.limit, ready.is_distinct):
            return None
        if self._called is not ready:
            self._begin_call()
        if self._local_places:
            self._set.local_memory = {place: args[place] for place in self._local_places}
        variant, launched, global_size, local_size, references, numbers, added, added_numbers, *_ = ready
        kernel = variant or self
        self._up_to_date = None
        try:
            if ready.is_converted:
                event = self._launch_converted(queue, ready, args, wait_for, allow_empty)
            else:
                pairs = references(args)
                if pairs:
                    SET_REFERENCES(self, pairs)
                    if launched is not None:
                        SET_REFERENCES(kernel, pairs + added)
                pairs = numbers(args)
                if pairs:
                    SET_NUMBERS(self, pairs)
                if launched is not None and (pairs or added_numbers):
                    SET_NUMBERS(kernel, pairs + added_numbers)
                event = ENQUEUE(queue, kernel, global_size, local_size, None, wait_for, False, allow_empty)
        except struct.error:
            # PyOpenCL says what is wrong.
            self._called = None
            return None
        except BaseException:
            self._called = None
            raise
        self._called, self._up_to_date = ready, launched
        observer = self._launches.observer
        if observer is not None and ready.shown is not None:
            observer.launched(self._launches.name, *ready.shown)
        return event

    def _launch_converted(
        self,
        queue: pyopencl.CommandQueue,
        ready: Ready,
        args: tuple[Argument, ...],
        wait_for: WaitList,
        allow_empty: bool,
    ) -> pyopencl.Event:
        """Let PyOpenCL convert the arguments, for the original kernel too."""
        sizes: tuple[Any, Any] = ready.global_size, ready.local_size
        self._is_calling = True
        try:
            if ready.launched is None:
                return super().__call__(queue, *sizes, *args, wait_for=wait_for, allow_empty_ndrange=allow_empty)
            self.set_args(*args)
        finally:
            self._is_calling = False
        values = *args, *ready.added_numbers
        assert ready.kernel is not None, "a variant has its own"
        return ready.kernel(queue, *sizes, *values, wait_for=wait_for, allow_empty_ndrange=allow_empty)

    def _begin_call(self) -> None:
        """Forget what is noted: the arguments of a call take its place, and hold no longer than it takes."""
        self._lacks_arguments = False
        self._has_unnoted = True
        self._up_to_date = None
        self._ready_set.clear()
        self._set.forget_values()

    def _call(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: tuple[Argument, ...],
        options: LaunchOptions,
        by_name: dict[str, Argument],
    ) -> pyopencl.Event:
        """Make a call that isn't known yet, or that is passed in another form."""
        self._called = None
        self._ready_set.clear()
        args = positional(args, by_name) if by_name else args
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
                self._seen().show(queue, sizes, options, target)
            self._keep_ready(queue, sizes, args, options, target)
        finally:
            self._end_call()
        return event

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
            self._seen().show(queue, sizes, options, target)
        self._keep_ready(queue, sizes, args, options, target)
        return event

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

    def _keep_ready(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: tuple[Argument, ...],
        options: LaunchOptions,
        target: Target | None,
    ) -> None:
        """Keep what was decided for the next call of the same kind, if that is all that it depends on."""
        observer = self._launches.observer
        if options["global_offset"] is not None or options["g_times_l"] or isinstance(observer, PassingObserver):
            return
        if self._types is not None and len(self._types) != self._launches.argument_count:
            # One of them stands for several.
            return
        if not self._local_places and self._set.local_memory:
            self._local_places = tuple(sorted(self._set.local_memory))
            self._has_long_keys = True
            self._ready.clear()
        whole, local = plain_sizes(*sizes, False)
        original = OriginalLaunch(queue.device, whole, local, self._set.local_bytes)
        known = self._launches.known(original)
        if known is None:
            return
        ready = ready_for(self._launches, self._types, (whole, local), args, known, target)
        if ready is None:
            return
        if observer is not None:
            ready = ready._replace(shown=(original, known))
        key = (*map(type, args), *sizes)
        if self._has_long_keys:
            key = (*key, *self._more_of_key(queue, args))
        if len(self._ready) >= _MOST_READY:
            self._ready.clear()
        self._ready[key] = ready

    def _keep_for_enqueue(
        self, queue: pyopencl.CommandQueue, target: Target | None, sizes: tuple[Any, Any], options: LaunchOptions
    ) -> None:
        """Keep what was decided until an argument is set, or the kernel is called."""
        launches = self._launches
        if options["global_offset"] is not None or options["g_times_l"] or self._is_exposed:
            return
        if launches.observer is not None or launches.has_several_devices or (target is not None and target.added):
            return
        whole, local = plain_sizes(*sizes, False)
        if (
            launches.is_looked_at
            and launches.known(OriginalLaunch(queue.device, whole, local, self._set.local_bytes)) is None
        ):
            return
        if len(self._ready_set) >= _MOST_READY:
            self._ready_set.clear()
        if target is None:
            self._ready_set[sizes] = None, whole, local
        else:
            kernel = None if target.launched is None else target.kernel
            self._ready_set[sizes] = kernel, target.launch.global_size, target.launch.local_size

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
            # AnySizes that aren't sequences of integers, or what is no queue: PyOpenCL says so.
            return None
        launches = self._launches
        original = OriginalLaunch(device, whole, local, self._set.local_bytes)
        if launches.observer is not None:
            self._seen().let_capture(original, queue, local, options, waiting)
        launch = launches.known(original)
        if launch is None:
            launch = launches.choose(original, self._seen().at_hand(queue, local, options, waiting))
        launched = launches.variant_of(launch)
        if launched is None:
            return Target(self, None, launch, ()) if launch.regrouped else None
        if launched.is_conditional:
            launch, launched = launches.allowed(original, launch, self._set)
        kernel = None if launched is None else self._variants.get(launched)
        if launched is None or kernel is None:
            return None
        if not launched.added:
            return Target(kernel, launched, launch, ())
        added = added_values(launched.added, launches.argument_count, whole, self._set.local_memory)
        return None if added is None else Target(kernel, launched, launch, added)

    def _set_for_call(self, args: tuple[Argument, ...], given: SortedArguments) -> None:
        """Set the arguments of a call for the original kernel; `given` are the same, sorted.

        They are noted until `_end_call`.
        """
        self._lacks_arguments = False
        self._has_unnoted = True
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

    def _end_call(self) -> None:
        """Forget the arguments of a call, which hold no longer than it takes."""
        self._has_unnoted = True
        self._set.forget_values()

    def _handed_over(self, target: Target | None) -> Target | None:
        """Give the arguments that were set to the target, and return it; None if they aren't all known."""
        if self._lacks_arguments:
            self._lacks_arguments = False
            set_all(self, *self._set.values())
        if target is None or target.launched is None or self._up_to_date is target.launched:
            return target
        if not self._set.are_complete:
            return None
        set_all(target.kernel, *self._set.values())
        self._up_to_date = target.launched
        return target

    def _set_added(self, target: Target) -> None:
        """Set the arguments after the kernel's own."""
        if target.added:
            first = self._launches.argument_count
            set_all(target.kernel, range(first, first + len(target.added)), target.added)

    def _seen(self) -> SeenLaunches:
        """Return what others see of the launches."""
        return SeenLaunches(self._launches, self._set, self._is_exposed)

    def _check_set(self) -> None:
        """Raise InvalidInputError where the arguments that were given hold for one call alone."""


def _check_whole(global_size: AnySizes, local_size: AnySizes | None) -> None:
    """Raise TypeError where sizes are no whole numbers: 64.0 finds what is kept for 64."""
    operator.index(sum(global_size) if local_size is None else sum(global_size) + sum(local_size))


def enqueue_nd_range_kernel(
    queue: pyopencl.CommandQueue,
    kernel: pyopencl.Kernel,
    global_work_size: AnySizes,
    local_work_size: AnySizes | None,
    global_work_offset: AnySizes | None = None,
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


# Kernel objects whose address was given away, while they are there.
_EXPOSED: WeakValueDictionary[int, Kernel] = WeakValueDictionary()

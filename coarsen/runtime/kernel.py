"""A kernel that is launched with its original sizes and runs coarsened.

kernel(queue, sizes, *arguments)     first of its kind ─▶ a decision (`launches.py`) ─▶ Ready, kept
                                     the next          ─▶ Ready ─▶ PyOpenCL's own enqueue
kernel.set_args(…), enqueue          arguments are set as PyOpenCL does, and noted for the variants
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Hashable, Sequence
from typing import Any, cast
from weakref import WeakValueDictionary

import pyopencl

from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.runtime.arguments import (
    ENQUEUE,
    PLAIN,
    SET_NUMBERS,
    SET_REFERENCES,
    Argument,
    WaitList,
    are_plain,
    set_all,
    set_sorted,
    sorted_by_kind,
)
from coarsen.runtime.enqueue import (
    AnySizes,
    LaunchOptions,
    Ready,
    Target,
    as_tuple,
    enqueue_target,
    in_tuples,
    positional,
    ready_for,
    with_added,
    without_options,
)
from coarsen.runtime.launch import OwnLaunch, plain_offset
from coarsen.runtime.noted_kernel import NotedKernel

# The number of kinds of calls that a kernel object keeps at hand.
_MOST_READY = 1024


class Kernel(NotedKernel):
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

        Arguments may be named, as PyOpenCL names them: `arg0`, `arg1` and so on. For an array that lies otherwise
        it takes a `LaidOutArray`.
        """
        if self._layouts is not None:
            args = self._layouts.passed(positional(args, by_name))
        region = self._launches.plan.region
        if region is None and global_offset is None and not g_times_l and not by_name:
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
        sizes = in_tuples(global_size, local_size)
        if region is not None:
            return self._collected(region, queue, sizes, args, options, by_name)
        return self._call(queue, sizes, args, options, by_name)

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
        region = self._launches.plan.region
        if region is None and self._ready_set and global_work_offset is None and not g_times_l:
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
        options: LaunchOptions = {
            "global_offset": global_work_offset,
            "g_times_l": g_times_l,
            "allow_empty_ndrange": allow_empty_ndrange,
            "wait_for": wait_for,
        }
        sizes = in_tuples(global_work_size, local_work_size)
        if region is not None:
            if self._types is not None or not self._set.are_complete:
                raise InvalidInputError(f"kernel {self._launches.name}: `together` takes calls with all arguments")
            return cast("pyopencl.Event", region.collect(self, queue, sizes, None, options))
        self._called = None
        target = self._handed_over(self._target(queue, sizes, options))
        event, target = self._enqueued(queue, target, sizes, options)
        if target is not None:
            self._keep_for_enqueue(target, sizes, options)
            self._show(target)
        return event

    def _collected(
        self,
        region: Any,  # noqa: ANN401 (a `Together`)
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: tuple[Argument, ...],
        options: LaunchOptions,
        by_name: dict[str, Argument],
    ) -> pyopencl.Event:
        """Hand a launch to the region that collects it; what it returns stands for an event."""
        args = positional(args, by_name)
        count = self._launches.argument_count if self._types is None else len(self._types)
        if len(args) > count:
            args = without_options(args, count, options)
        if by_name or len(args) != count:
            name = self._launches.name
            raise InvalidInputError(f"kernel {name} takes {count} arguments, {len(args)} were given")
        event: pyopencl.Event = region.collect(self, queue, sizes, args, options)
        return event

    def _enqueued(
        self, queue: pyopencl.CommandQueue, target: Target | None, sizes: tuple[Any, Any], options: LaunchOptions
    ) -> tuple[pyopencl.Event, Target | None]:
        """Launch a target that has its arguments, but for those that are added; None is what PyOpenCL refuses.

        Returns:
            The event, and what was launched.
        """
        if target is None:
            values = (options[name] for name in ("global_offset", "wait_for", "g_times_l", "allow_empty_ndrange"))
            return ENQUEUE(queue, self, *sizes, *values), None
        if target.launch.steps is not None and not self._set.are_complete:
            target = self._as_it_is(target.original, target.launch)
        own = target.launch.own
        if own is None or own.steps is None or own.sizes is None:
            if target.added:
                set_all(target.kernel, target.added.keys(), target.added.values())
            return enqueue_target(queue, target, sizes[1], options), target
        wait_for = as_tuple(options["wait_for"])
        try:
            return self._launch_several(queue, own, self._set.in_order(), wait_for), target
        except CoarsenError as error:
            otherwise = self._launches.otherwise(target.original, str(error))
            instead = self._handed_over(self._as_divided(target.original, otherwise))
            changed: LaunchOptions = {**options, "wait_for": wait_for}
            return self._enqueued(queue, instead, sizes, changed)

    def clone(self) -> pyopencl.Kernel:
        """As `pyopencl.Kernel.clone`: a kernel object of its own, with the same arguments set."""
        is_unknown = self._has_unnoted and not self._set.are_complete
        if self._is_exposed or is_unknown or not self._launches.is_coarsened:
            return super().clone()
        copy = Kernel(self.program, self._launches, self._layouts)
        copy._set = self._set.copy()
        copy._lacks_arguments = True
        return copy

    def launch(self, queue: pyopencl.CommandQueue, *args: Argument, wait_for: WaitList = None) -> pyopencl.Event:
        """Launch a kernel of a tuned file with the sizes that this has for the arguments.

        Args:
            queue: where to launch.
            args: the kernel's arguments.
            wait_for: events to wait for.

        Raises:
            InvalidInputError: there is no file, or it has no sizes for these arguments.
        """
        file, count = self._own_file(), self._launches.argument_count
        if len(args) != count:
            raise InvalidInputError(
                f"kernel {self._launches.name} takes {count} arguments, {len(args)} were given"
            )
        sizes = file.sizes(file.numbers(self._typed(args)))
        return self(queue, *sizes, *args, wait_for=wait_for)

    @property
    def called(self) -> Ready | None:
        """The launch of the last call, where another may `repeat` it; else None."""
        ready = self._called
        is_kept = ready is not None and ready.buffers is None and not ready.is_converted and ready.shown is None
        if ready is None or not is_kept or self._local_places:
            return None
        if ready.own is None or ready.own.steps is None or ready.own.sizes is None:
            return ready
        only = self._variants.sequence(ready.own.steps).only_launch(ready.own.sizes, self._launches.argument_count)
        if only is None:
            return ready
        kernel, whole, local = only
        return ready._replace(kernel=kernel, global_size=whole, local_size=local, own=None)

    def repeat(
        self, queue: pyopencl.CommandQueue, ready: Ready, args: tuple[Argument, ...], wait_for: WaitList
    ) -> pyopencl.Event | None:
        """Launch what was `called` with arguments of other values; None where it has to be called.

        It is for who has the kernel object alone, and sets no arguments: what is launched is given them, nothing
        else.

        Args:
            queue: where, for the same device.
            ready: of an earlier call.
            args: of the same types; the numbers that a tuned file chooses by are the same.
            wait_for: events to wait for.
        """
        self._called = self._up_to_date = None
        try:
            if ready.own is not None:
                return self._launch_several(queue, ready.own, args, wait_for)
            kernel = ready.kernel or self
            SET_REFERENCES(kernel, ready.references(args) + ready.added_references)
            SET_NUMBERS(kernel, ready.numbers(args) + ready.added_numbers)
        except (struct.error, CoarsenError):
            return None
        event: pyopencl.Event = ENQUEUE(
            queue, kernel, ready.global_size, ready.local_size, None, wait_for, False, False
        )
        return event

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

    def _more_of_key(self, queue: pyopencl.CommandQueue, args: tuple[Argument, ...]) -> Sequence[Hashable]:
        """Return what a launch depends on besides its sizes and the types of its arguments."""
        more: list[Hashable] = [args[place].size for place in self._local_places]
        if self._file is not None:
            more += self._file.numbers(self._typed(args))
        return [*more, queue.device.int_ptr] if self._launches.has_several_devices else more

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
        if ready.own is not None and not isinstance(wait_for, list | tuple | None):
            # What fails half-way is made another way, for which an iterator would be at its end.
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
                if ready.own is None:
                    event = ENQUEUE(queue, kernel, global_size, local_size, None, wait_for, False, allow_empty)
                else:
                    event = self._launch_several(queue, ready.own, args, wait_for)
        except (struct.error, CoarsenError):
            # PyOpenCL says what is wrong, or the launch is made another way.
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

    def _launch_several(
        self, queue: pyopencl.CommandQueue, own: OwnLaunch, args: tuple[Argument, ...], wait_for: WaitList
    ) -> pyopencl.Event:
        """Make the launches of a version that takes several. Raises CoarsenError where none of them is made."""
        assert own.steps is not None, "of several launches"
        return self._variants.sequence(own.steps).enqueue(queue, own, args, wait_for)

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
        added = ready.added_numbers
        values = with_added(args, dict(zip(added[::2], added[1::2], strict=True)))
        assert ready.kernel is not None, "a variant has its own"
        return ready.kernel(queue, *sizes, *values, wait_for=wait_for, allow_empty_ndrange=allow_empty)

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
            if target is not None and target.launched is not None:
                set_sorted(target.kernel, given)
                self._up_to_date = target.launched
            event, target = self._enqueued(queue, target, sizes, options)
            if target is not None:
                self._show(target)
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
            return self._call_original(queue, sizes, args, options, {})
        offset: Any = plain_offset(options["global_offset"], sizes[1], options["g_times_l"])
        changed: LaunchOptions = {**options, "global_offset": offset, "g_times_l": False}
        # Its values are those of the call from now on, also if it fails half-way.
        self._up_to_date = None
        if target.launch.steps is not None:
            waiting: LaunchOptions = {**options, "wait_for": [*(options["wait_for"] or ()), *arrays]}
            event, _ = self._enqueued(queue, target, sizes, waiting)
        elif target.launched is None:
            event = self._call_original(queue, target.sizes, args, changed, {})
        else:
            event = target.kernel(queue, *target.sizes, *with_added(args, target.added), **changed)
        self._show(target)
        self._keep_ready(queue, sizes, args, options, target)
        return event

    def _keep_ready(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: tuple[Argument, ...],
        options: LaunchOptions,
        target: Target,
    ) -> None:
        """Keep what was decided for the next call of the same kind, if that is all that it depends on."""
        if options["global_offset"] is not None or options["g_times_l"]:
            return
        if self._types is not None and len(self._types) != self._launches.argument_count:
            # One of them stands for several.
            return
        if self._types is not None and self._file is not None:
            numbers = self._file.numbers(self._typed(args))
            if numbers != target.original.numbers[: len(numbers)]:
                # PyOpenCL has made other numbers of them.
                return
        if not self._local_places and self._set.local_memory:
            self._local_places = tuple(sorted(self._set.local_memory))
            self._has_long_keys = True
            self._ready.clear()
        known = self._launches.known(target.original)
        if known is None:
            return
        ready = ready_for(self._launches, self._types, args, known, target)
        if ready is None:
            return
        if self._launches.observer is not None:
            ready = ready._replace(shown=(target.original, known))
        try:
            key = (*map(type, args), *sizes)
            if self._has_long_keys:
                key = (*key, *self._more_of_key(queue, args))
        except AttributeError:
            # Of memory without a size.
            return
        if len(self._ready) >= _MOST_READY:
            self._ready.clear()
        self._ready[key] = ready

    def _keep_for_enqueue(self, target: Target, sizes: tuple[Any, Any], options: LaunchOptions) -> None:
        """Keep what was decided until an argument is set, or the kernel is called."""
        launches = self._launches
        if options["global_offset"] is not None or options["g_times_l"] or self._is_exposed:
            return
        if launches.observer is not None or launches.has_several_devices or target.added:
            return
        if launches.is_looked_at and launches.known(target.original) is None:
            return
        if target.launch.steps is not None:
            return
        if len(self._ready_set) >= _MOST_READY:
            self._ready_set.clear()
        self._ready_set[sizes] = None if target.launched is None else target.kernel, *target.sizes


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

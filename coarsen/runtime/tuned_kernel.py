"""A kernel of which a tuned file chooses the version for each launch.

    mv(queue, (height,), (256,), a, x, width, height, y)         # sizes are those of the default version
    mv.launch(queue, a, x, width, height, y, features={…})       # sizes are the file's
    mv.explain(width=64, height=1 << 20)                         # what would be chosen, and why

What was decided for a launch is kept, with a kernel object, for all that are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.dispatch.choosing import Number
from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.runtime.arguments import PLAIN, Argument
from coarsen.runtime.enqueue import ENQUEUE, LaunchOptions, Sizes, WaitList, in_tuples, positional, without_options
from coarsen.runtime.kernel import Kernel
from coarsen.runtime.launched_kernels import LaunchedKernels
from coarsen.runtime.launches import KernelLaunches
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.runtime.sizes import plain_offset, plain_sizes
from coarsen.runtime.tuned_arguments import Arguments, Pairs, key_function, setting
from coarsen.runtime.tuned_decision import Decision, PassedSizes
from coarsen.runtime.tuned_explanation import TunedExplanation, explain
from coarsen.runtime.tuned_launches import TunedLaunches

_SET_REFERENCES: Callable[..., None] = PLAIN._set_arg_multi
_SET_NUMBERS: Callable[..., None] = PLAIN._set_arg_buf_multi
# The number of launches that are kept.
_MOST_KNOWN = 4096
_NO_FEATURES: Mapping[str, float] = MappingProxyType({})
_NONE: frozenset[int] = frozenset()


class _Prepared(NamedTuple):
    """A launch that was decided: a kernel object, what is set after the caller's arguments, and the sizes."""

    kernel: pyopencl.Kernel
    references: Pairs
    numbers: Pairs
    global_size: Sizes
    local_size: Sizes | None
    decision: Decision


class TunedKernel(Kernel):
    """The drop-in for `pyopencl.Kernel` of a kernel with a tuned file; for one thread, as PyOpenCL's are.

    Arguments of a call are set for what it launches, and for that alone: `pyopencl.enqueue_nd_range_kernel`
    launches the kernel as it is written, with what `set_args` set.
    """

    # Where the arguments of a call were the last that were given, and only the version that was launched has them:
    # the indices of those set since; else None.
    _set_again: frozenset[int] | None = None
    # True where the user has set something that holds for this object alone: the program makes another one then.
    is_set_apart = False
    # True for types of arguments that PyOpenCL makes of them by itself.
    _is_plain = False

    def __init__(self, program: pyopencl.Program, launches: KernelLaunches, tuned: TunedLaunches) -> None:
        super().__init__(program, launches)
        self._tuned = tuned
        self._count = launches.argument_count
        devices: Any = program.get_info(pyopencl.program_info.DEVICES)
        self._only_device = devices[0] if len(devices) == 1 else None
        self._arguments = tuned.arguments(self._count)
        set_by = setting(self._arguments)
        self._references, self._numbers = set_by.references, set_by.numbers
        self._key = key_function(self._arguments, tuned.asked, tuned.needs_all_bytes)
        self._known: dict[Hashable, _Prepared] = {}
        # Of launches with the file's sizes.
        self._known_without_sizes: dict[Hashable, _Prepared] = {}
        self._objects: dict[int, LaunchedKernels] = {}
        self._as_written: dict[int, pyopencl.Kernel] = {}

    @property
    def program(self) -> Any:  # noqa: ANN401 (as PyOpenCL has it)
        """The program that the kernel comes from; None once that is gone."""
        return self._program_reference()

    @program.setter
    def program(self, program: Any) -> None:  # noqa: ANN401 (as above)
        # A program keeps a kernel for each thread, which must not keep the program.
        self._program_reference = ref(program)

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
        """As `pyopencl.Kernel.__call__`, with the sizes of the default version; another may be launched."""
        if global_offset is None and self._only_device is not None and not g_times_l and self._types is None:
            key: Hashable = None
            found: _Prepared | None = None
            try:
                key = self._key(args), global_size, local_size
                found = self._known.get(key)
            except (TypeError, AttributeError, IndexError):
                key = found = None
            if key is not None and len(args) == self._count and not by_name:
                if found is None and _are_plain(global_size, local_size):
                    passed: Any = global_size, local_size
                    found = self._prepared(self._tuned.decide(self._only_device, args, passed, _NO_FEATURES))
                    _keep(self._known, key, found)
                if found is not None:
                    return self._enqueue(queue, found, args, None, wait_for, allow_empty_ndrange)
        options: LaunchOptions = {
            "global_offset": global_offset,
            "g_times_l": g_times_l,
            "allow_empty_ndrange": allow_empty_ndrange,
            "wait_for": wait_for,
        }
        return self._call(queue, in_tuples(global_size, local_size), args, options, by_name)

    def launch(
        self,
        queue: pyopencl.CommandQueue,
        *args: Argument,
        features: Mapping[str, float] | None = None,
        wait_for: WaitList = None,
    ) -> pyopencl.Event:
        """Launch the version that is chosen, with the sizes that the tuned file has for it.

        Args:
            queue: where to launch.
            args: the kernel's arguments.
            features: numbers that only the caller knows, by the names that the file has for them.
            wait_for: events to wait for.

        Raises:
            InvalidInputError: the file has no sizes, or none for these arguments; a feature that it doesn't have.
        """
        supplied = self._supplied(features) if features else None
        key: Hashable = None
        found: _Prepared | None = None
        try:
            key = self._key(args), supplied, self._device_key(queue)
            found = self._known_without_sizes.get(key)
        except (TypeError, AttributeError, IndexError):
            key = found = None
        if found is None or len(args) != self._count or self._types is not None:
            self._check_launch(args)
            args = self._typed(args)
            named = dict(zip(self._tuned.supplied, supplied or (), strict=False))
            given = {name: value for name, value in named.items() if value is not None}
            found = self._prepared(self._tuned.decide(self._device(queue), args, None, given))
            _keep(self._known_without_sizes, key, found)
        return self._enqueue(queue, found, args, None, wait_for, False)

    def explain(self, **values: Number) -> TunedExplanation:
        """Return what is chosen for a launch, and why.

        Args:
            values: whole and real arguments by their names, sizes of buffers in bytes as `bytes_NAME`, supplied
                features by theirs; `global_size_0` and so on where the file has no sizes.

        Raises:
            InvalidInputError: a name that the file doesn't have, or a number that it needs is missing.
        """
        return explain(self._tuned.file, values)

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
        """Launch the kernel as it is written, with the arguments set before (`set_args`, `set_arg`)."""
        self._check_set()
        return super().enqueue(
            queue, global_work_size, local_work_size, global_work_offset, wait_for, g_times_l, allow_empty_ndrange
        )

    def clone(self) -> pyopencl.Kernel:
        """As `pyopencl.Kernel.clone`, of the kernel as it is written."""
        self._check_set()
        return super().clone()

    def _set_and_note(
        self,
        setter: Callable[..., None],
        arguments: tuple[Argument, ...],
        noted: Sequence[Argument],
        packed: bool = False,
    ) -> None:
        super()._set_and_note(setter, arguments, noted, packed)
        self.is_set_apart = True
        if self._set_again is not None:
            set_again = self._set_again.union(noted[:: 3 if packed else 2])
            self._set_again = None if len(set_again) == self._count else set_again

    def set_arg_types(self, arg_types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`; with other types than those of numbers, it runs as it is written."""
        super().set_arg_types(arg_types)
        self.is_set_apart = True
        self._is_plain = not all(map(_is_type_of_numbers, arg_types))

    def _check_set(self) -> None:
        if self._set_again is not None:
            raise InvalidInputError(
                f"the arguments of kernel {self._launches.name} were given with a call, and hold for that alone: "
                "set_args before enqueue_nd_range_kernel and clone"
            )

    def _call(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: Arguments,
        options: LaunchOptions,
        by_name: dict[str, Argument],
    ) -> pyopencl.Event:
        """A call that isn't known yet, or that is passed in another form."""
        args = positional(args, by_name) if by_name else args
        if len(args) > self._count:
            args = without_options(args, self._count, options)
        is_usual = len(args) == self._count and not by_name and not self._is_plain
        typed = self._typed(args) if is_usual else None
        try:
            passed = plain_sizes(*sizes, options["g_times_l"])
            offset = plain_offset(options["global_offset"], sizes[1], options["g_times_l"])
        except TypeError:
            typed = None
        if typed is None:
            # PyOpenCL says what is wrong, or makes its own of the arguments.
            if self._is_plain:
                self._tuned.default.check_own("arguments of types that are no numbers'")
            before, self._set_again = self._set_again, None
            try:
                return self._call_original(queue, sizes, args, options, by_name)
            except Exception:
                # Else a later launch would run with arguments from before the last call.
                self._set_again = before
                raise
        has_offset = offset is not None and any(offset)
        try:
            key = self._call_key(queue, typed, passed, has_offset)
            found = None if key is None else self._known.get(key)
        except (TypeError, AttributeError, IndexError):
            key = found = None
        if found is None:
            decision = self._tuned.decide(self._device(queue), typed, passed, _NO_FEATURES, has_offset)
            found = self._prepared(decision)
            _keep(self._known, key, found)
        return self._enqueue(queue, found, typed, offset, options["wait_for"], options["allow_empty_ndrange"])

    def _call_key(
        self, queue: pyopencl.CommandQueue, args: Arguments, passed: PassedSizes, has_offset: bool
    ) -> Hashable | None:
        if self._only_device is not None and not has_offset:
            return self._key(args), *passed
        return self._key(args), *passed, self._device_key(queue), has_offset

    def _device(self, queue: pyopencl.CommandQueue) -> pyopencl.Device:
        return self._only_device or queue.device

    def _device_key(self, queue: pyopencl.CommandQueue) -> int:
        return 0 if self._only_device is not None else int(queue.device.int_ptr)

    def _prepared(self, decision: Decision) -> _Prepared:
        """A launch that was decided, with the kernel object that this thread has for it."""
        references: Pairs = ()
        numbers: Pairs = ()
        kernel = self._object(decision)
        if not decision.local_memory and not decision.added:
            return _Prepared(kernel, (), (), decision.global_size, decision.local_size, decision)
        for index, memory in decision.local_memory.items():
            references += index, memory
        for index, value in enumerate(decision.added, self._count):
            if isinstance(value, np.number):
                numbers += index, value
            else:
                references += index, value
        return _Prepared(kernel, references, numbers, decision.global_size, decision.local_size, decision)

    def _object(self, decision: Decision) -> pyopencl.Kernel:
        version = decision.version
        if version is None:
            return self
        if decision.launched is None:
            if version.number not in self._as_written:
                launches = version.launches
                self._as_written[version.number] = PlainKernel(launches.raw_program, launches.name)
            return self._as_written[version.number]
        objects = self._objects.setdefault(version.number, LaunchedKernels(version.launches))
        kernel = objects.get(decision.launched)
        if kernel is None:
            raise InvalidInputError(f"kernel {self._launches.name}: a version that was built is gone")
        return kernel

    def _enqueue(
        self,
        queue: pyopencl.CommandQueue,
        found: _Prepared,
        args: Arguments,
        offset: Sizes | None,
        wait_for: WaitList,
        allow_empty: bool,
    ) -> pyopencl.Event:
        """Set the arguments, and launch."""
        kernel, references, numbers, global_size, local_size, decision = found
        pairs = self._references(args) + references
        if pairs:
            _SET_REFERENCES(kernel, pairs)
        pairs = self._numbers(args) + numbers
        if pairs:
            _SET_NUMBERS(kernel, pairs)
        self._set_again = None if kernel is self else _NONE
        event: pyopencl.Event = ENQUEUE(
            queue, kernel, global_size, local_size, offset, wait_for, False, allow_empty
        )
        if self._launches.observer is not None:
            self._show_launch(queue, decision, args)
        return event

    def _show_launch(self, queue: pyopencl.CommandQueue, decision: Decision, args: Arguments) -> None:
        observer = self._launches.observer
        if observer is not None:
            given = sum(value.size for value in args if isinstance(value, pyopencl.LocalMemory))
            original = OriginalLaunch(queue.device, *decision.asked, given)
            observer.launched(self._launches.name, original, decision.shown())

    def _typed(self, args: Arguments) -> Arguments:
        """The arguments, numbers made of the types that were set for them."""
        if self._types is None:
            return args
        pairs = zip(self._types, args, strict=False)
        return tuple(value if kind is None else np.dtype(kind).type(value) for kind, value in pairs)

    def _supplied(self, features: Mapping[str, float]) -> tuple[float | None, ...]:
        """The supplied features that count, in the file's order."""
        known = [feature.name for feature in self._tuned.file.features if feature.is_supplied]
        for name, value in features.items():
            if name not in known:
                hint = did_you_mean(str(name), known)
                raise InvalidInputError(f"the tuned file has no supplied feature {name!r}{hint}")
            if not isinstance(value, int | float | np.number):
                raise InvalidInputError(f"the supplied feature {name} must be a number, not {value!r}")
        return tuple(float(features[name]) if name in features else None for name in self._tuned.supplied)

    def _check_launch(self, args: Arguments) -> None:
        if len(args) != self._count:
            raise InvalidInputError(
                f"kernel {self._launches.name} takes {self._count} arguments, {len(args)} were given"
            )
        if not self._tuned.file.has_sizes:
            raise InvalidInputError(
                f"the tuned file of kernel {self._launches.name} has no sizes of launches: call it with sizes"
            )


def _keep(known: dict[Hashable, _Prepared], key: Hashable | None, found: _Prepared) -> None:
    if key is not None:
        if len(known) >= _MOST_KNOWN:
            known.clear()
        known[key] = found


def _are_plain(global_size: object, local_size: object) -> bool:
    """Return True for sizes in tuples of whole numbers of Python's, which most callers pass."""
    if type(global_size) is not tuple or (type(local_size) is not tuple and local_size is not None):
        return False
    # Faster than a loop.
    return {*map(type, global_size), *map(type, local_size or ())} == {int}


def _is_type_of_numbers(kind: Any) -> bool:  # noqa: ANN401 (whatever NumPy takes as a type)
    if kind is None:
        return True
    try:
        return issubclass(np.dtype(kind).type, np.number)
    except TypeError:
        return False

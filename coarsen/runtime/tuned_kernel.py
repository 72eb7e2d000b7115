"""A kernel of which a tuned file chooses the version for each launch.

    mv(queue, (height,), (256,), a, x, width, height, y)         # sizes are those of the default version
    mv.launch(queue, a, x, width, height, y, features={…})       # sizes are the file's
    mv.explain(width=64, height=1 << 20)                         # what would be chosen, and why

What was decided for a launch is kept, with a kernel object, for all that are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any
from weakref import ref

import numpy as np
import pyopencl

from coarsen.dispatch.choosing import Number
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.errors import InvalidInputError
from coarsen.runtime.arguments import SET_NUMBERS, SET_REFERENCES, Argument
from coarsen.runtime.enqueue import (
    ENQUEUE,
    AnySizes,
    LaunchOptions,
    WaitList,
    as_tuple,
    positional,
    without_options,
)
from coarsen.runtime.kernel import Kernel
from coarsen.runtime.launch import OriginalLaunch, PassedSizes, plain_offset, plain_sizes
from coarsen.runtime.launches import KernelLaunches
from coarsen.runtime.tuned_arguments import Arguments, key_function, setting, with_local_memory
from coarsen.runtime.tuned_launches import NO_FEATURES, AnyDecision, Asked, TunedLaunches
from coarsen.runtime.tuned_prepared import NotLaunchedError, Prepared, PreparedSequence, VersionObjects, keep
from coarsen.runtime.tuned_tree import TunedExplanation, explain

_NONE: frozenset[int] = frozenset()


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
    # True once arguments were seen: which of them are local memory is the kernel's, not the launch's.
    _knows_kinds = False

    def __init__(self, program: pyopencl.Program, launches: KernelLaunches, tuned: TunedLaunches) -> None:
        super().__init__(program, launches)
        self._tuned = tuned
        self._count = launches.argument_count
        devices: Any = program.get_info(pyopencl.program_info.DEVICES)
        self._only_device = devices[0] if len(devices) == 1 else None
        self._take(tuned.arguments(self._count))
        self._objects = VersionObjects()
        self._has_long_keys = True
        # Of launches with the file's sizes.
        self._known_without_sizes: dict[Hashable, Prepared] = {}

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
        supplied = self._tuned.tree.supplied_values(features) if features else None
        key: Hashable = None
        found: Prepared | None = None
        try:
            key = *map(type, args), *self._key(args), supplied, self._device_key(queue)
            found = self._known_without_sizes.get(key)
        except (TypeError, AttributeError, IndexError):
            key = found = None
        if found is None or len(args) != self._count or self._types is not None:
            self._check_launch(args)
            args = self._typed(args)
            named = dict(zip(self._tuned.tree.supplied, supplied or (), strict=False))
            given = {name: value for name, value in named.items() if value is not None}
            found = self._decide(self._device(queue), args, None, given)
            keep(self._known_without_sizes, key, found)
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

    def _call(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: Arguments,
        options: LaunchOptions,
        by_name: dict[str, Argument],
    ) -> pyopencl.Event:
        """Make a call that isn't known yet, or that is passed in another form."""
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
        found = self._decide(self._device(queue), typed, passed, NO_FEATURES, has_offset)
        if not has_offset and self._types is None and not options["g_times_l"]:
            self._keep_known(queue, typed, sizes, found)
        return self._enqueue(queue, found, typed, offset, options["wait_for"], options["allow_empty_ndrange"])

    def _launch_ready(
        self, queue: pyopencl.CommandQueue, ready: Prepared, args: Arguments, wait_for: WaitList, allow_empty: bool
    ) -> pyopencl.Event:
        return self._enqueue(queue, ready, args, None, wait_for, allow_empty)

    def _more_of_key(self, queue: pyopencl.CommandQueue, args: Arguments) -> Sequence[Hashable]:
        return *self._key(args), self._device_key(queue)

    def _keep_known(
        self, queue: pyopencl.CommandQueue, args: Arguments, sizes: tuple[Any, Any], found: Prepared
    ) -> None:
        """Keep what was decided for all calls that are alike."""
        try:
            key = (*map(type, args), *sizes, *self._more_of_key(queue, args))
        except (TypeError, AttributeError, IndexError):
            # Of no number, or of memory without a size.
            return
        keep(self._ready, key, found)

    def _enqueue(
        self,
        queue: pyopencl.CommandQueue,
        found: Prepared,
        args: Arguments,
        offset: AnySizes | None,
        wait_for: WaitList,
        allow_empty: bool,
    ) -> pyopencl.Event:
        """Set the arguments, and launch."""
        if isinstance(found, PreparedSequence):
            return self._enqueue_sequence(queue, found, args, wait_for)
        kernel, references, numbers, global_size, local_size, decision = found
        pairs = self._references(args) + references
        if pairs:
            SET_REFERENCES(kernel, pairs)
        pairs = self._numbers(args) + numbers
        if pairs:
            SET_NUMBERS(kernel, pairs)
        self._note_call(kernel)
        event: pyopencl.Event = ENQUEUE(
            queue, kernel, global_size, local_size, offset, wait_for, False, allow_empty
        )
        if self._launches.observer is not None:
            self._show_launch(queue, decision, args)
        return event

    def _enqueue_sequence(
        self, queue: pyopencl.CommandQueue, found: PreparedSequence, args: Arguments, wait_for: WaitList
    ) -> pyopencl.Event:
        # An iterator can be read only once.
        wait_for = as_tuple(wait_for)
        try:
            event = found.enqueue(queue, args, wait_for)
        except NotLaunchedError as error:
            number = found.decision.version.number
            decision = found.decision.otherwise(f"the version {number}, which can't be launched: {error}")
            one = self._objects.prepared(decision, self, self._count)
            return self._enqueue(queue, one, args, None, wait_for, False)
        self._note_call(None)
        if self._launches.observer is not None:
            self._show_launch(queue, found.decision, args)
        return event

    def _show_launch(self, queue: pyopencl.CommandQueue, decision: AnyDecision, args: Arguments) -> None:
        observer = self._launches.observer
        if observer is not None:
            given = sum(value.size for value in args if isinstance(value, pyopencl.LocalMemory))
            original = OriginalLaunch(queue.device, *decision.asked, given)
            observer.launched(self._launches.name, original, decision.shown())

    def _check_launch(self, args: Arguments) -> None:
        if len(args) != self._count:
            raise InvalidInputError(
                f"kernel {self._launches.name} takes {self._count} arguments, {len(args)} were given"
            )
        if not self._tuned.file.has_sizes:
            raise InvalidInputError(
                f"the tuned file of kernel {self._launches.name} has no sizes of launches: call it with sizes"
            )

    @property
    def program(self) -> Any:  # noqa: ANN401 (as PyOpenCL has it)
        """The program that the kernel comes from; None once that is gone."""
        return self._program_reference()

    @program.setter
    def program(self, program: Any) -> None:  # noqa: ANN401 (as above)
        # A program keeps a kernel for each thread, which must not keep the program.
        self._program_reference = ref(program)

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
            self._set_again = None if len(set_again) == self._launches.argument_count else set_again

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

    def _typed(self, args: Arguments) -> Arguments:
        """Return the arguments, numbers made of the types that were set for them."""
        if self._types is None:
            return args
        pairs = zip(self._types, args, strict=False)
        return tuple(value if kind is None else np.dtype(kind).type(value) for kind, value in pairs)

    def _note_call(self, kernel: pyopencl.Kernel | None) -> None:
        """Note that the arguments of a call were set for a kernel object; None: for several."""
        self._set_again = None if kernel is self else _NONE
        self._ready_set.clear()

    def _device(self, queue: pyopencl.CommandQueue) -> pyopencl.Device:
        return self._only_device or queue.device

    def _device_key(self, queue: pyopencl.CommandQueue) -> int:
        return 0 if self._only_device is not None else int(queue.device.int_ptr)

    def _decide(
        self,
        device: pyopencl.Device,
        args: Arguments,
        passed: PassedSizes | None,
        supplied: Mapping[str, float] = NO_FEATURES,
        has_offset: bool = False,
    ) -> Prepared:
        """Return how a launch is carried out that isn't known yet."""
        if not self._knows_kinds:
            self._look_at(args)
        decision = self._tuned.decide(Asked(device, args, passed, supplied, has_offset, self._local_places))
        return self._objects.prepared(decision, self, self._count)

    def _look_at(self, args: Arguments) -> None:
        """Take arguments that the first launch gives local memory for that, whatever the file says."""
        self._knows_kinds = True
        arguments = with_local_memory(self._arguments, args)
        if arguments is not self._arguments:
            # Keys of before have fewer parts: none is taken for one of these.
            self._take(arguments)

    def _take(self, arguments: tuple[KernelArgument, ...]) -> None:
        """Make what sets the arguments of the kernel, and what tells launches apart."""
        self._arguments = arguments
        self._local_places = tuple(
            index for index, argument in enumerate(arguments) if argument.kind is ArgumentKind.LOCAL
        )
        set_by = setting(arguments)
        self._references, self._numbers = set_by.references, set_by.numbers
        self._key = key_function(
            arguments, self._tuned.asked, self._tuned.needs_all_bytes, self._tuned.needs_all_apart
        )


def _is_type_of_numbers(kind: Any) -> bool:  # noqa: ANN401 (whatever NumPy takes as a type)
    if kind is None:
        return True
    try:
        return issubclass(np.dtype(kind).type, np.number)
    except TypeError:
        return False

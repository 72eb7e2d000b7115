"""A kernel object whose arguments are noted as they are set, and what a launch of it with them runs.

set_args(…) ─▶ set as PyOpenCL does, and noted ─┐
call        ─▶ set, and noted while it lasts   ─┴▶ sizes, local memory, numbers ─▶ a decision ─▶ Target
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl

from coarsen.errors import InvalidInputError
from coarsen.runtime.advice import IMPATIENCE, KernelFile, LaunchRefusedError, LaunchRequest, Numbers
from coarsen.runtime.arguments import (
    PLAIN,
    SET_NUMBERS,
    SET_REFERENCES,
    Argument,
    SetArguments,
    SortedArguments,
    set_all,
    set_sorted,
)
from coarsen.runtime.enqueue import AnySizes, LaunchOptions, Ready, Target, as_tuple
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch, SequenceVersion, plain_offset, plain_sizes
from coarsen.runtime.launches import KernelLaunches, LaunchedVariant, added_types, added_values

if TYPE_CHECKING:
    from coarsen.runtime.laid_out_kernel import RewrittenKernel
    from coarsen.runtime.sequence import SequenceKernels

# The reason for which the original runs though a variant was chosen.
_NO_VARIANT = "the variant that was chosen can't be built, or not be given the kernel's arguments"


class LaunchedKernels:
    """The coarsened kernel objects of one `Kernel`; others may use them once it is gone."""

    __slots__ = ("_launches", "_sequences", "_types", "kernels")

    def __init__(self, launches: KernelLaunches) -> None:
        self._launches = launches
        self._types: tuple[Any, ...] | None = None
        self.kernels: dict[LaunchedVariant, pyopencl.Kernel] = {}
        self._sequences: dict[SequenceVersion, SequenceKernels] = {}

    def __del__(self) -> None:
        for version, sequence in self._sequences.items():
            version.unused.append(sequence)
        if self._types is None:
            for launched, kernel in self.kernels.items():
                launched.unused.append(kernel)

    def get(self, launched: LaunchedVariant) -> pyopencl.Kernel | None:
        """Return the kernel object of a variant; None if the kernel refuses it. Raises DeviceError."""
        known = self.kernels.get(launched)
        if known is None:
            known = self._launches.kernel(launched)
            if known is not None:
                self.kernels[launched] = known
                self._set_types(launched, known)
        return known

    def sequence(self, version: SequenceVersion) -> SequenceKernels:
        """Return the kernel objects of a version of several launches, with their scratch."""
        if version not in self._sequences:
            try:
                self._sequences[version] = version.unused.pop()
            except IndexError:
                # Imported late: hardly any program has such versions.
                from coarsen.runtime.sequence import SequenceKernels

                self._sequences[version] = SequenceKernels(version)
        return self._sequences[version]

    def set_argument_types(self, types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`, for all variants, those of later too."""
        self._types = tuple(types)
        for launched, kernel in self.kernels.items():
            self._set_types(launched, kernel)

    def _set_types(self, launched: LaunchedVariant, kernel: pyopencl.Kernel) -> None:
        if self._types is not None:
            kernel.set_arg_types((*self._types, *added_types(launched.added)))


class NotedKernel(pyopencl.Kernel):
    """A `pyopencl.Kernel` whose arguments are known, so that a variant can be given them."""

    # The program that the kernel comes from; PyOpenCL's annotation is of its inner class.
    program: Any = None
    # The variant whose kernel object has the arguments that are set.
    _up_to_date: LaunchedVariant | None = None
    # What the last call launched, while nothing else was done to the arguments.
    _called: Ready | None = None
    # True while a call sets arguments, which then need not be noted.
    _is_calling = False
    # True where the original kernel was not given the arguments yet: of a clone, or after a region's calls.
    _lacks_arguments = False
    # True once the original kernel may have arguments that aren't noted: of a call, or of a setter that failed.
    _has_unnoted = False
    # True once others may have set arguments of the original kernel by its address.
    _is_exposed = False
    _types: tuple[Any, ...] | None = None

    def __init__(
        self, program: pyopencl.Program, launches: KernelLaunches, layouts: RewrittenKernel | None = None
    ) -> None:
        super().__init__(launches.plan.raw_program, launches.name)
        self.program = program
        # What the kernel wants of calls, where its arrays lie otherwise than the source has them.
        self._layouts = layouts
        self._launches = launches
        self._variants = LaunchedKernels(launches)
        self._set = SetArguments(launches.argument_count)
        # What was decided, by the sizes and what else counts of a call.
        self._ready: dict[Hashable, Any] = {}
        # The kernel object (None: this one) and the sizes, by those that are passed, until an argument is set.
        self._ready_set: dict[Hashable, tuple[pyopencl.Kernel | None, Any, Any]] = {}
        # The indices of arguments that are local memory, once one was passed.
        self._local_places: tuple[int, ...] = ()
        self._file = launches.file
        self._has_long_keys = launches.has_several_devices or self._file is not None

    def explain(self, **values: float) -> Any:  # noqa: ANN401 (a `TunedExplanation`)
        """Return what a tuned file chooses for a launch, and why.

        Args:
            values: whole and real arguments by their names, sizes of buffers in bytes as `bytes_NAME`;
                `global_size_0` and so on where the file has no sizes.

        Raises:
            InvalidInputError: there is no file; a name that it doesn't have, or a number that it needs is missing.
        """
        return self._own_file().explain(values)

    def _own_file(self) -> KernelFile:
        if self._file is None:
            raise InvalidInputError(f"kernel {self._launches.name} has no tuned file: call it with sizes")
        return self._file

    def divided(
        self, device: pyopencl.Device, global_size: AnySizes, local_size: AnySizes | None, g_times_l: bool = False
    ) -> DividedLaunch:
        """Return how a launch of these (original) sizes is carried out on `device`, and why.

        Where work-groups are merged, the local memory that was last set as an argument counts.
        """
        whole, local = plain_sizes(global_size, local_size, g_times_l)
        return self._launches.choose(OriginalLaunch(device, whole, local, self._set.local_bytes))

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
        self._refuse_layouts()
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
        self._refuse_layouts()
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

    def _refuse_layouts(self) -> None:
        """Raise InvalidInputError where arrays lie otherwise: only a call checks what it is given."""
        if self._layouts is not None:
            raise InvalidInputError(f"kernel {self._launches.name}: its arrays lie otherwise: call it")

    def _begin_call(self) -> None:
        """Forget what is noted: the arguments of a call take its place, and hold no longer than it takes."""
        self._lacks_arguments = False
        self._has_unnoted = True
        self._up_to_date = None
        self._ready_set.clear()
        self._set.forget_values()

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

    def _target(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event] = (),
    ) -> Target | None:
        """Return what to launch; None where PyOpenCL refuses what the caller says.

        `waiting` are events that the launch waits for besides those of its options.
        """
        try:
            whole, local = plain_sizes(*sizes, options["g_times_l"])
            device = queue.device
        except (TypeError, AttributeError):
            # AnySizes that aren't sequences of integers, or what is no queue: PyOpenCL says so.
            return None
        launches = self._launches
        numbers = () if self._file is None else self._numbers(options)
        original = OriginalLaunch(device, whole, local, self._set.local_bytes, numbers)
        launch = launches.known(original)
        if launch is None:
            launch = launches.choose(original, self._at_hand(original, queue, local, options, waiting))
        return self._as_divided(original, launch)

    def _at_hand(
        self,
        original: OriginalLaunch,
        queue: pyopencl.CommandQueue,
        local: AnySizes | None,
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event],
    ) -> LaunchRequest | None:
        """Return what a policy may look at, once all that the launch waits for is over; None if nothing."""
        launches = self._launches
        if not launches.is_looked_at or not self._set.are_complete:
            return None
        # Imported late: most programs tune nothing.
        from coarsen.runtime.waiting import are_over, is_any_set_by_host

        # An iterator can be read only once.
        options["wait_for"] = as_tuple(options["wait_for"])
        events = (*(options["wait_for"] or ()), *waiting)
        if is_any_set_by_host(events):
            return None
        if not are_over(queue, events, launches.plan.patience):
            launches.plan.patience = IMPATIENCE
            launches.note_vain_look()
            return None
        offset = _offset(local, options)
        return launches.plan.request(launches.name, original, queue, self._set.in_order(), offset)

    def _as_divided(self, original: OriginalLaunch, launch: DividedLaunch) -> Target:
        """Return what is launched where a launch is carried out so."""
        launches = self._launches
        launched = launches.variant_of(launch)
        if launched is not None and launched.is_conditional:
            launch, launched = launches.allowed(original, launch, self._set)
        if launched is None:
            return Target(original, self, None, launch, {})
        kernel, memory = self._variants.get(launched), self._set.local_memory
        added = added_values(launched.added, launches.argument_count, original, launch.own, memory)
        if kernel is None or added is None:
            return self._as_it_is(original, launch)
        return Target(original, kernel, launched, launch, added)

    def _numbers(self, options: LaunchOptions) -> Numbers:
        """Return the numbers by which a tuned file chooses, of the arguments that are set."""
        own: Numbers = ()
        if self._file is not None and self._set.are_complete:
            own = self._file.numbers(self._typed(self._set.in_order()))
        offset = options["global_offset"]
        return (*own, offset is not None and any(offset))

    def _typed(self, args: tuple[Argument, ...]) -> tuple[Argument, ...]:
        """Return arguments, of a call or as they are set, numbers made of the types that were set for them."""
        if self._types is None:
            return args
        return tuple(_of_type(kind, value) for kind, value in zip(self._set_types(), args, strict=False))

    def _set_types(self) -> Iterator[Any]:
        """Yield the types of what is set: an array whose offset is passed too is a buffer and a number."""
        for kind in self._types or ():
            yield kind
            if getattr(kind, "with_offset", False):
                yield np.int64

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

    def _set_again(self, arguments: SetArguments) -> None:
        """Take the place of a call's arguments by those that were set, for launches without a call."""
        if arguments.values()[0]:
            self._set, self._lacks_arguments = arguments, True
            self._called = self._up_to_date = None
            self._ready_set.clear()

    def _as_it_is(self, original: OriginalLaunch, launch: DividedLaunch) -> Target:
        """Return the original kernel, in the place of a variant that isn't there or lacks its arguments."""
        if launch.own is not None:
            launch = self._launches.otherwise(original, _NO_VARIANT)
        if launch.own is not None and (launch.own.definitions or launch.steps is not None):
            has = "takes several launches" if launch.steps else "has other macros than the source as it stands"
            raise LaunchRefusedError(
                f"kernel {self._launches.name}: its tuned file {has}, and which arguments are set isn't known: "
                "call it, or set_args before"
            )
        if launch.is_rewritten or launch.regrouped:
            launch = DividedLaunch(original.global_size, original.local_size, (), reason=_NO_VARIANT)
        return Target(original, self, None, launch, {})

    def _handed_over(self, target: Target | None) -> Target | None:
        """Give the arguments that were set to the target, and return it; the original if not all are known."""
        if self._lacks_arguments:
            self._lacks_arguments = False
            set_all(self, *self._set.values())
        if target is not None and self._is_exposed:
            return self._as_it_is(target.original, target.launch)
        if target is None or target.launched is None or self._up_to_date is target.launched:
            return target
        if not self._set.are_complete:
            return self._as_it_is(target.original, target.launch)
        set_all(target.kernel, *self._set.values())
        self._up_to_date = target.launched
        return target

    def _show(self, target: Target) -> None:
        """Show the observer a launch that was made."""
        observer = self._launches.observer
        if observer is not None:
            observer.launched(self._launches.name, target.original, target.launch)


def _offset(local: AnySizes | None, options: LaunchOptions) -> tuple[int, ...] | None:
    offset: Any = plain_offset(options["global_offset"], local, options["g_times_l"])
    return offset and tuple(map(int, offset))


def _of_type(kind: Any, value: Argument) -> Argument:  # noqa: ANN401 (a type as `set_arg_types` takes it)
    """Return an argument as a number of a type; None where it is none, an array's buffer in its place."""
    if hasattr(kind, "with_offset"):
        return getattr(value, "base_data", value)
    if kind is None:
        return value
    try:
        dtype = np.dtype(kind)
        number: Argument = np.frombuffer(value, dtype)[0] if isinstance(value, bytes) else dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number

"""Launches that were decided, with the kernel objects that one thread launches for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.dispatch.launch_sizes import PassedArgument, Source, VersionSizes
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.runtime.arguments import Argument, Pairs, set_all
from coarsen.runtime.enqueue import ENQUEUE, WaitList
from coarsen.runtime.launch import Sizes
from coarsen.runtime.launches import LaunchedKernels
from coarsen.runtime.tuned_arguments import OF_CALLER, OF_SCRATCH, Arguments, Place, values_function
from coarsen.runtime.tuned_building import BuiltSequence
from coarsen.runtime.tuned_launches import AnyDecision, Decision, SequenceDecision

_OUT_OF_ORDER = int(pyopencl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
_COMPLETE = pyopencl.command_execution_status.COMPLETE
# The number of sets that are kept; where more are in use at once, launches have some for themselves.
MOST_SETS = 16


class Scratch:
    """The scratch buffers of one launch at a time, and the last event that uses them."""

    __slots__ = ("_in_order_queue", "_last", "buffers")

    def __init__(self) -> None:
        self.buffers: tuple[pyopencl.Buffer, ...] = ()
        self._in_order_queue: int | None = None
        self._last: pyopencl.Event | None = None

    def is_free_for(self, in_order_queue: int | None) -> bool:
        """Return True if a launch may use it now; `in_order_queue` is the handle of its queue, None for others."""
        if self._last is None or (in_order_queue is not None and in_order_queue == self._in_order_queue):
            # A handle stands for another queue only once all that the first one had to do is done.
            return True
        return bool(self._last.command_execution_status <= _COMPLETE)

    def grow(self, context: pyopencl.Context, sizes: Sequence[int]) -> None:
        """Make the buffers at least so large, in bytes; raises pyopencl.Error where there is no memory.

        What a launch still uses stays until that is over: OpenCL keeps it.
        """
        if len(self.buffers) == len(sizes) and all(
            buffer.size >= size for buffer, size in zip(self.buffers, sizes, strict=True)
        ):
            return
        before = [buffer.size for buffer in self.buffers] or [0] * len(sizes)
        self.buffers = ()
        wanted = map(max, sizes, before)
        self.buffers = tuple(pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, size) for size in wanted)

    def used_by(self, event: pyopencl.Event, in_order_queue: int | None) -> None:
        """Note that a launch uses it until this event."""
        self._last, self._in_order_queue = event, in_order_queue


class ScratchPool:
    """The scratch of one version for one kernel object, which is one thread's."""

    def __init__(self) -> None:
        self._sets: list[Scratch] = []

    def take(self, queue: pyopencl.CommandQueue, sizes: Sequence[int], in_order_queue: int | None) -> Scratch:
        """Return scratch that nothing else uses; raises pyopencl.Error where there is no memory.

        Args:
            queue: of the launch.
            sizes: in bytes, one for each buffer.
            in_order_queue: the queue's handle; None where it isn't in order.
        """
        found = next((each for each in self._sets if each.is_free_for(in_order_queue)), None)
        if found is None:
            found = Scratch()
            if len(self._sets) < MOST_SETS:
                self._sets.append(found)
        found.grow(queue.context, sizes)
        return found


def in_order_handle(queue: pyopencl.CommandQueue) -> int | None:
    """Return the handle of a queue that carries out its commands one after the other; None for others."""
    return None if queue.properties & _OUT_OF_ORDER else int(queue.int_ptr)


# The launches of a version that takes several, one after the other, with the scratch that they share.

_NUMBERS: Mapping[str, Callable[[int], Argument]] = MappingProxyType(
    {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
)
_NO_BUFFERS: tuple[pyopencl.Buffer, ...] = ()


class NotLaunchedError(CoarsenError):
    """Nothing was launched: there is no memory for scratch, or an argument can't be set."""


class SequenceKernels:
    """The kernel objects of a version of several launches, one for each launch, and its scratch; of one thread."""

    def __init__(self, version: BuiltSequence) -> None:
        self.kernels = tuple(PlainKernel(version.program, name) for name in version.kernels)
        self.pool = ScratchPool()


class PreparedSequence:
    """Launches that were decided, with kernel objects.

    Args:
        decision: what is launched.
        kernels: the objects.
    """

    def __init__(self, decision: SequenceDecision, kernels: SequenceKernels) -> None:
        self.decision = decision
        self._pool = kernels.pool
        self._scratch = decision.sizes.scratch
        steps = zip(
            kernels.kernels, decision.version.passed, decision.sizes.launches, decision.sizes.numbers, strict=True
        )
        self._steps = tuple(_Step(*step) for step in steps)

    def enqueue(self, queue: pyopencl.CommandQueue, args: Arguments, wait_for: WaitList) -> pyopencl.Event:
        """Launch all, each after the one before it, and return the event that ends with the last.

        Args:
            queue: in order or not.
            args: the caller's.
            wait_for: events that the first waits for.

        Raises:
            NotLaunchedError: none of them was launched.
        """
        in_order = in_order_handle(queue)
        try:
            scratch = self._pool.take(queue, self._scratch, in_order) if self._scratch else None
            buffers = _NO_BUFFERS if scratch is None else scratch.buffers
            for step in self._steps:
                step.set_arguments(args, buffers)
        except pyopencl.Error as error:
            raise _not_launched(error) from None
        first, *others = self._steps
        try:
            event = first.enqueue(queue, wait_for)
        except pyopencl.Error as error:
            raise _not_launched(error) from None
        for step in others:
            if scratch is not None:
                scratch.used_by(event, in_order)
            # In a queue in order, each waits for all before it anyway.
            event = step.enqueue(queue, [event] if in_order is None else None)
        if scratch is not None:
            scratch.used_by(event, in_order)
        return event


class _Step:
    """One launch: a kernel object, its sizes, and what makes its arguments of the caller's and of scratch."""

    def __init__(
        self,
        kernel: pyopencl.Kernel,
        passed: Sequence[PassedArgument],
        sizes: VersionSizes,
        numbers: Sequence[int],
    ) -> None:
        self.kernel = kernel
        self.global_size: Sizes = sizes.global_size or ()
        self.local_size: Sizes | None = sizes.local_size
        self._values: Callable[..., tuple[Argument, ...]] = values_function(
            [_value(argument, sizes, numbers) for argument in passed]
        )

    def enqueue(self, queue: pyopencl.CommandQueue, wait_for: WaitList) -> pyopencl.Event:
        """Launch the kernel object with the arguments that are set."""
        event: pyopencl.Event = ENQUEUE(
            queue, self.kernel, self.global_size, self.local_size, None, wait_for, False, False
        )
        return event

    def set_arguments(self, args: Arguments, scratch: Sequence[pyopencl.Buffer]) -> None:
        """Set the arguments of the kernel object."""
        values = self._values(args, scratch)
        set_all(self.kernel, range(len(values)), values)


def _not_launched(error: pyopencl.Error) -> NotLaunchedError:
    return NotLaunchedError(" ".join(str(error).split())[:200])


def _value(argument: PassedArgument, sizes: VersionSizes, numbers: Sequence[int]) -> Argument:
    """Return the place of an argument that each launch has its own of; else the argument itself."""
    if argument.source is Source.SCRATCH:
        return Place(OF_SCRATCH, argument.index)
    if argument.source is Source.NUMBER:
        return _NUMBERS[argument.type](numbers[argument.index])
    if argument.index in sizes.local_memory:
        return pyopencl.LocalMemory(sizes.local_memory[argument.index])
    return Place(OF_CALLER, argument.index)


# The number of launches that are kept.
_MOST_KNOWN = 4096


class PreparedLaunch(NamedTuple):
    """One launch: a kernel object, what is set after the caller's arguments, and the sizes."""

    kernel: pyopencl.Kernel
    references: Pairs
    numbers: Pairs
    global_size: Sizes
    local_size: Sizes | None
    decision: Decision


Prepared: TypeAlias = PreparedLaunch | PreparedSequence


class VersionObjects:
    """The kernel objects of a tuned kernel's versions, for one kernel object of a program."""

    def __init__(self) -> None:
        self._coarsened: dict[int, LaunchedKernels] = {}
        self._as_written: dict[int, pyopencl.Kernel] = {}
        self._sequences: dict[int, SequenceKernels] = {}

    def prepared(self, decision: AnyDecision, own: pyopencl.Kernel, count: int) -> Prepared:
        """Return a launch that was decided, with its kernel objects.

        Args:
            decision: how it is carried out.
            own: the program's own kernel.
            count: how many arguments that takes.
        """
        if not isinstance(decision, Decision):
            number = decision.version.number
            if number not in self._sequences:
                self._sequences[number] = SequenceKernels(decision.version)
            return PreparedSequence(decision, self._sequences[number])
        kernel = self._object(decision, own)
        if not decision.local_memory and not decision.added:
            return PreparedLaunch(kernel, (), (), decision.global_size, decision.local_size, decision)
        references: Pairs = ()
        numbers: Pairs = ()
        for index, memory in decision.local_memory.items():
            references += index, memory
        for index, value in enumerate(decision.added, count):
            if isinstance(value, np.number):
                numbers += index, value
            else:
                references += index, value
        return PreparedLaunch(kernel, references, numbers, decision.global_size, decision.local_size, decision)

    def _object(self, decision: Decision, own: pyopencl.Kernel) -> pyopencl.Kernel:
        version = decision.version
        if version is None:
            return own
        launches = version.launches
        if decision.launched is None:
            if version.number not in self._as_written:
                self._as_written[version.number] = PlainKernel(launches.raw_program, launches.name)
            return self._as_written[version.number]
        if version.number not in self._coarsened:
            self._coarsened[version.number] = LaunchedKernels(launches)
        kernel = self._coarsened[version.number].get(decision.launched)
        if kernel is None:
            raise InvalidInputError(f"kernel {launches.name}: a version that was built is gone")
        return kernel


def keep(known: dict[Hashable, Prepared], key: Hashable | None, found: Prepared) -> None:
    """Remember a launch for all that are alike; None stands for one that none is like."""
    if key is not None:
        if len(known) >= _MOST_KNOWN:
            known.clear()
        known[key] = found

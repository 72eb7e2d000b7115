"""Launches of a tuned file's version that takes several: one after the other, with shared scratch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import ge
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.dispatch.launch_sizes import SequenceSizes, VersionSizes
from coarsen.errors import CoarsenError
from coarsen.runtime.arguments import (
    ENQUEUE,
    SET_NUMBERS,
    SET_REFERENCES,
    Argument,
    Pairs,
    SetArguments,
    WaitList,
    sorted_by_kind,
    taking_functions,
)
from coarsen.runtime.launch import OriginalLaunch, OwnLaunch, SequenceVersion, Sizes
from coarsen.runtime.launches import LaunchedVariant, added_values, keep
from coarsen.variant.variant import PassedArgument, Source

_OUT_OF_ORDER = int(pyopencl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
_COMPLETE = pyopencl.command_execution_status.COMPLETE
# The number of sets that are kept; where more are in use at once, launches have some for themselves.
MOST_SETS = 16
# Plans of more launches are made anew at each call.
_LONGEST_PLAN = 16
_NUMBERS: Mapping[str, Callable[[int], Argument]] = MappingProxyType(
    {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
)


class NotLaunchedError(CoarsenError):
    """Nothing was launched: there is no memory for scratch, or an argument can't be set."""


class SequenceKernels:
    """The kernel objects of a version of several launches, one for each that is listed, and its scratch; of one
    thread."""

    def __init__(self, version: SequenceVersion) -> None:
        self.version = version
        self.kernels = [PlainKernel(each.program, each.function_name) for each in version.kernels]
        self._coarsened: dict[tuple[int, LaunchedVariant], pyopencl.Kernel | None] = {}
        # How launches are made, by what was decided and the types of arguments.
        self._plans: dict[Hashable, _Plan] = {}
        # One for each launch that may run at the same time.
        self._scratch: list[Scratch] = []

    def enqueue(
        self, queue: pyopencl.CommandQueue, own: OwnLaunch, args: tuple[Argument, ...], wait_for: WaitList
    ) -> pyopencl.Event:
        """Launch all, each after the one before it, and return the event that ends with the last.

        Args:
            queue: in order or not.
            own: what was decided, with the sizes of the launches.
            args: the caller's.
            wait_for: events that the first waits for.

        Raises:
            NotLaunchedError: none of them was launched.
        """
        assert own.sizes is not None, "of several launches"
        in_order, sizes = in_order_handle(queue), own.sizes
        key = (id(own), *map(type, args))
        plan = self._plans.get(key) or _Plan(self, own)
        try:
            scratch = self._free_scratch(queue, sizes.scratch, in_order) if sizes.scratch else None
            given = args if scratch is None else (*args, *scratch.buffers)
            for number in plan.firsts.values():
                plan.launch(number, given).set(given)
            if not sizes.order:
                # Loops that run no time at all.
                event: pyopencl.Event = pyopencl.enqueue_marker(queue, wait_for)
                return event
            event = plan.launch(0, given).enqueue(queue, wait_for)
        except pyopencl.Error as error:
            raise NotLaunchedError(" ".join(str(error).split())[:200]) from None
        for number, place in enumerate(sizes.order[1:], 1):
            if scratch is not None:
                scratch.used_by(event, in_order)
            launch = plan.launch(number, given)
            if plan.firsts[place] != number:
                launch.set(given)
            # In a queue in order, each waits for all before it anyway.
            event = launch.enqueue(queue, [event] if in_order is None else None)
        if scratch is not None:
            scratch.used_by(event, in_order)
        if plan.is_of_types and len(sizes.order) <= _LONGEST_PLAN:
            keep(self._plans, key, plan)
        return event

    def only_launch(self, sizes: SequenceSizes, count: int) -> tuple[pyopencl.Kernel, Sizes, Sizes | None] | None:
        """Return the kernel and sizes where there is one launch, as it is written, of what the caller passes.

        Args:
            sizes: of the launches.
            count: of the caller's arguments.
        """
        callers = tuple(PassedArgument(Source.CALLER, index) for index in range(count))
        if sizes.order != (0,) or self.version.coarsened[0] is not None or self.version.passed[0] != callers:
            return None
        whole, local, memory = sizes.launches[0]
        return None if whole is None or memory else (self.kernels[0], whole, local)

    def kernel_of(self, place: int, launched: LaunchedVariant) -> pyopencl.Kernel | None:
        """Return the kernel object of one of the launches for a variant; None where there is none."""
        if (place, launched) not in self._coarsened:
            step = self.version.coarsened[place]
            self._coarsened[place, launched] = None if step is None else step[0].kernel(launched)
        return self._coarsened[place, launched]

    def _free_scratch(self, queue: pyopencl.CommandQueue, sizes: Sequence[int], in_order: int | None) -> Scratch:
        """Return scratch that nothing else uses; raises pyopencl.Error where there is no memory."""
        found = next((each for each in self._scratch if each.is_free_for(in_order)), None)
        if found is None:
            found = Scratch()
            if len(self._scratch) < MOST_SETS:
                self._scratch.append(found)
        found.grow(queue.context, sizes)
        return found


# The way in which a launch among several is carried out: kernel, sizes, and what is passed besides.
_How = tuple[pyopencl.Kernel, Sizes | None, Sizes | None, Mapping[int, Argument]]


class _Launch(NamedTuple):
    """A launch of which all is known but the caller's arguments and scratch.

    `references` and `numbers` take from these what PyOpenCL's two setters want; nothing where an earlier launch of
    the same call has set it. The `own` ones are the same in each call.
    """

    how: _How
    references: Callable[[tuple[Argument, ...]], Pairs]
    numbers: Callable[[tuple[Argument, ...]], Pairs]
    own_references: Pairs
    own_numbers: Pairs

    def set(self, given: tuple[Argument, ...]) -> None:
        """Set the arguments, of the caller's with the scratch behind them."""
        if references := self.references(given) + self.own_references:
            SET_REFERENCES(self.how[0], references)
        if numbers := self.numbers(given) + self.own_numbers:
            SET_NUMBERS(self.how[0], numbers)

    def enqueue(self, queue: pyopencl.CommandQueue, wait_for: WaitList) -> pyopencl.Event:
        """Launch what has its arguments."""
        kernel, whole, local, _ = self.how
        event: pyopencl.Event = ENQUEUE(queue, kernel, whole, local, None, wait_for, False, False)
        return event


class _Plan:
    """The launches of a sequence as they were decided, by their numbers, for arguments of some types.

    Attributes:
        firsts: by the place of a kernel in the version, the number of its first launch.
        is_of_types: whether nothing but the types of the caller's arguments matters.
    """

    def __init__(self, sequence: SequenceKernels, own: OwnLaunch) -> None:
        assert own.sizes is not None, "of several launches"
        # It keeps what was decided, by whose address it is found.
        self._sequence, self._own, self._sizes = sequence, own, own.sizes
        self.firsts = {place: number for number, place in reversed([*enumerate(own.sizes.order)])}
        self.is_of_types = True
        self._launches: dict[int, _Launch] = {}
        # Launches that are alike in all turns of a loop have the same sizes, as one object.
        self._hows: dict[tuple[int, int], _How] = {}

    def launch(self, number: int, given: tuple[Argument, ...]) -> _Launch:
        """Return a launch; `given` are the caller's arguments with the scratch behind them."""
        if number not in self._launches:
            self._launches[number] = self._made(number, given)
        return self._launches[number]

    def _made(self, number: int, given: tuple[Argument, ...]) -> _Launch:
        """Make a launch; in further turns of the same sizes it sets what may differ alone."""
        place, launch, numbers = (
            self._sizes.order[number],
            self._sizes.launches[number],
            self._sizes.numbers[number],
        )
        behind = len(given) - len(self._sizes.scratch)
        own: dict[int, Argument] = {}
        taken: dict[int, int] = {}
        for index, each in enumerate(self._sequence.version.passed[place]):
            if each.source is Source.NUMBER:
                own[index] = _NUMBERS[each.type](numbers[each.index])
            elif each.source is Source.SCRATCH:
                taken[index] = behind + each.index
            elif each.index in launch.local_memory:
                own[index] = pyopencl.LocalMemory(launch.local_memory[each.index])
            else:
                taken[index] = each.index
        how = self._hows.get((place, id(launch)))
        if how is not None:
            taken = {}
        else:
            values = own | {index: given[at] for index, at in taken.items()}
            how = self._hows[place, id(launch)] = self._how(place, launch, [values[k] for k in range(len(values))])
        own |= how[3]
        functions = taking_functions(given, {index: at for index, at in taken.items() if index not in own})
        return _Launch(how, *functions, *sorted_by_kind(own.keys(), own.values()))

    def _how(self, place: int, launch: VersionSizes, values: Sequence[Argument]) -> _How:
        sequence = self._sequence
        step = sequence.version.coarsened[place]
        as_written: _How = (sequence.kernels[place], launch.global_size, launch.local_size, {})
        if step is None:
            return as_written
        passed = SetArguments(len(values))
        passed.note_all(values)
        device = self._own.launch.device
        original = OriginalLaunch(device, launch.global_size or (), launch.local_size, passed.local_bytes)
        divided, launched = step[0].exactly(original, step[1], passed)
        # What is taken for granted of memory is looked at in each call.
        self.is_of_types &= launched is not None and not (launched.is_conditional or passed.local_memory)
        if launched is None:
            return as_written
        kernel = sequence.kernel_of(place, launched)
        added = added_values(launched.added, len(values), original, divided.own, passed.local_memory)
        if kernel is None or added is None:
            return as_written
        return kernel, divided.global_size, divided.local_size, added


class Scratch:
    """The scratch buffers of one launch at a time, and the last event that uses them."""

    __slots__ = ("_bytes", "_in_order_queue", "_last", "buffers")

    def __init__(self) -> None:
        self.buffers: tuple[pyopencl.Buffer, ...] = ()
        self._bytes: tuple[int, ...] = ()
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
        if len(self._bytes) == len(sizes) and all(map(ge, self._bytes, sizes)):
            return
        wanted = tuple(map(max, sizes, self._bytes or sizes))
        self.buffers, self._bytes = (), ()
        self.buffers = tuple(pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, size) for size in wanted)
        self._bytes = wanted

    def used_by(self, event: pyopencl.Event, in_order_queue: int | None) -> None:
        """Note that a launch uses it until this event."""
        self._last, self._in_order_queue = event, in_order_queue


def in_order_handle(queue: pyopencl.CommandQueue) -> int | None:
    """Return the handle of a queue that carries out its commands one after the other; None for others."""
    return None if queue.properties & _OUT_OF_ORDER else int(queue.int_ptr)

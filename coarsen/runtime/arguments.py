"""The arguments that are set for a kernel object, for the coarsened variants that run in its place.

OpenCL copies a number when it is set, and keeps no memory object alive. So numbers are copied here too, and of
what lies on the device only the address is kept: it is read at a launch, when the object has to be there anyway.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyopencl

from coarsen.runtime.memory_places import are_distinct, place_of
from coarsen.runtime.placed_memory import suits
from coarsen.variant.placement import PlacedArgument

# Whatever PyOpenCL takes as a kernel's argument; its annotations leave some out.
Argument: TypeAlias = Any

# PyOpenCL's class of kernels, with the setters that its annotations leave out.
PLAIN: Any = pyopencl.Kernel
_SET_REFERENCES, _SET_NUMBERS = PLAIN._set_arg_multi, PLAIN._set_arg_buf_multi

# Index, value, index, value and so on: of what lies on the device, and of numbers.
SortedArguments: TypeAlias = tuple[tuple[Argument, ...], tuple[Argument, ...]]

_NUMBERS = (np.number, np.bool_, bytes)
_NEVER_CHANGE = (*_NUMBERS, pyopencl.LocalMemory, type(None))


# The address of an object on the device, and the function that makes the object from it.
_Address: TypeAlias = tuple[Callable[[int], Argument], int]
_MEMORY: Callable[[int], Argument] = pyopencl.MemoryObject.from_int_ptr


class SetArguments:
    """The arguments that are set at present, by index."""

    __slots__ = ("_by_index", "_count", "local_memory")

    def __init__(self, count: int) -> None:
        self._count = count
        self._by_index: dict[int, Argument] = {}
        self.local_memory: dict[int, pyopencl.LocalMemory] = {}

    @property
    def are_complete(self) -> bool:
        """Return True if every argument is known."""
        return len(self._by_index) == self._count

    def note(self, index: int, value: Argument) -> None:
        """Remember an argument as it is now."""
        self._by_index[index] = _as_set(value)
        if isinstance(value, pyopencl.LocalMemory):
            self.local_memory[index] = value
        elif self.local_memory:
            self.local_memory.pop(index, None)

    def note_all(self, values: Sequence[Argument]) -> None:
        """Remember all arguments of the kernel."""
        if self.local_memory:
            self.local_memory.clear()
        # In the dictionary that is there: this is done at each launch.
        noted = self._by_index
        for index, value in enumerate(values):
            noted[index] = _as_set(value)
            if isinstance(value, pyopencl.LocalMemory):
                self.local_memory[index] = value

    def note_flat(self, indices_and_values: Sequence[Argument]) -> None:
        """Remember arguments that are given as index, value, index, value and so on."""
        for index, value in zip(indices_and_values[::2], indices_and_values[1::2], strict=True):
            self.note(index, value)

    def note_packed(self, entries: Sequence[Argument]) -> None:
        """Remember arguments that are given as index, type's letter (of `struct`), value, and so on."""
        for index, letter, value in zip(entries[::3], entries[1::3], entries[2::3], strict=True):
            self.note(index, struct.pack(letter.decode(), value))

    def forget(self) -> None:
        """Forget all arguments: it isn't known which are set."""
        self._by_index.clear()
        self.local_memory.clear()

    def values(self) -> tuple[list[int], list[Argument]]:
        """Return the indices and the values of all that are set."""
        return list(self._by_index), [_restored(value) for value in self._by_index.values()]

    def in_order(self) -> tuple[Argument, ...]:
        """Return the values of all arguments, which must be complete."""
        return tuple(_restored(self._by_index[index]) for index in range(self._count))

    def are_below(self, limit: int) -> bool:
        """Return True if every memory object that is passed is surely smaller than so many bytes.

        The limit is on what can be reached through one pointer. Of a part of a buffer that is the part; many a
        driver lets a kernel go beyond it all the same, so the whole buffer counts. Of shared virtual memory the
        size isn't known, and it may hold pointers to more; NULL reaches nothing. Sizes are asked for at each
        launch: another object may have the address of one that is gone.
        """
        if not self.are_complete:
            return False
        try:
            return all(_is_below(value, limit) for value in self._by_index.values() if isinstance(value, tuple))
        except pyopencl.Error:
            return False

    def are_apart(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Return True if the arguments of each pair surely lead to memory that does not overlap.

        As for sizes, it is asked for at each launch where objects lie, and False is the answer for shared virtual
        memory and for whatever isn't known.
        """
        try:
            places = {index: place_of(self._memory_at(index)) for index in {i for pair in pairs for i in pair}}
        except (pyopencl.Error, LookupError):
            return False
        return all(are_distinct(places[first], places[second]) for first, second in pairs)

    def suit(self, placed: Sequence[PlacedArgument], most_constant_bytes: int) -> bool:
        """Return True if what is passed can surely be read from the memory that a kernel reads it from.

        As for sizes, it is asked for at each launch.

        Args:
            placed: arguments whose arrays the kernel reads from another memory.
            most_constant_bytes: of a buffer in the device's constant memory.
        """
        try:
            sizes = all(suits(each, self._memory_at(each.index), most_constant_bytes) for each in placed)
        except (pyopencl.Error, LookupError):
            return False
        return sizes and self.are_apart([(each.index, other) for each in placed for other in each.apart_from])

    def _memory_at(self, index: int) -> pyopencl.MemoryObject | None:
        """Return the memory object that is set, None for NULL. Raises LookupError for anything else."""
        value = self._by_index[index]
        if value is None:
            return None
        if not isinstance(value, tuple) or value[0] is not _MEMORY:
            raise LookupError(index)
        memory: pyopencl.MemoryObject = _restored(value)
        return memory

    def copy(self) -> SetArguments:
        """Return the same arguments, for another kernel object."""
        copy = SetArguments(self._count)
        copy._by_index, copy.local_memory = dict(self._by_index), dict(self.local_memory)
        return copy


def set_all(kernel: Any, indices: Iterable[int], values: Iterable[Argument]) -> None:  # noqa: ANN401 (its setters are untyped)
    """Set arguments as `pyopencl.Kernel.set_args` does, numbers faster: PyOpenCL tries all other kinds first."""
    set_sorted(kernel, sorted_by_kind(indices, values))


def sorted_by_kind(indices: Iterable[int], values: Iterable[Argument]) -> SortedArguments:
    """Return arguments as `set_sorted` takes them, for several kernel objects."""
    references: list[Argument] = []
    numbers: list[Argument] = []
    for index, value in zip(indices, values, strict=True):
        chosen = numbers if isinstance(value, _NUMBERS) else references
        chosen.append(index)
        chosen.append(value)
    return tuple(references), tuple(numbers)


def set_sorted(kernel: Any, arguments: SortedArguments) -> None:  # noqa: ANN401 (its setters are untyped)
    """Set arguments that are sorted already."""
    references, numbers = arguments
    if references:
        _SET_REFERENCES(kernel, references)
    if numbers:
        _SET_NUMBERS(kernel, numbers)


def _as_set(value: Argument) -> Argument | _Address:
    """Return an argument as it is now, without keeping alive what lies on the device."""
    if isinstance(value, pyopencl.MemoryObjectHolder):
        return _MEMORY, value.int_ptr
    if isinstance(value, _NEVER_CHANGE):
        return value
    if isinstance(value, pyopencl.SVMPointer):
        return _shared_memory_at, value.svm_ptr
    if isinstance(value, pyopencl.Sampler):
        return pyopencl.Sampler.from_int_ptr, value.int_ptr
    if isinstance(value, pyopencl.CommandQueue):
        return pyopencl.CommandQueue.from_int_ptr, value.int_ptr
    # The bytes in their order in memory, as PyOpenCL hands them over.
    return memoryview(value).tobytes("A")


def _is_below(address: _Address, limit: int) -> bool:
    restore, place = address
    if restore is _shared_memory_at:
        return False
    if restore is not _MEMORY:
        # A sampler, or a queue.
        return True
    memory = restore(place)
    if memory.size >= limit:
        return False
    whole = memory.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    return whole is None or whole.size < limit


def _restored(value: Argument) -> Argument:
    if isinstance(value, tuple):
        restore, address = value
        return restore(address)
    return value


def _shared_memory_at(address: int) -> Argument:
    """Return shared virtual memory for a kernel's argument, of which only the address counts."""
    return pyopencl.SVM((ctypes.c_char * 1).from_address(address))

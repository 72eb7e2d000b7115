"""The arguments that are set for a kernel object, for the coarsened variants that run in its place.

OpenCL copies a number when it is set, and keeps no memory object alive. So numbers are copied here too, and of
what lies on the device only the address is kept: it is read at a launch, when the object has to be there anyway.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pyopencl

# Whatever PyOpenCL takes as a kernel's argument; its annotations leave some out.
Argument: TypeAlias = Any

_NEVER_CHANGE = (np.number, np.bool_, pyopencl.LocalMemory, bytes, type(None))


@dataclass(slots=True)
class _Address:
    """The address of an object, and what makes the object from it."""

    address: int
    restore: Callable[[int], Argument]


class SetArguments:
    """The arguments that are set at present, by index."""

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

    def flat(self) -> tuple[Argument, ...]:
        """Return all as PyOpenCL's setters take them: index, value, index, value and so on."""
        return tuple(chain.from_iterable((index, _restored(value)) for index, value in self._by_index.items()))

    def copy(self) -> SetArguments:
        """Return the same arguments, for another kernel object."""
        copy = SetArguments(self._count)
        copy._by_index, copy.local_memory = dict(self._by_index), dict(self.local_memory)
        return copy


def flat_from(start: int, values: Iterable[Argument]) -> tuple[Argument, ...]:
    """Return arguments as PyOpenCL's setters take them; the first has the index `start`."""
    return tuple(chain.from_iterable(enumerate(values, start)))


def _as_set(value: Argument) -> Argument:
    """Return an argument as it is now, without keeping alive what lies on the device."""
    if isinstance(value, pyopencl.MemoryObjectHolder):
        return _Address(value.int_ptr, pyopencl.MemoryObject.from_int_ptr)
    if isinstance(value, _NEVER_CHANGE):
        return value
    if isinstance(value, pyopencl.SVMPointer):
        return _Address(value.svm_ptr, _shared_memory_at)
    if isinstance(value, pyopencl.Sampler):
        return _Address(value.int_ptr, pyopencl.Sampler.from_int_ptr)
    if isinstance(value, pyopencl.CommandQueue):
        return _Address(value.int_ptr, pyopencl.CommandQueue.from_int_ptr)
    # The bytes in their order in memory, as PyOpenCL hands them over.
    return memoryview(value).tobytes("A")


def _restored(value: Argument) -> Argument:
    return value.restore(value.address) if isinstance(value, _Address) else value


def _shared_memory_at(address: int) -> Argument:
    """Return shared virtual memory for a kernel's argument, of which only the address counts."""
    return pyopencl.SVM((ctypes.c_char * 1).from_address(address))

"""The arguments that are set for a kernel object, for the coarsened variants that run in its place.

OpenCL copies a number when it is set, so numbers are copied here too. What lies on the device is kept alive until
another argument takes its place: a program may set a buffer to which it keeps no reference, or release it, and
drivers run the original kernel with it. The arguments of a call are forgotten when it ends, or a kernel object
would keep the last buffers that it was called with.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import pyopencl
from pyopencl._cl import enqueue_nd_range_kernel as enqueue_plainly

from coarsen.variant.placement import Place, PlacedArgument

# Whatever PyOpenCL takes as a kernel's argument; its annotations leave some out.
Argument: TypeAlias = Any

# PyOpenCL's class of kernels, with the setters that its annotations leave out.
PLAIN: Any = pyopencl.Kernel
SET_REFERENCES: Callable[..., None] = PLAIN._set_arg_multi
SET_NUMBERS: Callable[..., None] = PLAIN._set_arg_buf_multi
# PyOpenCL's own launch, by position: the names differ between a kernel's call and this function.
ENQUEUE: Any = enqueue_plainly
# Whatever PyOpenCL takes as the events to wait for; its annotations leave some out.
WaitList: TypeAlias = Any

# Index, value, index, value and so on.
Pairs: TypeAlias = tuple[Any, ...]

# Of what lies on the device, and of numbers.
SortedArguments: TypeAlias = tuple[Pairs, Pairs]

_NUMBERS = (np.number, np.bool_, bytes)
# Letters of NumPy's that mean the same to `struct`.
_PACKED = frozenset("bBhHiIlLqQefd")
# Kinds of objects on the device, and what makes another object of the same that the driver keeps as long.
_RETAINED: tuple[tuple[Any, Any], ...] = (
    (pyopencl.MemoryObjectHolder, pyopencl.MemoryObject.from_int_ptr),
    (pyopencl.Sampler, pyopencl.Sampler.from_int_ptr),
    (pyopencl.CommandQueue, pyopencl.CommandQueue.from_int_ptr),
)
_ON_DEVICE = (pyopencl.SVMPointer, *(kind for kind, _ in _RETAINED))
# What a program can't change after it was set.
_WITHOUT_MEMORY = (*_NUMBERS, int, float, complex, pyopencl.LocalMemory, type(None))
_WHOLE, _ON_HOST = pyopencl.mem_info.ASSOCIATED_MEMOBJECT, pyopencl.mem_flags.USE_HOST_PTR
_CONSTANT = (*_NUMBERS, *_ON_DEVICE, pyopencl.LocalMemory, type(None))


class SetArguments:
    """The arguments that are set at present, by index."""

    __slots__ = ("_alive", "_by_index", "_count", "local_memory")

    def __init__(self, count: int) -> None:
        self._count = count
        self._by_index: dict[int, Argument] = {}
        # The program's own objects: the memory of a pool is given to others once they are gone.
        self._alive: dict[int, Argument] = {}
        self.local_memory: dict[int, pyopencl.LocalMemory] = {}

    @property
    def local_bytes(self) -> int:
        """Return the bytes of local memory that are set, or were last."""
        return sum(local.size for local in self.local_memory.values()) if self.local_memory else 0

    @property
    def are_complete(self) -> bool:
        """Return True if every argument is known."""
        return len(self._by_index) == self._count

    def note(self, index: int, value: Argument) -> None:
        """Remember an argument as it is now, and keep what lies on the device."""
        self._by_index[index] = as_set(value)
        self._alive[index] = value
        if isinstance(value, pyopencl.LocalMemory):
            self.local_memory[index] = value
        elif self.local_memory:
            self.local_memory.pop(index, None)

    def note_all(self, values: Sequence[Argument]) -> None:
        """Remember all arguments of the kernel, for as long as a call takes, whose caller keeps what is there."""
        if self.local_memory:
            self.local_memory.clear()
        # In the dictionary that is there: this is done at each launch.
        noted = self._by_index
        for index, value in enumerate(values):
            noted[index] = value if isinstance(value, _CONSTANT) else memoryview(value).tobytes("A")
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
        """Forget all arguments: which are set isn't known."""
        self.forget_values()
        self.local_memory.clear()

    def forget_values(self) -> None:
        """Forget what is passed, and keep nothing of it alive; of local memory the size is still known."""
        self._by_index.clear()
        self._alive.clear()

    def values(self) -> tuple[list[int], list[Argument]]:
        """Return the indices and the values of all that are set."""
        return list(self._by_index), list(self._by_index.values())

    def in_order(self) -> tuple[Argument, ...]:
        """Return the values of all arguments, which must be complete."""
        return tuple(self._by_index[index] for index in range(self._count))

    def are_below(self, limit: int) -> bool:
        """Return True if every memory object that is passed is surely smaller than so many bytes.

        The limit is on what can be reached through one pointer. Of a part of a buffer that is the part; many a
        driver lets a kernel go beyond it all the same, so the whole buffer counts. Of shared virtual memory the
        size isn't known, and it may hold pointers to more; NULL reaches nothing.
        """
        if not self.are_complete:
            return False
        try:
            return all(_is_below(value, limit) for value in self._by_index.values())
        except pyopencl.Error:
            return False

    def are_apart(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Return True if the arguments of each pair surely lead to memory that does not overlap.

        False is the answer for shared virtual memory and for whatever isn't known.
        """
        try:
            places = {index: place_of(self._memory_at(index)) for index in {i for pair in pairs for i in pair}}
        except (pyopencl.Error, LookupError):
            return False
        return all(are_distinct(places[first], places[second]) for first, second in pairs)

    def suit(self, placed: Sequence[PlacedArgument], most_constant_bytes: int) -> bool:
        """Return True if what is passed can surely be read from the memory that a kernel reads it from.

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
        if value is not None and not isinstance(value, pyopencl.MemoryObjectHolder):
            raise LookupError(index)
        # PyOpenCL's annotation knows what all memory objects have of some classes alone.
        return cast("pyopencl.MemoryObject | None", value)

    def copy(self) -> SetArguments:
        """Return the same arguments, for another kernel object."""
        copy = SetArguments(self._count)
        copy._by_index, copy._alive = dict(self._by_index), dict(self._alive)
        copy.local_memory = dict(self.local_memory)
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
        SET_REFERENCES(kernel, references)
    if numbers:
        SET_NUMBERS(kernel, numbers)


def pair_functions(args: tuple[Argument, ...]) -> tuple[Callable[..., Pairs], Callable[..., Pairs]]:
    """Return what sorts arguments of the same types as `sorted_by_kind`, faster."""
    return taking_functions(args, {place: place for place in range(len(args))})


def taking_functions(
    given: tuple[Argument, ...], places: Mapping[int, int]
) -> tuple[Callable[..., Pairs], Callable[..., Pairs]]:
    """Return what takes a kernel's arguments, by index, from places among others of the same types, sorted."""
    return _pair_functions(tuple((*each, isinstance(given[each[1]], _NUMBERS)) for each in places.items()))


def typed_pair_functions(types: tuple[Any, ...]) -> tuple[Callable[..., Pairs], Callable[..., Pairs]] | None:
    """Return what sorts arguments, numbers as bytes of these types; None for types that PyOpenCL has to convert.

    Args:
        types: as `pyopencl.Kernel.set_arg_types` takes them.
    """
    try:
        letters = tuple(None if kind is None else np.dtype(kind).char for kind in types)
    except TypeError:
        return None
    return _typed_pair_functions(letters) if _PACKED.issuperset(filter(None, letters)) else None


@lru_cache(maxsize=256)
def _typed_pair_functions(letters: tuple[str | None, ...]) -> tuple[Callable[..., Pairs], Callable[..., Pairs]]:
    references: list[str] = []
    numbers: list[str] = []
    for index, letter in enumerate(letters):
        if letter is None:
            references += (str(index), f"a[{index}]")
        else:
            numbers += (str(index), f"pack('{letter}', a[{index}])")
    return tuple_function(references), tuple_function(numbers, {"pack": struct.pack})


@lru_cache(maxsize=256)
def _pair_functions(
    places: tuple[tuple[int, int, bool], ...],
) -> tuple[Callable[..., Pairs], Callable[..., Pairs]]:
    parts: tuple[list[str], list[str]] = ([], [])
    for index, place, is_number in places:
        parts[is_number].extend((str(index), f"a[{place}]"))
    return tuple_function(parts[0]), tuple_function(parts[1])


def buffers_function(args: tuple[Argument, ...]) -> Callable[..., tuple[pyopencl.Buffer, ...]] | None:
    """Return what takes the buffers from arguments of the same types; None where one may lead to other memory."""
    buffers = [index for index, value in enumerate(args) if type(value) is pyopencl.Buffer]
    if any(not isinstance(value, _WITHOUT_MEMORY) for index, value in enumerate(args) if index not in buffers):
        return None
    return _taking(tuple(buffers))


@lru_cache(maxsize=256)
def _taking(places: tuple[int, ...]) -> Callable[..., tuple[Any, ...]]:
    return tuple_function([f"a[{place}]" for place in places])


def tuple_function(
    parts: Sequence[str], names: Mapping[str, object] = MappingProxyType({})
) -> Callable[..., tuple[Any, ...]]:
    """Return a function that returns a tuple of expressions of its parameter `a`.

    Args:
        parts: the expressions: places of arguments and calls of `names`, made by this package.
        names: what they may call.
    """
    text = f"lambda a: ({''.join(f'{part}, ' for part in parts)})"
    function: Callable[..., tuple[Any, ...]] = eval(text, {"__builtins__": {}, **names})
    return function


def are_plain(buffers: Sequence[pyopencl.Buffer], limit: float, is_distinct: bool) -> bool:
    """Return True if buffers surely are smaller than so many bytes and, where `is_distinct`, apart.

    Of a part of a buffer, and where that counts of one on the host's memory, it is not sure.
    """
    addresses = set()
    try:
        for buffer in buffers:
            if buffer.size >= limit or buffer.get_info(_WHOLE) is not None:
                return False
            if is_distinct:
                if buffer.flags & _ON_HOST:
                    return False
                addresses.add(buffer.int_ptr)
    except pyopencl.Error:
        return False
    return not is_distinct or len(addresses) == len(buffers)


def as_set(value: Argument) -> Argument:
    """Return an argument as it is now, whatever the program does with it afterwards."""
    for kind, retained in _RETAINED:
        if isinstance(value, kind):
            return retained(value.int_ptr)
    # The bytes in their order in memory, as PyOpenCL hands them over.
    return value if isinstance(value, _CONSTANT) else memoryview(value).tobytes("A")


def _is_below(value: Argument, limit: int) -> bool:
    if isinstance(value, pyopencl.SVMPointer):
        return False
    if not isinstance(value, pyopencl.MemoryObjectHolder):
        return True
    memory: Any = value
    if memory.size >= limit:
        return False
    whole = memory.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    return whole is None or bool(whole.size < limit)


# Where memory objects lie: whether a kernel that writes to one of them may find another one changed.
#
# two buffers                                    distinct
# a buffer twice, a buffer and a part of it      the same
# two parts of a buffer                          distinct if their bytes are
# a buffer on memory of the host and another     not known: the host may have that memory of the other one
# an image made of a buffer                      takes all of it

_INFO = pyopencl.mem_info


class MemoryPlace(NamedTuple):
    """A part of a memory object.

    Attributes:
        whole: the address of the object that it is part of.
        start: its first byte in that object.
        end: the byte after its last.
        is_hosts: whether the whole object is the host's memory.
    """

    whole: int
    start: float
    end: float
    is_hosts: bool


def place_of(memory: pyopencl.MemoryObject | None) -> MemoryPlace | None:
    """Return where a memory object lies; None for NULL, through which nothing is reached."""
    if memory is None:
        return None
    whole: Any = memory.get_info(_INFO.ASSOCIATED_MEMOBJECT)
    start, end = 0.0, math.inf
    if whole is not None and memory.type == pyopencl.mem_object_type.BUFFER:
        start = memory.offset
        end = start + memory.size
    owner: Any = memory if whole is None else whole
    return MemoryPlace(owner.int_ptr, start, end, bool(owner.flags & pyopencl.mem_flags.USE_HOST_PTR))


def are_distinct(first: MemoryPlace | None, second: MemoryPlace | None) -> bool:
    """Return True if no byte surely is in both places."""
    if first is None or second is None:
        return True
    if first.whole != second.whole:
        return not (first.is_hosts or second.is_hosts)
    return first.end <= second.start or second.end <= first.start


# The memory objects that a launch passes for arrays which its kernel reads from constant or local memory.
#
# A buffer suits by its size (`PlacedArgument.reason_against`); constant memory has to hold the whole of which a
# sub-buffer is a part. What is known of no size, shared virtual memory for one, suits no place.


def suits(placed: PlacedArgument, memory: pyopencl.MemoryObject | None, most_constant_bytes: int) -> bool:
    """Return True if a memory object can be read as a kernel reads an argument's array.

    Args:
        placed: how it reads it.
        memory: what is passed; None for NULL, through which nothing is reached.
        most_constant_bytes: of a buffer in the device's constant memory.
    """
    if memory is None:
        return placed.takes_null
    if memory.type != pyopencl.mem_object_type.BUFFER:
        return False
    size = _whole_bytes(memory) if placed.place is Place.CONSTANT else memory.size
    return placed.reason_against(size, most_constant_bytes) is None


def _whole_bytes(memory: pyopencl.MemoryObject) -> int:
    """Return the bytes of a buffer, or of what it is a part of: a driver may bind that."""
    whole: Any = memory.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    return int(memory.size if whole is None else whole.size)

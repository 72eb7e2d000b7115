"""A kernel whose arrays lie otherwise: what its launches pass is checked, the extents are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.added_arguments import AddedArgument, extent_of
from coarsen.runtime.layout import Layout, bytes_of_element, passed_twice
from coarsen.variant.data_layout import Arrangement
from coarsen.variant.data_plan import ArrayPlan


@dataclass(frozen=True)
class RewrittenKernel:
    """A kernel whose arrays lie otherwise, and what it wants of its launches.

    Attributes:
        name: of it.
        text: OpenCL C of it alone.
        standard: the build option that the text needs.
        plans: how the arrays lie.
        arguments: the names of the original's.
        arrays: by their indices, where arrays lie otherwise; of no shape.
        added: the extents that follow the original's arguments.
    """

    name: str
    text: str
    standard: str
    plans: tuple[ArrayPlan, ...]
    arguments: tuple[str, ...]
    arrays: Mapping[int, Arrangement]
    added: tuple[AddedArgument, ...]

    def passed(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Return what the kernel is launched with: buffers, and the extents after the original's arguments.

        For an array that lies otherwise a plain buffer is taken too, of `Layout.pack`'s bytes, where its size says
        the shape.

        Args:
            arguments: the original's, with a `LaidOutArray` for each array that lies otherwise.

        Raises:
            InvalidInputError: a number of arguments that is wrong; an array that lies otherwise than the kernel
                wants it, or whose elements are others.
            RefusalError: `layout-same-buffer`, `layout-shape-unknown`.
        """
        if len(arguments) != len(self.arguments):
            raise InvalidInputError(f"{self.name} takes {len(self.arguments)} arguments, not {len(arguments)}")
        shapes = {index: self._shape(index, arguments[index]) for index in self.arrays}
        self._check_plain(arguments)
        buffers = [value.data if isinstance(value, LaidOutArray) else value for value in arguments]
        self._check_uses(buffers, shapes)
        return (*buffers, *(np.uint64(extent_of(each, self.added, shapes[each.like])) for each in self.added))

    def _shape(self, index: int, value: object) -> tuple[int, ...]:
        """Return the shape of what is passed for an array that lies otherwise."""
        name, wanted = self.arguments[index], self.arrays[index]
        if isinstance(value, LaidOutArray):
            given = value.arrangement
            if (given.record, given.layout, given.order) != (wanted.record, wanted.layout, wanted.order):
                raise InvalidInputError(
                    f"the array for {name} lies as {_words(given)}, and {self.name} wants {_words(wanted)}"
                )
            return value.shape
        if isinstance(value, pyopencl.Buffer):
            return shape_of_bytes(name, wanted, value.size)
        raise InvalidInputError(f"{name} lies as {_words(wanted)}: pass a coarsen.LaidOutArray, not {value!r}")

    def _check_plain(self, arguments: Sequence[object]) -> None:
        for index, value in enumerate(arguments):
            if isinstance(value, LaidOutArray) and index not in self.arrays:
                name, given = self.arguments[index], _words(value.arrangement)
                raise InvalidInputError(
                    f"the array for {name} lies as {given}, and {self.name} wants it as written: "
                    "pass a buffer of what its get() gives"
                )

    def _check_uses(self, passed: Sequence[object], shapes: Mapping[int, tuple[int, ...]]) -> None:
        """Raise RefusalError for memory of an array that lies otherwise which is passed for something else too."""
        memory = {index: _memory(value) for index, value in enumerate(passed)}
        arrays = self.arrays
        for index in arrays:
            for other, pointer in memory.items():
                if other == index or pointer is None or pointer != memory[index]:
                    continue
                is_alike = arrays.get(other) == arrays[index] and shapes.get(other) == shapes[index]
                if not is_alike or passed[other] != passed[index]:
                    raise passed_twice(f"the buffer for {self.arguments[index]}")


def _memory(value: object) -> int | None:
    """Return what tells memory apart: of a part of a buffer, the whole."""
    if not isinstance(value, pyopencl.MemoryObject):
        return None
    whole: Any = value.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    return int(whole.int_ptr if whole is not None else value.int_ptr)


def _words(arrangement: Arrangement) -> str:
    order = "" if arrangement.order is None else f" in the order {arrangement.order}"
    return f"{arrangement.layout}{order} of elements '{arrangement.record}'"


class LaidOutArray:
    """An array of the host's, packed in a buffer of its own on the device.

    Args:
        queue: by which it is copied.
        layout: how it is to lie there.
        host: its contents.

    Attributes:
        layout: how it lies.
        shape: of the host's array.
        data: the buffer, of `Layout.pack`'s bytes.

    Raises:
        InvalidInputError: the host's array is of another type, or its shape does not fit the order.
    """

    def __init__(self, queue: pyopencl.CommandQueue, layout: Layout, host: NDArray[Any]) -> None:
        self.layout = layout
        self.shape = host.shape
        packed = layout.pack(host)
        self.data = pyopencl.Buffer(queue.context, pyopencl.mem_flags.READ_WRITE, packed.nbytes)
        pyopencl.enqueue_copy(queue, self.data, packed)

    @property
    def arrangement(self) -> Arrangement:
        """Return where each byte lies."""
        return self.layout.arrangement(self.shape)

    def get(self, queue: pyopencl.CommandQueue) -> NDArray[Any]:
        """Read the array and unpack it, once all that the queue was given has finished; padding is zero."""
        packed = np.empty(self.data.size, np.uint8)
        pyopencl.enqueue_copy(queue, packed, self.data)
        return self.layout.unpack(packed, self.shape)

    def set(self, queue: pyopencl.CommandQueue, host: NDArray[Any]) -> None:
        """Pack other contents into the buffer. Raises InvalidInputError if they have another type or shape."""
        if host.shape != self.shape:
            raise InvalidInputError(f"the array has the shape {self.shape}, the new contents {host.shape}")
        pyopencl.enqueue_copy(queue, self.data, self.layout.pack(host))


def shape_of_bytes(argument: str, arrangement: Arrangement, byte_count: int) -> tuple[int, ...]:
    """Return the shape of an array that a packed buffer holds, of which nothing but the size is known.

    Args:
        argument: what it is passed for.
        arrangement: of the packed array.
        byte_count: of the buffer.

    Raises:
        RefusalError: `layout-shape-unknown`, of tiles and of several dimensions bytes do not say the shape.
        InvalidInputError: the bytes are no whole number of elements.
    """
    size = bytes_of_element(arrangement.record, arrangement.layout, arrangement.order)
    if size is None:
        reason = f"the bytes that are passed for {argument} do not say its shape: pass a coarsen.LaidOutArray"
        raise RefusalError("layout-shape-unknown", reason)
    if byte_count % size or not byte_count:
        raise InvalidInputError(f"the {byte_count} bytes for {argument} are no whole number of elements of {size}")
    return (byte_count // size,)

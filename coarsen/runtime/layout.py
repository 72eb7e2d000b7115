"""Pack NumPy arrays into the layout that a kernel was rewritten for, and unpack them again.

layout = coarsen.Layout.soa(dtype)
packed = layout.pack(bodies)                      # bytes for the buffer
bodies = layout.unpack(packed, shape=bodies.shape)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.variant.data_layout import AOS, MOST_FIELDS, Arrangement, ArrayLayout, Field, Kind, Order, RecordType
from coarsen.variant.data_plan import ArrayPlan


@dataclass(frozen=True)
class Layout:
    """How arrays of one type lie on the device.

    Attributes:
        dtype: of the host's elements, structured or plain.
        layout: array of structures, structure of arrays, or tiles of those.
        order: of the dimensions in memory; None leaves them.
    """

    dtype: np.dtype[Any]
    layout: ArrayLayout = AOS
    order: Order | None = None

    @classmethod
    def aos(cls, dtype: DTypeLike, order: Sequence[int] | None = None) -> Layout:
        """Return the layout of the host, in another order of dimensions if one is given."""
        return cls(np.dtype(dtype), AOS, _order(order))

    @classmethod
    def soa(cls, dtype: DTypeLike, order: Sequence[int] | None = None, *, deep: bool = False) -> Layout:
        """Return the layout in which each field is an array of its own.

        Args:
            dtype: of the host's elements.
            order: of the dimensions in memory; None leaves them.
            deep: whether each element of an array inside of a record is a field. A vector is one field then
                only in a type of `pyopencl.cltypes`.
        """
        return cls(np.dtype(dtype), ArrayLayout(Kind.SOA, is_deep=deep), _order(order))

    @classmethod
    def aosoa(
        cls, dtype: DTypeLike, width: int, order: Sequence[int] | None = None, *, deep: bool = False
    ) -> Layout:
        """Return the layout of tiles of `width` elements, in which each field is an array of its own.

        Args:
            dtype: of the host's elements.
            width: of a tile, in elements.
            order: as for `soa`.
            deep: as for `soa`.
        """
        return cls(np.dtype(dtype), ArrayLayout(Kind.AOSOA, width, deep), _order(order))

    @property
    def record(self) -> RecordType:
        """The fields of an element. Raises InvalidInputError if a device can't read them."""
        return record_of(self.dtype, is_deep=self.layout.is_deep)

    def arrangement(self, shape: Sequence[int]) -> Arrangement:
        """Return where each byte of an array lies. Raises InvalidInputError if the shape does not fit."""
        return Arrangement(self.record, self.layout, tuple(shape), self.order)

    def plan(self, argument: str, shape: Sequence[int] | int | None = None) -> ArrayPlan:
        """Return what to ask `coarsen.coarsen` for, so that an argument's array lies so.

        Args:
            argument: its name in the kernel.
            shape: of the array; tiles without an order do without.
        """
        known = (shape,) if isinstance(shape, int) else shape
        return ArrayPlan(argument, self.layout, self.order, None if known is None else tuple(known), self.record)

    def pack(self, host: NDArray[Any]) -> Bytes:
        """Return the bytes of an array as the device has them; what is padding is zero.

        Args:
            host: of the type; with as many dimensions as the order.

        Raises:
            InvalidInputError: another type, or a shape that does not fit the order.
        """
        if host.dtype != self.dtype:
            raise InvalidInputError(f"the layout is of {self.dtype}, the array of {host.dtype}")
        return packed(host, self.arrangement(host.shape))

    def unpack(self, device: NDArray[Any], shape: Sequence[int] | int | None = None) -> NDArray[Any]:
        """Return the host's array of what `pack` gave, or a kernel has written; what is padding is zero.

        Args:
            device: the bytes of the buffer, as any contiguous array.
            shape: of the array; may be left out for one dimension unless the layout is of tiles.

        Raises:
            InvalidInputError: the shape is missing or does not fit the number of bytes.
        """
        raw = np.ascontiguousarray(device).view(np.uint8).reshape(-1)
        arrangement = self.arrangement(self._shape(raw.size, shape))
        if raw.size != arrangement.size:
            raise InvalidInputError(f"the array has {raw.size} bytes, the layout {arrangement.size}")
        assert arrangement.shape is not None
        return unpacked(raw, arrangement).view(self.dtype).reshape(arrangement.shape)

    def _shape(self, size: int, shape: Sequence[int] | int | None) -> tuple[int, ...]:
        if isinstance(shape, int):
            return (shape,)
        if shape is not None:
            return tuple(shape)
        each = bytes_of_element(self.record, self.layout, self.order)
        if each is None:
            raise InvalidInputError("give the shape: the number of bytes does not say it")
        return (size // each,)


def _order(order: Sequence[int] | None) -> Order | None:
    return None if order is None else Order(tuple(order))


def bytes_of_element(record: RecordType, layout: ArrayLayout, order: Order | None) -> int | None:
    """Return the bytes that an element takes in a packed array; None where bytes don't say an array's shape."""
    if layout.kind is Kind.AOSOA or (order is not None and len(order.permutation) > 1):
        return None
    return record.size if layout.kind is Kind.AOS else record.content


def record_of(dtype: np.dtype[Any], *, is_deep: bool = False) -> RecordType:
    """Return the record that elements of a type are; a vector type of `pyopencl.cltypes` is one field.

    Args:
        dtype: of the host's elements.
        is_deep: whether the elements of a member that is an array of numbers or of such vectors are fields.

    Raises:
        InvalidInputError: the type holds Python objects, fields that overlap, or too many to take arrays apart.
    """
    if dtype.hasobject or dtype.itemsize == 0:
        raise InvalidInputError(f"elements of type {dtype} have no bytes that a device could read")
    if dtype.names is None or _is_vector(dtype):
        return RecordType.plain(dtype.itemsize)
    assert dtype.fields is not None
    members = [(name, dtype.fields[name]) for name in dtype.names]
    fields = [Field(member[1], member[0].itemsize, name) for name, member in members]
    if is_deep:
        sizes = [_part_size(member[0]) for _, member in members]
        count = sum(each.size // size for each, size in zip(fields, sizes, strict=True))
        if count > MOST_FIELDS:
            raise InvalidInputError(f"a deep layout has at most {MOST_FIELDS} fields, and here are {count}")
        fields = [part for each, size in zip(fields, sizes, strict=True) for part in each.parts(size)]
    return RecordType.with_tail(dtype.itemsize, fields, is_deep=is_deep)


def _part_size(member: np.dtype[Any]) -> int:
    """Return the bytes of an element of an array of numbers or vectors; of all where it is something else."""
    base = member.base
    return base.itemsize if base.names is None or _is_vector(base) else member.itemsize


def _is_vector(dtype: np.dtype[Any]) -> bool:
    """Return True if the fields are those of a vector of `pyopencl.cltypes`: s0, s1, …; three are padded."""
    count = len(dtype.names or ())
    names = tuple(f"s{index}" for index in range(count))
    return dtype.names in (names, (*names[:3], "padding0"))


# The bytes of an array as its elements lie in the host's memory, to and from those of another arrangement.

Bytes = NDArray[np.uint8]


def packed(host: NDArray[Any], arrangement: Arrangement) -> Bytes:
    """Return the bytes of an array as the device has them; what is padding is zero.

    Args:
        host: of as many bytes as the elements have, in the host's order, each with its padding.
        arrangement: where they are to lie.

    Raises:
        InvalidInputError: the arrangement's shape isn't known.
    """
    # A copy as raw bytes: an assignment of structures would leave their padding out.
    raw = np.frombuffer(np.ascontiguousarray(host).tobytes(), np.uint8)
    elements = _ordered(raw.reshape(arrangement.count, arrangement.record.size), arrangement)
    made = np.zeros(arrangement.size, np.uint8)
    for each, place in _places(arrangement, made):
        place[...] = _lanes(elements[:, each.offset : each.end], place.shape)
    return made


def unpacked(device: Bytes, arrangement: Arrangement) -> Bytes:
    """Return the bytes of the elements in the host's order, (elements, bytes of one); what is padding is zero.

    Args:
        device: as many bytes as the arrangement has.
        arrangement: where they lie.
    """
    elements = np.zeros((arrangement.count, arrangement.record.size), np.uint8)
    for each, place in _places(arrangement, device):
        elements[:, each.offset : each.end] = place.reshape(-1, each.size)[: arrangement.count]
    return _in_host_order(elements, arrangement)


def _ordered(elements: Bytes, arrangement: Arrangement) -> Bytes:
    if arrangement.order is None:
        return elements
    assert arrangement.shape is not None
    permutation = arrangement.order.permutation
    grid = elements.reshape(*arrangement.shape, -1).transpose(*permutation, len(permutation))
    return np.ascontiguousarray(grid).reshape(elements.shape)


def _in_host_order(elements: Bytes, arrangement: Arrangement) -> Bytes:
    if arrangement.order is None:
        return elements
    assert arrangement.shape is not None
    permutation = arrangement.order.permutation
    grid = elements.reshape(*(arrangement.shape[dimension] for dimension in permutation), -1)
    back = [*(int(place) for place in np.argsort(permutation)), len(permutation)]
    return np.ascontiguousarray(grid.transpose(back)).reshape(elements.shape)


def _lanes(values: Bytes, shape: tuple[int, ...]) -> Bytes:
    """Return the bytes of a field of all elements in the shape of their places, the last tile zero-filled."""
    missing = int(np.prod(shape)) - values.size
    return np.concatenate([values.reshape(-1), np.zeros(missing, np.uint8)]).reshape(shape)


def _places(arrangement: Arrangement, memory: Bytes) -> Iterator[tuple[Field, Bytes]]:
    """Yield each field with the bytes of memory where it lies, shape (tiles, bytes of its lanes)."""
    kind, record = arrangement.layout.kind, arrangement.record
    lanes, distance = arrangement.layout.width, arrangement.tile_bytes
    if kind is Kind.AOS:
        lanes, distance = 1, record.size
    elif kind is Kind.SOA:
        lanes, distance = arrangement.count, arrangement.size
    tiles = memory.reshape(-1, distance)
    for each in record.fields:
        start = arrangement.start_of(each)
        # A view, so that it can be written.
        yield each, tiles[:, start : start + lanes * each.size]


def passed_twice(buffer: str) -> RefusalError:
    """Return the refusal of a buffer that is passed for an array that lies otherwise, and for something else too.

    Args:
        buffer: what it is called.
    """
    reason = f"{buffer} lies otherwise for one argument, and another argument or kernel is given it, too"
    return RefusalError("layout-same-buffer", reason)

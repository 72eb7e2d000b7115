"""Pack NumPy arrays into the layout that a kernel was rewritten for, and unpack them again.

layout = coarsen.Layout.soa(dtype)
packed = layout.pack(bodies)                      # bytes for the buffer
bodies = layout.unpack(packed, shape=bodies.shape)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from coarsen.errors import InvalidInputError
from coarsen.runtime.layouts.packing import Bytes, packed, unpacked
from coarsen.runtime.layouts.record_types import record_of
from coarsen.variant.data_layout import AOS, Arrangement, ArrayLayout, Kind, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.records import RecordType


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
        if self.layout.kind is Kind.AOSOA or (self.order and len(self.order.permutation) > 1):
            raise InvalidInputError("give the shape: the number of bytes does not say it")
        return (size // (self.record.size if self.layout.kind is Kind.AOS else self.record.content),)


def _order(order: Sequence[int] | None) -> Order | None:
    return None if order is None else Order(tuple(order))

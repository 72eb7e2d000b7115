"""What a launch passes for arrays that lie otherwise: how many elements a buffer has, and that it has one use."""

from __future__ import annotations

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.variant.data_layout import ArrayLayout, Kind, Order
from coarsen.variant.records import RecordType


def passed_twice(buffer: str) -> RefusalError:
    """Return the refusal of a buffer that is passed for an array that lies otherwise, and for something else too.

    Args:
        buffer: what it is called.
    """
    reason = f"{buffer} lies otherwise for one argument, and another argument or kernel is given it, too"
    return RefusalError("layout-same-buffer", reason)


def shape_of_bytes(
    argument: str, record: RecordType, layout: ArrayLayout, order: Order | None, byte_count: int
) -> tuple[int, ...]:
    """Return the shape of an array that a packed buffer holds, of which nothing but the size is known.

    Args:
        argument: what it is passed for.
        record: of its elements.
        layout: of the packed array.
        order: of its dimensions.
        byte_count: of the buffer.

    Raises:
        RefusalError: `layout-shape-unknown`, of tiles and of several dimensions bytes do not say the shape.
        InvalidInputError: the bytes are no whole number of elements.
    """
    if layout.kind is Kind.AOSOA or (order is not None and len(order.permutation) > 1):
        reason = f"the bytes that are passed for {argument} do not say its shape: pass a coarsen.LaidOutArray"
        raise RefusalError("layout-shape-unknown", reason)
    size = record.size if layout.kind is Kind.AOS else record.content
    if byte_count % size or not byte_count:
        raise InvalidInputError(f"the {byte_count} bytes for {argument} are no whole number of elements of {size}")
    return (byte_count // size,)

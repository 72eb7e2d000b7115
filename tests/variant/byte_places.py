"""Where an arrangement has each field of each element, by the formula."""

from __future__ import annotations

from coarsen.variant.data_layout import Arrangement, Field, Kind


def byte_of(arrangement: Arrangement, element: int, each: Field) -> int:
    """Return the first byte of a field of an element."""
    position, start = arrangement.position(element), arrangement.start_of(each)
    if arrangement.layout.kind is Kind.AOS:
        return start + position * arrangement.record.size
    if arrangement.layout.kind is Kind.SOA:
        return start + position * each.size
    tile, lane = divmod(position, arrangement.layout.width)
    return tile * arrangement.tile_bytes + start + lane * each.size

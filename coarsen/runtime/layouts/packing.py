"""The bytes of an array as its elements lie in the host's memory, to and from those of another arrangement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.variant.data_layout import Arrangement, Kind
from coarsen.variant.records import Field

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

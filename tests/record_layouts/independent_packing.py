"""Where each byte of a packed array lies, by the formulas of the documentation, without the code that packs.

    aos        e·s + o          soa        N·p + e·b          aosoa:W    ⌊e/W⌋·T + W·p + (e mod W)·b

A field's p is the sum of the sizes of the fields before it, by falling alignment and then by offset.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.variant.data_plan import ArrayPlan


def packed_by_formula(host: NDArray[Any], plan: ArrayPlan) -> NDArray[np.uint8]:
    """Return the bytes of an array as a plan wants them, one element and field after the other.

    Args:
        host: the array.
        plan: the layout and the order.
    """
    fields = _fields(host.dtype)
    size, count = host.dtype.itemsize, host.size
    content = sum(length for _, length in fields)
    raw = np.frombuffer(np.ascontiguousarray(host).tobytes(), np.uint8).reshape(count, size)
    order = plan.order.permutation if plan.order is not None else tuple(range(host.ndim))
    position = np.empty(count, np.int64)
    # The element at an index of the host stands where the permuted index stands in the permuted shape.
    indices = np.unravel_index(np.arange(count), host.shape)
    permuted = tuple(host.shape[dimension] for dimension in order)
    position[:] = np.ravel_multi_index(tuple(indices[dimension] for dimension in order), permuted)
    kind, width = str(plan.layout.kind), plan.layout.width
    largest = max(_alignment(offset, length, size) for offset, length in fields)
    tile = -(-width * content // largest) * largest
    total = {"aos": count * size, "soa": count * content, "aosoa": -(-count // width) * tile}[kind]
    made = np.zeros(total, np.uint8)
    before = 0
    for offset, length in sorted(fields, key=lambda field: (-_alignment(field[0], field[1], size), field[0])):
        starts = {
            "aos": position * size + offset,
            "soa": count * before + position * length,
            "aosoa": position // width * tile + width * before + position % width * length,
        }[kind]
        for byte in range(length):
            made[starts + byte] = raw[:, offset + byte]
        before += length
    return made


def _fields(dtype: np.dtype[Any]) -> list[tuple[int, int]]:
    """Offset and size of each field; of a plain number, the whole."""
    if dtype.fields is None:
        return [(0, dtype.itemsize)]
    return [(entry[1], entry[0].itemsize) for entry in (dtype.fields[name] for name in dtype.names or ())]


def _alignment(offset: int, length: int, size: int) -> int:
    """The largest power of two that divides a field's size, its offset and the record's size."""
    common = math.gcd(length, offset, size)
    return common & -common

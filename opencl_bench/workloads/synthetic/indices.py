"""Indices at which a synthetic kernel reads and writes: expressions of addresses.

Names in the kernel's source: `position` is the element that an item works on, `count` how many there are (`width`
and `height` in two dimensions), `trip` the number of a loop's trip, `lane` an item's number in its work-group.
"""

from __future__ import annotations

from coarsen.opencl_bench.workloads.synthetic.axes import (
    ELEMENT_LOOPS,
    TRIP_LOOPS,
    Access,
    Loop,
    Reuse,
    Store,
)
from coarsen.opencl_bench.workloads.synthetic.specification import Specification

# How many rows a line of elements is taken for where it is read or written transposed.
ROWS = 32


def has_trips(specification: Specification) -> bool:
    """Return True if an item reads several elements, counted by `trip`."""
    return specification.axes.loop in TRIP_LOOPS


def count(specification: Specification) -> str:
    """The number of elements of a plane."""
    return "count" if specification.axes.dimensions == 1 else "width * height"


def plane(specification: Specification, index: str) -> str:
    """An index within the plane of the trip, where there are trips."""
    if not has_trips(specification):
        return index
    size = "count" if specification.axes.dimensions == 1 else "(width * height)"
    return f"trip * {size} + {index}"


def input_index(specification: Specification) -> str:
    """The index of an access that reads one element (or record)."""
    return _INPUT_INDICES[specification.axes.access](specification)


def weight_index(specification: Specification) -> str:
    """The index of the second operand."""
    axes = specification.axes
    trips = str(specification.planes)
    by_trip = has_trips(specification)
    if axes.reuse is Reuse.EVERYWHERE:
        return "column" if axes.loop is Loop.LOCAL_STRIDE else "trip"
    if axes.reuse is Reuse.ALONG_1:
        return "trip * width + x" if by_trip else "x"
    line = "y" if axes.dimensions == 2 else "get_group_id(0)"
    return f"{line} * {trips} + trip" if by_trip else line


def store_index(specification: Specification) -> str:
    """The index of a result, unless a work-group has a single one."""
    if specification.is_transposed_tile and specification.axes.store is Store.TRANSPOSED:
        columns, rows = specification.axes.local_size
        return f"(get_group_id(0) * {columns} + row) * height + get_group_id(1) * {rows} + column"
    return {
        "coalesced": "item" if specification.axes.loop is Loop.LOCAL_STRIDE else "position",
        "transposed": _transposed_plane(specification),
        "strided": f"position * {specification.stride}",
        "permuted": "permutation[position]",
        "in_place": "position",
    }[specification.axes.store.value]


def neighbours(specification: Specification) -> list[str]:
    """The indices that a neighbourhood without a loop has, the middle one first."""
    radius = specification.radius
    pitch = "width"
    middle = "position"
    if specification.has_padding:
        pitch = f"(width + {2 * radius})"
        line = f"(y + {radius}) * {pitch} + x" if specification.axes.dimensions == 2 else "position"
        middle = f"{line} + {radius}"
    beside = [f"{middle} {sign} {step}" for step in range(1, radius + 1) for sign in "-+"]
    if specification.axes.dimensions == 2:
        beside += [f"{middle} {sign} {step} * {pitch}" for step in range(1, radius + 1) for sign in "-+"]
    return [middle, *beside]


def _transposed_plane(specification: Specification) -> str:
    if specification.axes.dimensions == 2:
        return "x * height + y"
    return f"position % {ROWS} * (count / {ROWS}) + position / {ROWS}"


def _coalesced(specification: Specification) -> str:
    return plane(specification, "position")


def _strided(specification: Specification) -> str:
    inner = _coalesced(specification)
    return f"({inner}) * {specification.stride}" if "+" in inner else f"{inner} * {specification.stride}"


def _transposed(specification: Specification) -> str:
    if specification.is_transposed_tile:
        return _coalesced(specification)
    return plane(specification, _transposed_plane(specification))


def _broadcast(specification: Specification) -> str:
    by_trip = has_trips(specification)
    if specification.axes.dimensions == 2:
        return f"y * {specification.planes} + trip" if by_trip else "y"
    if specification.axes.loop in ELEMENT_LOOPS:
        return f"position / {specification.group_size}"
    return "trip" if by_trip else "get_group_id(0)"


def _gather(specification: Specification) -> str:
    return f"indices[{_coalesced(specification)}]"


def _window(specification: Specification) -> str:
    """A neighbourhood that a loop goes through: along a line, or in two dimensions through its rows."""
    loop, planes = specification.axes.loop, specification.planes
    if specification.axes.dimensions == 1:
        return "position + trip"
    if loop is Loop.NESTED:
        return f"(y + outer) * (width + {specification.inner_trips}) + x + inner"
    return f"y * (width + {planes}) + x + trip"


def _row(specification: Specification) -> str:
    return f"position * {specification.planes} + trip"


def block(specification: Specification) -> str:
    """The size of a block, as it is written in the kernel."""
    return "block" if specification.block_argument else str(specification.block)


def _block_cyclic(specification: Specification) -> str:
    size, trips = block(specification), specification.planes
    return f"(position / {size} * {trips} + trip) * {size} + position % {size}"


_INPUT_INDICES = {
    Access.COALESCED: _coalesced,
    Access.STRIDED: _strided,
    Access.RECORDS: _coalesced,
    Access.TRANSPOSED: _transposed,
    Access.BROADCAST: _broadcast,
    Access.GATHER_NEAR: _gather,
    Access.GATHER_FAR: _gather,
    Access.STENCIL: _window,
    Access.ROW_PER_ITEM: _row,
    Access.BLOCK_CYCLIC: _block_cyclic,
}

"""Estimates how long a work-item takes, so that presets can be of a similar duration for all kernels."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.synthetic.arithmetic import has_transform, statements
from coarsen.opencl_bench.workloads.synthetic.axes import (
    DIVERGENT_LOOPS,
    ELEMENT_LOOPS,
    LEVELS,
    Access,
    Arithmetic,
    Element,
    Guard,
    LocalMemory,
    Loop,
    Reuse,
    Store,
)
from coarsen.opencl_bench.workloads.synthetic.indices import has_trips
from coarsen.opencl_bench.workloads.synthetic.specification import Specification

# Multiples of the cost of reading one element that the item before has not read, by access.
ACCESS_COSTS = {
    Access.COALESCED: 2.0,
    Access.STRIDED: 5.5,
    Access.RECORDS: 5.5,
    Access.TRANSPOSED: 5.0,
    Access.BROADCAST: 1.2,
    Access.GATHER_NEAR: 4.0,
    Access.GATHER_FAR: 6.0,
    Access.STENCIL: 2.0,
    Access.ROW_PER_ITEM: 3.2,
    Access.BLOCK_CYCLIC: 2.6,
}
STATEMENT_COSTS = {
    Arithmetic.MULTIPLY_ADD: 0.4,
    Arithmetic.INTEGER: 0.9,
    Arithmetic.SQUARE_ROOT: 2.5,
    Arithmetic.EXPONENTIAL: 8.0,
    Arithmetic.TRIGONOMETRIC: 16.0,
}
STORE_COSTS = {Store.TRANSPOSED: 8.0, Store.STRIDED: 6.0, Store.PERMUTED: 10.0}
LOOP_FACTORS = {Loop.NONE: 0.8, Loop.ARGUMENT: 0.8, Loop.GRID_STRIDE: 1.4}
ELEMENT_FACTORS = {
    Element.FLOAT: 1.7,
    Element.INT: 1.2,
    Element.FLOAT4: 3.6,
    Element.UINT4: 2.8,
    Element.UCHAR4: 2.6,
}


def item_cost(specification: Specification) -> float:
    """The time of one work-item, about the same on the average of two CPU runtimes.

    The unit is 0.1 ns: that of a vectorised operation on one component. The numbers were fitted to measured times
    of three hundred kernels, which they meet within a factor of two for most; that is all they are for.
    """
    axes = specification.axes
    steps = float(specification.trips if axes.loop in ELEMENT_LOOPS else specification.planes)
    if axes.loop in DIVERGENT_LOOPS:
        steps *= 0.6
    element = ELEMENT_FACTORS[axes.element]
    each = _load_cost(specification) + _operation_cost(specification)
    cost = 4.0 + steps * element * each * LOOP_FACTORS.get(axes.loop, 1.0)
    if axes.guard is Guard.DATA or (axes.guard is Guard.EARLY_RETURN and specification.returns_by_data):
        cost = 4.0 + cost * max(0.15, specification.selected / 1024)
    return cost + element * _store_cost(specification)


def _load_cost(specification: Specification) -> float:
    axes = specification.axes
    cost = ACCESS_COSTS[axes.access]
    if axes.access is Access.STENCIL and not has_trips(specification):
        cost += 1.4 * specification.radius * axes.dimensions
    if axes.element is Element.UCHAR4:
        cost += 3.0
    if axes.reuse is not Reuse.NONE or axes.local_memory is LocalMemory.TABLE:
        cost += 1.0
    return cost


def _operation_cost(specification: Specification) -> float:
    if not has_transform(specification):
        return 0.5
    return STATEMENT_COSTS[specification.axes.arithmetic] * statements(specification)


def _store_cost(specification: Specification) -> float:
    axes = specification.axes
    cost = STORE_COSTS.get(axes.store, 2.0)
    if axes.local_memory in LEVELS:
        cost += 60.0 if axes.local_memory is LocalMemory.HAAR else 40.0
    if axes.local_memory is LocalMemory.TILE:
        cost += 10.0 * (1 if specification.is_shared_tile else specification.planes)
    return cost

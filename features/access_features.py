"""What the memory accesses of a kernel look like, before and after coarsening along a dimension with stride 1.

Strides are those along dimension 0. Coarsening along it multiplies them by the factor, since neighbouring
work-items stand that far apart then; along another dimension they stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.affine import INDIRECT, SYMBOLIC, Access, Stride
from coarsen.cost.plan_walk import PlannedBlocks
from coarsen.ir.types import AddressSpace

# A generic pointer leads to global memory far more often than elsewhere.
_GLOBAL_SPACES = frozenset({AddressSpace.GLOBAL, AddressSpace.CONSTANT, AddressSpace.GENERIC})
_MAXIMUM_MAGNITUDE = 6


@dataclass(frozen=True, slots=True)
class CountedAccess:
    """An access, how often it runs for a work-item, and whether each replica makes it."""

    access: Access
    weight: int
    is_repeated: bool

    def times(self, factor: int) -> int:
        """Return how often it runs for a coarsened work-item."""
        return self.weight * (factor if self.is_repeated else 1)


@dataclass(frozen=True)
class AccessFeatures:
    """The accesses of a work-item at one factor; see `mechanism_vector.py` for the shares and means.

    `global_bytes` and `atomics` are weighted totals.
    """

    coalesced_share: float
    broadcast_share: float
    strided_share: float
    indirect_share: float
    stride_magnitude: float
    consecutive_replicas_share: float
    mean_element_bytes: float
    mean_vector_width: float
    local_access_share: float
    private_access_share: float
    global_bytes: int
    atomics: int


def counted_accesses(
    blocks: PlannedBlocks, accesses: Iterable[Access], weights: Mapping[str, int]
) -> tuple[CountedAccess, ...]:
    """Return the accesses of a kernel under a plan, with how often its blocks run."""
    return tuple(
        CountedAccess(access, weights[access.block], blocks.runs_for_each(access.block, access.instruction))
        for access in accesses
    )


def access_features(accesses: Iterable[CountedAccess], dimension: int, factor: int) -> AccessFeatures:
    """Sum up the accesses of a kernel coarsened by a factor along a dimension."""
    everything = _Mean((counted.access, counted.times(factor)) for counted in accesses)
    outside = _Mean(item for item in everything.items if item[0].address_space in _GLOBAL_SPACES)
    spread = factor if dimension == 0 else 1
    return AccessFeatures(
        coalesced_share=outside.of(lambda access: _class(access, spread) == "coalesced"),
        broadcast_share=outside.of(lambda access: _class(access, spread) == "broadcast"),
        strided_share=outside.of(lambda access: _class(access, spread) == "strided"),
        indirect_share=outside.of(lambda access: _class(access, spread) == "indirect"),
        stride_magnitude=outside.of(lambda access: _magnitude(access, spread)),
        consecutive_replicas_share=outside.of(lambda access: _is_consecutive(access, dimension)),
        mean_element_bytes=everything.of(lambda access: access.element_bytes),
        mean_vector_width=everything.of(lambda access: access.width),
        local_access_share=everything.of(lambda access: access.address_space == AddressSpace.LOCAL),
        private_access_share=everything.of(lambda access: access.address_space == AddressSpace.PRIVATE),
        global_bytes=sum(outside.each(lambda a: a.access_bytes * (a.is_load + a.is_store))),
        atomics=sum(everything.each(lambda access: int(access.is_atomic))),
    )


class _Mean:
    """Means over accesses, each as often as it runs."""

    def __init__(self, items: Iterable[tuple[Access, int]]) -> None:
        self.items = tuple(items)
        self._total = sum(times for _, times in self.items)

    def of(self, value: Callable[[Access], float]) -> float:
        """Return the mean of a value; 0 where there are no accesses."""
        return sum(times * value(access) for access, times in self.items) / max(1, self._total)

    def each(self, value: Callable[[Access], int]) -> Iterator[int]:
        """Return a value of each access times how often it runs."""
        return (times * value(access) for access, times in self.items)


def _class(access: Access, spread: int) -> str:
    stride = access.stride_along(0)
    if stride is INDIRECT:
        return "indirect"
    if stride == 0:
        return "broadcast"
    is_near = isinstance(stride, int) and abs(stride) * spread <= access.access_bytes
    return "coalesced" if is_near else "strided"


def _magnitude(access: Access, spread: int) -> float:
    stride: Stride = access.stride_along(0)
    if stride is SYMBOLIC or stride is INDIRECT or not isinstance(stride, int):
        return _MAXIMUM_MAGNITUDE
    if stride == 0 or access.access_bytes == 0:
        return 0.0
    distance = abs(stride) * spread
    if distance >= access.access_bytes << _MAXIMUM_MAGNITUDE:
        return _MAXIMUM_MAGNITUDE
    return min(_MAXIMUM_MAGNITUDE, abs(math.log2(distance / access.access_bytes)))


def _is_consecutive(access: Access, dimension: int) -> bool:
    stride = access.stride_along(dimension)
    return isinstance(stride, int) and abs(stride) == access.access_bytes > 0

"""The accesses of a configuration: those of the original kernel, as often and as far apart as the plan has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from coarsen.analysis.algebra.affine import Access
from coarsen.cost.work_counts import AccessCount
from coarsen.variant.coarsening import Coarsening, Level


def planned_access(
    original: AccessCount, access: Access, copies: float, chosen: Sequence[Coarsening], *, is_copied: bool
) -> AccessCount:
    """Return an access as a coarsened work-item makes it; all of its copies are counted together.

    Args:
        original: the access at the launch before coarsening.
        access: where it goes.
        copies: how many there are.
        chosen: the coarsenings.
        is_copied: whether its copies stand in blocks of their own, so that they are no neighbours.
    """
    gaps = [] if is_copied or copies == 1 else list(_gaps(access, chosen))
    if original.replica_stride is not None:
        gaps.append(original.replica_stride)
    return replace(
        original,
        count=original.count * copies,
        lane_stride=_lane_stride(original.lane_stride, chosen),
        replica_stride=min(gaps, default=None),
    )


def _gaps(access: Access, chosen: Sequence[Coarsening]) -> Iterator[int]:
    """Yield the distances between accesses of neighbouring replicas of merged work-items that are numbers."""
    for coarsening in chosen:
        stride = access.stride_along(coarsening.dimension)
        if coarsening.level is Level.ITEM and isinstance(stride, int) and stride:
            yield abs(stride) * coarsening.stride


def _lane_stride(stride: int | None, chosen: Sequence[Coarsening]) -> int | None:
    """Return the distance of neighbours along dimension 0: at stride 1 merged work-items are between them."""
    if stride is None:
        return None
    for coarsening in chosen:
        if coarsening.level is Level.ITEM and coarsening.dimension == 0 and coarsening.stride == 1:
            stride *= coarsening.factor
    return stride

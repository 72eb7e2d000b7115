"""The guard around a kernel's body for launches that a factor does not divide, as it is planned for.

The guard's condition compares positions, so that the body is a divergent region whose replicas agree but at the end
of the NDRange: it has a fast path by the same rules as any other region (`transform/plan_guard.py`).
"""

from __future__ import annotations

from coarsen.analysis.whole_groups import check_any_groups
from coarsen.features.planned_work.axes import PlannedAxis
from coarsen.ir.kernel import Kernel
from coarsen.transform.guard import guards_of
from coarsen.variant.coarsening import Configuration, Level
from coarsen.variant.transforms import Transforms, Use

_SHORT = 20


def check_guards(kernel: Kernel, chosen: Configuration) -> None:
    """Raise RefusalError where it matters to a kernel how its work-items are grouped."""
    for dimension, level in guards_of(chosen):
        if level is Level.ITEM:
            check_any_groups(kernel, dimension)


def is_body_copied(planned: PlannedAxis, transforms: Transforms) -> bool:
    """Return True if the guarded body stands once for each replica, without a fast path."""
    if transforms.fast_path is not Use.AUTO:
        return transforms.fast_path is Use.NEVER
    kernel = planned.analysed.kernel
    length = {block.name: len(block.instructions) for block in kernel.blocks}
    is_short = sum(length.values()) < _SHORT and not planned.analysed.divergence.control_flow.loops
    return is_short or 2 * sum(length[block] for block in planned.copied) > sum(length.values())
